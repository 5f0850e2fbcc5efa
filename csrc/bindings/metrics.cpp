// What a decomposition cuts and what its parts share.
#include "core/metrics.hpp"

#include "convert.hpp"

namespace meshpart::bindings {

void bind_metrics(py::module_& m) {
    m.def(
        "cut_metrics",
        [](const py::tuple& dual, const Array<std::uint8_t>& kinds, const Array<part_t>& labels,
           const Array<index_t>& offsets, const Array<index_t>& cells) {
            const GraphArgument graph(dual);
            auto found =
                released([&] { return cut_metrics(graph.view(), span(kinds), span(labels), csr(offsets, cells)); });
            return py::make_tuple(found.edge_cut, found.communication_volume, array(std::move(found.components)),
                                  array(std::move(found.quotient.offsets)), array(std::move(found.quotient.entries)),
                                  array(std::move(found.quotient_weights)));
        },
        py::arg("dual"), py::arg("kinds").noconvert(), py::arg("labels").noconvert(),
        py::arg("owned_offsets").noconvert(), py::arg("owned_cells").noconvert());
    m.def(
        "halo_metrics",
        [](const py::tuple& flat, const Array<part_t>& labels, part_t nparts, int threads) {
            const MeshArgument mesh(flat);
            auto found = released([&] { return halo_metrics(mesh.view(), span(labels), nparts, threads); });
            return py::make_tuple(found.shared_points, array(std::move(found.points)), array(std::move(found.ghosts)),
                                  array(std::move(found.neighbours)));
        },
        py::arg("mesh"), py::arg("labels").noconvert(), py::arg("nparts"), py::arg("threads"));
}

}  // namespace meshpart::bindings
