// The edges of parts in the order of message passing, and graphs in another numbering.
#include "core/local_graph.hpp"

#include "convert.hpp"
#include "core/renumber.hpp"

namespace meshpart::bindings {

namespace {

py::tuple arrays_of(LocalEdges&& edges) {
    return py::make_tuple(array(std::move(edges.ends)), array(std::move(edges.ids)), array(std::move(edges.offsets)));
}

}  // namespace

void bind_local_graph(py::module_& m) {
    m.def(
        "renumbered",
        [](const Array<index_t>& offsets, const Array<index_t>& targets, const Array<index_t>& numbers, int threads) {
            auto rows = released([&] { return renumbered(csr(offsets, targets), span(numbers), threads); });
            return py::make_tuple(array(std::move(rows.offsets)), array(std::move(rows.entries)));
        },
        py::arg("offsets").noconvert(), py::arg("targets").noconvert(), py::arg("numbers").noconvert(),
        py::arg("threads"));
    m.def(
        "edges_within",
        [](const Array<index_t>& offsets, const Array<index_t>& senders, index_t n_owned,
           const Array<index_t>& global_ids, const Array<index_t>& row_starts, const Array<index_t>& edge_ids,
           index_t steps, int threads) {
            const PartGraph graph{csr(offsets, senders), n_owned, span(global_ids), span(row_starts), span(edge_ids)};
            return arrays_of(released([&] { return edges_within(graph, steps, threads); }));
        },
        py::arg("offsets").noconvert(), py::arg("senders").noconvert(), py::arg("n_owned"),
        py::arg("global_ids").noconvert(), py::arg("row_starts").noconvert(), py::arg("edge_ids").noconvert(),
        py::arg("steps"), py::arg("threads"));
    m.def(
        "chosen_edges",
        [](const Array<index_t>& offsets, const Array<index_t>& senders, index_t n_owned,
           const Array<index_t>& global_ids, const Array<index_t>& row_starts, const Array<index_t>& edge_ids,
           const Array<std::uint8_t>& chosen, int threads) {
            const PartGraph graph{csr(offsets, senders), n_owned, span(global_ids), span(row_starts), span(edge_ids)};
            return arrays_of(released([&] { return chosen_edges(graph, span(chosen), threads); }));
        },
        py::arg("offsets").noconvert(), py::arg("senders").noconvert(), py::arg("n_owned"),
        py::arg("global_ids").noconvert(), py::arg("row_starts").noconvert(), py::arg("edge_ids").noconvert(),
        py::arg("chosen").noconvert(), py::arg("threads"));
    m.def(
        "edges_of_own_alone",
        [](const Array<index_t>& offsets, const Array<index_t>& targets, const Array<index_t>& own_offsets,
           const Array<index_t>& own, const Array<index_t>& lower_offsets, const Array<index_t>& lower, int threads) {
            return array(released([&] {
                return edges_of_own_alone(csr(offsets, targets), csr(own_offsets, own), csr(lower_offsets, lower),
                                          threads);
            }));
        },
        py::arg("offsets").noconvert(), py::arg("targets").noconvert(), py::arg("own_offsets").noconvert(),
        py::arg("own").noconvert(), py::arg("lower_offsets").noconvert(), py::arg("lower").noconvert(),
        py::arg("threads"));
}

}  // namespace meshpart::bindings
