// The table of contents of meshpart._core: functions over arrays.
#include <pybind11/pybind11.h>

#include <stdexcept>

#include "core/helper_process.hpp"

namespace meshpart::bindings {
void bind_mesh(pybind11::module_& m);
void bind_sfc(pybind11::module_& m);
void bind_parts(pybind11::module_& m);
void bind_balance(pybind11::module_& m);
void bind_files(pybind11::module_& m);
void bind_graph(pybind11::module_& m);
void bind_graph_parts(pybind11::module_& m);
void bind_kahip(pybind11::module_& m);
void bind_local_graph(pybind11::module_& m);
void bind_metrics(pybind11::module_& m);
void bind_point_graph(pybind11::module_& m);
}  // namespace meshpart::bindings

namespace {

void set_error(const char* name, const char* what) {
    pybind11::set_error(pybind11::module_::import("meshpart.errors").attr(name), what);
}

// The kernels check again what was checked at the door: their errors mean that an array has changed since.
void translate(std::exception_ptr error) {
    try {
        if (error) std::rethrow_exception(error);
    } catch (const meshpart::MethodFailure& found) {
        set_error("MethodError", found.what());
    } catch (const std::out_of_range& found) {
        set_error("MeshError", found.what());
    } catch (const std::length_error& found) {
        set_error("MeshpartError", found.what());
    } catch (const std::invalid_argument& found) {
        set_error("ArgumentError", found.what());
    }
}

}  // namespace

PYBIND11_MODULE(_core, m) {
    pybind11::register_local_exception_translator(translate);
    m.doc() = "The compiled core: functions over arrays, checked and documented by the Python modules that call them.";
    meshpart::bindings::bind_mesh(m);
    meshpart::bindings::bind_sfc(m);
    meshpart::bindings::bind_parts(m);
    meshpart::bindings::bind_point_graph(m);
    meshpart::bindings::bind_metrics(m);
    meshpart::bindings::bind_local_graph(m);
    meshpart::bindings::bind_kahip(m);
    meshpart::bindings::bind_graph_parts(m);
    meshpart::bindings::bind_graph(m);
    meshpart::bindings::bind_files(m);
    meshpart::bindings::bind_balance(m);
}
