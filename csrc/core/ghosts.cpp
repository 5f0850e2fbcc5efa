#include "ghosts.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

#include "checks.hpp"
#include "parallel.hpp"

namespace meshpart {
namespace {

// Calls visit(part, point) for every part that has a cell on a point, once, part by part. `last_part` is as long as the
// points.
template <class Visit>
void for_each_part_on_points(const MeshView& mesh, CsrView owned_cells, Vector<part_t>& last_part, Visit&& visit) {
    std::ranges::fill(last_part, -1);
    for (index_t row = 0; row < owned_cells.n_rows(); ++row) {
        const auto part = static_cast<part_t>(row);
        for (const index_t cell : owned_cells[row]) {
            require_in_range(cell, mesh.n_cells());
            for (const index_t point : mesh.cells[cell]) {
                require_in_range(point, mesh.n_points);
                if (last_part[point] == part) continue;
                last_part[point] = part;
                visit(part, point);
            }
        }
    }
}

// Rows one after another.
Csr joined(const std::vector<Csr>& pieces, index_t n_rows) {
    Csr result;
    result.offsets.reserve(n_rows + 1);
    index_t n_entries = 0;
    for (const Csr& piece : pieces) n_entries += std::ssize(piece.entries);
    result.entries.reserve(n_entries);
    for (const Csr& piece : pieces) {
        const index_t first = std::ssize(result.entries);
        for (index_t row = 1; row < std::ssize(piece.offsets); ++row) {
            result.offsets.push_back(first + piece.offsets[row]);
        }
        result.entries.insert(result.entries.end(), piece.entries.begin(), piece.entries.end());
    }
    return result;
}

}  // namespace

Csr parts_on_shared_points(const MeshView& mesh, CsrView owned_cells) {
    Vector<part_t> last_part(mesh.n_points);
    Vector<part_t> count(mesh.n_points, 0);
    for_each_part_on_points(mesh, owned_cells, last_part, [&](part_t, index_t point) { ++count[point]; });

    Csr result{Vector<index_t>(mesh.n_points + 1), {}};
    index_t end = 0;
    for (index_t point = 0; point < mesh.n_points; ++point) {
        result.offsets[point] = end;
        end += count[point] > 1 ? count[point] : 0;
    }
    result.offsets[mesh.n_points] = end;
    result.entries.resize(end, 0);

    for_each_part_on_points(mesh, owned_cells, last_part, [&](part_t part, index_t point) {
        const index_t row_end = result.offsets[point + 1];
        if (row_end > result.offsets[point] && count[point] > 0) result.entries[row_end - count[point]--] = part;
    });
    return result;
}

Csr parts_with_ghost(const MeshView& mesh, std::span<const part_t> labels, CsrView on_shared_points, int threads) {
    assert(std::ssize(labels) == mesh.n_cells() && on_shared_points.n_rows() == mesh.n_points);
    constexpr index_t grain = 8192;
    std::vector<Csr> pieces((mesh.n_cells() + grain - 1) / grain);
    parallel_for(mesh.n_cells(), threads, grain, [&](index_t begin, index_t end, int) {
        Csr& piece = pieces[begin / grain];
        piece.offsets.reserve(end - begin + 1);
        std::vector<index_t> others;
        for (index_t cell = begin; cell < end; ++cell) {
            others.clear();
            for (const index_t point : mesh.cells[cell]) {
                require_in_range(point, mesh.n_points);
                for (const index_t part : on_shared_points[point]) {
                    if (part != labels[cell]) others.push_back(part);
                }
            }
            std::ranges::sort(others);
            const auto repeated = std::ranges::unique(others);
            piece.entries.insert(piece.entries.end(), others.begin(), repeated.begin());
            piece.close_row();
        }
    });
    return joined(pieces, mesh.n_cells());
}

}  // namespace meshpart
