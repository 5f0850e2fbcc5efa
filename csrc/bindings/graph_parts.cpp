// Parts of directed graphs.
#include "core/graph_parts.hpp"

#include "convert.hpp"

namespace meshpart::bindings {

void bind_graph_parts(py::module_& m) {
    m.def(
        "graph_parts",
        [](const Array<index_t>& offsets, const Array<index_t>& targets, const Array<part_t>& owners,
           const Array<index_t>& owned_offsets, const Array<index_t>& owned, const Array<part_t>& parts,
           std::int32_t layers, int threads) {
            auto built = released([&] {
                return graph_parts(csr(offsets, targets), span(owners), csr(owned_offsets, owned), span(parts), layers,
                                   threads);
            });
            py::dict result;
            result["vertex_offsets"] = array(std::move(built.vertices.offsets));
            result["vertices"] = array(std::move(built.vertices.entries));
            result["ghost_offsets"] = array(std::move(built.ghost_offsets));
            result["ghost_owners"] = array(std::move(built.ghost_owners));
            result["ghost_layers"] = array(std::move(built.ghost_layers));
            result["complete"] = array(std::move(built.complete));
            result["row_offsets"] = array(std::move(built.row_offsets));
            result["edge_offsets"] = array(std::move(built.edge_offsets));
            result["senders"] = array(std::move(built.senders));
            result["edge_ids"] = array(std::move(built.edge_ids));
            result["neighbour_offsets"] = array(std::move(built.halos.neighbours.offsets));
            result["neighbours"] = array(std::move(built.halos.neighbours.entries));
            result["send_offsets"] = array(std::move(built.halos.send_offsets));
            result["send_indices"] = array(std::move(built.halos.send_indices));
            result["receive_counts"] = array(std::move(built.halos.receive_counts));
            return result;
        },
        py::arg("offsets").noconvert(), py::arg("targets").noconvert(), py::arg("owners").noconvert(),
        py::arg("owned_offsets").noconvert(), py::arg("owned").noconvert(), py::arg("parts").noconvert(),
        py::arg("layers"), py::arg("threads"));
}

}  // namespace meshpart::bindings
