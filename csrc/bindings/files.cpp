// Files in memory, and the words in them.
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "convert.hpp"
#include "core/mapped_file.hpp"
#include "core/openings.hpp"

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

std::span<const std::uint8_t> span(const py::bytes& text) {
    const auto view = static_cast<std::string_view>(text);
    return {reinterpret_cast<const std::uint8_t*>(view.data()), view.size()};
}

}  // namespace

void bind_files(py::module_& m) {
    m.def("map_file", &map_file, py::arg("path"));
    m.def(
        "openings",
        [](const py::bytes& text, std::uint8_t opener, const py::bytes& firsts) {
            return array(released([&, in = span(text), of = span(firsts)] { return openings(in, opener, of); }));
        },
        py::arg("text"), py::arg("opener"), py::arg("firsts"));
}

}  // namespace meshpart::bindings
