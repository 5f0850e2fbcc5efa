// Parts of directed graphs.
#include "core/graph_parts.hpp"

#include "convert.hpp"
#include "entities.hpp"

namespace meshpart::bindings {

void bind_graph_parts(py::module_& m) {
    m.def(
        "graph_parts",
        [](const Array<index_t>& offsets, const Array<index_t>& targets, const Array<index_t>& owned_offsets,
           const Array<index_t>& owned, const Array<part_t>& parts, std::int32_t layers, int threads) {
            auto built = released([&] {
                return graph_parts(csr(offsets, targets), csr(owned_offsets, owned), span(parts), layers, threads);
            });
            py::dict result;
            result["vertices"] = as_dict(std::move(built.vertices), std::move(built.complete));
            result["row_offsets"] = array(std::move(built.row_offsets));
            result["edge_offsets"] = array(std::move(built.edge_offsets));
            result["senders"] = array(std::move(built.senders));
            result["edge_ids"] = array(std::move(built.edge_ids));
            return result;
        },
        py::arg("offsets").noconvert(), py::arg("targets").noconvert(), py::arg("owned_offsets").noconvert(),
        py::arg("owned").noconvert(), py::arg("parts").noconvert(), py::arg("layers"), py::arg("threads"));
}

}  // namespace meshpart::bindings
