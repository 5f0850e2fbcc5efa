// Mesh checks and fingerprints, kinds of cells, centroids.
#include "convert.hpp"
#include "core/attachment.hpp"
#include "core/centroids.hpp"
#include "core/checks.hpp"
#include "core/fingerprint.hpp"

namespace meshpart::bindings {

void bind_mesh(py::module_& m) {
    m.def(
        "first_outside",
        [](const Array<index_t>& ids, index_t count, int threads) {
            return released([&] { return first_outside(span(ids), count, threads); });
        },
        py::arg("ids").noconvert(), py::arg("count"), py::arg("threads"));
    m.def(
        "count_ids",
        [](const Array<index_t>& ids, index_t n_owned, const Array<index_t>& starts) {
            auto found = released([&] { return count_ids(span(ids), n_owned, span(starts)); });
            return py::make_tuple(array(std::move(found.counts)), found.ascending);
        },
        py::arg("ids").noconvert(), py::arg("n_owned"), py::arg("starts").noconvert());
    m.def(
        "fingerprint",
        [](const Array<std::uint8_t>& bytes, int threads) {
            return released([&] { return fingerprint(span(bytes), threads); });
        },
        py::arg("bytes").noconvert(), py::arg("threads"));
    m.def(
        "attachment",
        [](const py::tuple& flat) {
            const MeshArgument mesh(flat);
            auto found = released([&] { return attachment(mesh.view()); });
            return py::make_tuple(array(std::move(found.kinds)), array(std::move(found.cells)),
                                  array(std::move(found.rows)), array(std::move(found.parents.offsets)),
                                  array(std::move(found.parents.entries)));
        },
        py::arg("mesh"));
    m.def(
        "label_attached",
        [](const Array<index_t>& cells, const Array<index_t>& rows, const Array<index_t>& parent_offsets,
           const Array<index_t>& parents, const Array<part_t>& labels) {
            std::vector<part_t> result(labels.data(), labels.data() + labels.size());
            return array(released([&] {
                label_attached(span(cells), span(rows), csr(parent_offsets, parents), result);
                return std::move(result);
            }));
        },
        py::arg("cells").noconvert(), py::arg("rows").noconvert(), py::arg("parent_offsets").noconvert(),
        py::arg("parents").noconvert(), py::arg("labels").noconvert());
    m.def(
        "centroids",
        [](const py::tuple& flat, const Array<double>& points, int threads) {
            const MeshArgument mesh(flat);
            const auto dim = static_cast<int>(points.shape(1));
            auto result = released([&] { return centroids(mesh.view(), span(points), dim, threads); });
            const auto rows = static_cast<py::ssize_t>(result.size()) / dim;
            return array(std::move(result)).reshape({rows, static_cast<py::ssize_t>(dim)});
        },
        py::arg("mesh"), py::arg("points").noconvert(), py::arg("threads"));
}

}  // namespace meshpart::bindings
