// Rows turned round, and parts with their ghosts and plans.
#include "core/parts.hpp"

#include "convert.hpp"
#include "entities.hpp"

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
        "build_parts",
        [](const py::tuple& flat, const Array<part_t>& labels, part_t nparts, const Array<part_t>& parts,
           std::int32_t layers, int threads) {
            const MeshArgument mesh(flat);
            auto found =
                released([&] { return build_parts(mesh.view(), span(labels), nparts, span(parts), layers, threads); });
            py::dict result;
            result["cells"] = as_dict(std::move(found.cells), std::move(found.cell_complete));
            result["points"] = as_dict(std::move(found.points), std::move(found.point_complete));
            result["block_offsets"] = array(std::move(found.block_cells.offsets));
            result["block_cells"] = array(std::move(found.block_cells.entries));
            result["node_offsets"] = array(std::move(found.block_nodes.offsets));
            result["nodes"] = array(std::move(found.block_nodes.entries));
            return result;
        },
        py::arg("mesh"), py::arg("labels").noconvert(), py::arg("nparts"), py::arg("parts").noconvert(),
        py::arg("layers"), py::arg("threads"));
}

}  // namespace meshpart::bindings
