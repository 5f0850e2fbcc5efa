// NumPy arrays in as spans, vectors out by move. Nothing else.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

#include "core/csr.hpp"
#include "core/graph.hpp"
#include "core/outline.hpp"
#include "core/types.hpp"

namespace meshpart::bindings {

namespace py = pybind11;

template <class T>
using Array = py::array_t<T, py::array::c_style>;

template <class T>
std::span<const T> span(const Array<T>& array) {
    return {array.data(), static_cast<std::size_t>(array.size())};
}

// An array that keeps the vector alive.
template <class T, class Allocator>
Array<T> array(std::vector<T, Allocator>&& values) {
    using Values = std::vector<T, Allocator>;
    auto owner = std::make_unique<Values>(std::move(values));
    const auto size = static_cast<py::ssize_t>(owner->size());
    const T* data = owner->data();
    const py::capsule keep(owner.release(), [](void* kept) { delete static_cast<Values*>(kept); });
    return Array<T>(size, data, keep);
}

inline CsrView csr(const Array<index_t>& offsets, const Array<index_t>& entries) {
    return {span(offsets), span(entries)};
}

// `Mesh.flat`, as an argument: its arrays live as long as the call.
struct MeshArgument {
    index_t n_points;
    Array<index_t> cell_offsets, cell_points, block_starts;
    Array<std::int32_t> block_dims, block_corners;
    Array<index_t> block_widths;

    explicit MeshArgument(const py::tuple& flat)
        : n_points(flat[0].cast<index_t>()),
          cell_offsets(flat[1]),
          cell_points(flat[2]),
          block_starts(flat[3]),
          block_dims(flat[4]),
          block_corners(flat[5]),
          block_widths(flat[6]) {}

    MeshView view() const {
        return {n_points,
                csr(cell_offsets, cell_points),
                span(block_starts),
                span(block_dims),
                span(block_corners),
                span(block_widths)};
    }
};

// `Graph.flat`, as an argument.
struct GraphArgument {
    Array<index_t> offsets, targets;
    Array<weight_t> vertex_weights, edge_weights;

    explicit GraphArgument(const py::tuple& flat)
        : offsets(flat[0]), targets(flat[1]), vertex_weights(flat[2]), edge_weights(flat[3]) {}

    GraphView view() const { return {csr(offsets, targets), span(vertex_weights), span(edge_weights)}; }
};

// An `Outline`, as an argument.
struct OutlineArgument {
    Array<index_t> pattern_offsets, patterns, pattern_starts, face_offsets, faces, face_starts, polyhedra_before;

    explicit OutlineArgument(const py::tuple& outline)
        : pattern_offsets(outline[0]),
          patterns(outline[1]),
          pattern_starts(outline[2]),
          face_offsets(outline[3]),
          faces(outline[4]),
          face_starts(outline[5]),
          polyhedra_before(outline[6]) {}

    OutlineView view() const {
        return {csr(pattern_offsets, patterns), span(pattern_starts), csr(face_offsets, faces), span(face_starts),
                span(polyhedra_before)};
    }
};

// Calls without the interpreter's lock.
//
// When the interpreter ends, whoever takes the lock is ended as a thread, by unwinding its stack (before Python 3.14).
// That must neither begin in a destructor, as that of pybind11's gil_scoped_release, nor be caught for good.
template <class Call>
auto released(Call&& call) {
    std::exception_ptr error;
    std::optional<decltype(call())> result;
    PyThreadState* const state = PyEval_SaveThread();
    try {
        result.emplace(call());
#ifdef __GLIBCXX__
    } catch (const abi::__forced_unwind&) {
        throw;
#endif
    } catch (...) {
        error = std::current_exception();
    }
    PyEval_RestoreThread(state);
    if (error) std::rethrow_exception(error);
    return std::move(*result);
}

}  // namespace meshpart::bindings
