// Graphs of cells and of points: building, checking, contracting.
#include "core/graph.hpp"

#include "convert.hpp"
#include "core/adjacency.hpp"
#include "core/dual_graph.hpp"

namespace meshpart::bindings {

namespace {

py::tuple rows_of(Csr&& rows) {
    return py::make_tuple(array(std::move(rows.offsets)), array(std::move(rows.entries)));
}

}  // namespace

void bind_graph(py::module_& m) {
    m.def(
        "check_graph",
        [](const py::tuple& flat) {
            const GraphArgument graph(flat);
            const auto found = released([&] { return check_graph(graph.view()); });
            return py::make_tuple(static_cast<int>(found.flaw), found.vertex, found.target);
        },
        py::arg("graph"));
    m.def(
        "contract",
        [](const py::tuple& flat, const Array<index_t>& groups, index_t n_groups) {
            const GraphArgument graph(flat);
            auto found = released([&] { return contract(graph.view(), span(groups), n_groups); });
            return py::make_tuple(array(std::move(found.rows.offsets)), array(std::move(found.rows.entries)),
                                  array(std::move(found.edge_weights)));
        },
        py::arg("graph"), py::arg("groups").noconvert(), py::arg("n_groups"));
    m.def(
        "dual_graph",
        [](const py::tuple& flat, const py::tuple& facets, const Array<std::uint8_t>& kinds, int threads) {
            const MeshArgument mesh(flat);
            const OutlineArgument outline(facets);
            auto found = released([&] { return dual_graph(mesh.view(), outline.view(), span(kinds), threads); });
            return py::make_tuple(array(std::move(found.rows.offsets)), array(std::move(found.rows.entries)),
                                  found.n_chained);
        },
        py::arg("mesh"), py::arg("facets"), py::arg("kinds").noconvert(), py::arg("threads"));
    m.def(
        "cells_sharing_points",
        [](const py::tuple& flat, const Array<std::uint8_t>& kinds, int threads) {
            const MeshArgument mesh(flat);
            return rows_of(released([&] { return cells_sharing_points(mesh.view(), span(kinds), threads); }));
        },
        py::arg("mesh"), py::arg("kinds").noconvert(), py::arg("threads"));
    m.def(
        "points_sharing_cells",
        [](const py::tuple& flat, int threads) {
            const MeshArgument mesh(flat);
            return rows_of(released([&] { return points_sharing_cells(mesh.view(), threads); }));
        },
        py::arg("mesh"), py::arg("threads"));
    m.def(
        "shared_point_counts",
        [](const py::tuple& flat, const Array<index_t>& offsets, const Array<index_t>& targets, int threads) {
            const MeshArgument mesh(flat);
            return array(released([&] { return shared_point_counts(mesh.view(), csr(offsets, targets), threads); }));
        },
        py::arg("mesh"), py::arg("offsets").noconvert(), py::arg("targets").noconvert(), py::arg("threads"));
}

}  // namespace meshpart::bindings
