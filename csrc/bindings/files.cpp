// Files in memory.
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>

#include "convert.hpp"
#include "core/mapped_file.hpp"

namespace meshpart::bindings {
namespace {

// A read-only array that keeps the file mapped.
Array<std::uint8_t> map_file(const py::bytes& path) {
    std::unique_ptr<MappedFile> file;
    try {
        file = released([name = std::string(path)] { return std::make_unique<MappedFile>(name); });
    } catch (const std::system_error& error) {
        errno = error.code().value();
        PyErr_SetFromErrno(PyExc_OSError);
        throw py::error_already_set();
    }
    const auto bytes = file->bytes();
    const py::capsule keep(file.release(), [](void* kept) { delete static_cast<MappedFile*>(kept); });
    Array<std::uint8_t> result(static_cast<py::ssize_t>(bytes.size()), bytes.data(), keep);
    result.attr("flags").attr("writeable") = false;
    return result;
}

}  // namespace

void bind_files(py::module_& m) {
    m.def("map_file", &map_file, py::arg("path"));
}

}  // namespace meshpart::bindings
