// Rows turned round, owners of points, and parts with local numbers.
#include "core/parts.hpp"

#include "convert.hpp"

namespace meshpart::bindings {

namespace {

template <class T>
void bind_invert(py::module_& m) {
    m.def(
        "invert",
        [](const Array<T>& values, index_t count) {
            auto rows = released([&] { return invert(span(values), count); });
            return py::make_tuple(array(std::move(rows.offsets)), array(std::move(rows.entries)));
        },
        py::arg("values").noconvert(), py::arg("count"));
}

}  // namespace

void bind_parts(py::module_& m) {
    bind_invert<index_t>(m);
    bind_invert<part_t>(m);
    m.def(
        "point_owners",
        [](const py::tuple& flat, const Array<index_t>& offsets, const Array<index_t>& cells, int threads) {
            const MeshArgument mesh(flat);
            auto found = released([&] { return point_owners(mesh.view(), csr(offsets, cells), threads); });
            return py::make_tuple(array(std::move(found.owners)), array(std::move(found.cell_counts)));
        },
        py::arg("mesh"), py::arg("owned_offsets").noconvert(), py::arg("owned_cells").noconvert(), py::arg("threads"));
    m.def(
        "build_parts",
        [](const py::tuple& flat, const Array<part_t>& parts, const Array<index_t>& offsets,
           const Array<index_t>& cells, const Array<part_t>& owners, const Array<std::int32_t>& cell_counts,
           int threads) {
            const MeshArgument mesh(flat);
            const PointOwnersView points{span(owners), span(cell_counts)};
            auto built =
                released([&] { return build_parts(mesh.view(), span(parts), csr(offsets, cells), points, threads); });
            py::dict result;
            result["point_offsets"] = array(std::move(built.points.offsets));
            result["point_ids"] = array(std::move(built.points.entries));
            result["n_owned_points"] = array(std::move(built.n_owned_points));
            result["ghost_owners"] = array(std::move(built.ghost_owners));
            result["point_complete"] = array(std::move(built.point_complete));
            result["cell_complete"] = array(std::move(built.cell_complete));
            result["block_offsets"] = array(std::move(built.block_cells.offsets));
            result["block_cells"] = array(std::move(built.block_cells.entries));
            result["node_offsets"] = array(std::move(built.block_nodes.offsets));
            result["nodes"] = array(std::move(built.block_nodes.entries));
            return result;
        },
        py::arg("mesh"), py::arg("parts").noconvert(), py::arg("offsets").noconvert(), py::arg("cells").noconvert(),
        py::arg("owners").noconvert(), py::arg("cell_counts").noconvert(), py::arg("threads"));
}

}  // namespace meshpart::bindings
