// The table of contents of meshpart._core: functions over arrays.
#include <pybind11/pybind11.h>

namespace meshpart::bindings {
void bind_mesh(pybind11::module_& m);
void bind_sfc(pybind11::module_& m);
void bind_parts(pybind11::module_& m);
}  // namespace meshpart::bindings

PYBIND11_MODULE(_core, m) {
    m.doc() = "The compiled core: functions over arrays, checked and documented by the Python modules that call them.";
    meshpart::bindings::bind_mesh(m);
    meshpart::bindings::bind_sfc(m);
    meshpart::bindings::bind_parts(m);
}
