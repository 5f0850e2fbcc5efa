// Points joined by the edges of cells.
#include "core/point_graph.hpp"

#include "convert.hpp"

namespace meshpart::bindings {

void bind_point_graph(py::module_& m) {
    m.def(
        "point_graph",
        [](const py::tuple& flat, const py::tuple& outline, int threads) {
            const MeshArgument mesh(flat);
            const OutlineArgument edges(outline);
            auto graph = released([&] { return point_graph(mesh.view(), edges.view(), threads); });
            return py::make_tuple(array(std::move(graph.offsets)), array(std::move(graph.entries)));
        },
        py::arg("mesh"), py::arg("edges"), py::arg("threads"));
}

}  // namespace meshpart::bindings
