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
            py::dict vertices;  // as of the cells and the points of a mesh
            vertices["offsets"] = array(std::move(built.vertices.offsets));
            vertices["ids"] = array(std::move(built.vertices.entries));
            vertices["n_owned"] = array(std::move(built.n_owned));
            vertices["ghost_owners"] = array(std::move(built.ghost_owners));
            vertices["ghost_layers"] = array(std::move(built.ghost_layers));
            vertices["complete"] = array(std::move(built.complete));
            vertices["neighbour_offsets"] = array(std::move(built.halos.neighbours.offsets));
            vertices["neighbours"] = array(std::move(built.halos.neighbours.entries));
            vertices["send_offsets"] = array(std::move(built.halos.send_offsets));
            vertices["send_indices"] = array(std::move(built.halos.send_indices));
            vertices["receive_counts"] = array(std::move(built.halos.receive_counts));
            py::dict result;
            result["vertices"] = std::move(vertices);
            result["row_offsets"] = array(std::move(built.row_offsets));
            result["edge_offsets"] = array(std::move(built.edge_offsets));
            result["senders"] = array(std::move(built.senders));
            result["edge_ids"] = array(std::move(built.edge_ids));
            return result;
        },
        py::arg("offsets").noconvert(), py::arg("targets").noconvert(), py::arg("owners").noconvert(),
        py::arg("owned_offsets").noconvert(), py::arg("owned").noconvert(), py::arg("parts").noconvert(),
        py::arg("layers"), py::arg("threads"));
}

}  // namespace meshpart::bindings
