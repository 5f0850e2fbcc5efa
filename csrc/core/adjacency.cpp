#include "adjacency.hpp"

#include <algorithm>
#include <vector>

#include "attachment.hpp"
#include "checks.hpp"
#include "merge_runs.hpp"
#include "parallel.hpp"

namespace meshpart {
namespace {

constexpr index_t grain = 2048;

// Row i of the result: what the rows of `back` list that row i of `there` names, without i itself. Whether these rows
// ascend, and are few and long: then they are merged.
//
// Counts first and gathers then, so that no more memory is used than the result has.
template <bool in_runs>
Csr neighbours(CsrView there, CsrView back, int threads) {
    const index_t n = there.n_rows();
    std::vector<std::vector<index_t>> seen_by(threads);  // of each worker: the last row that met a neighbour
    const auto nothing = [] {};
    const auto for_each_new = [&](index_t row, std::vector<index_t>& seen, auto&& visit, auto&& end_run) {
        if (seen.empty()) seen.assign(n, -1);
        seen[row] = row;
        for (const index_t middle : there[row]) {
            for (const index_t other : back[middle]) {
                if (seen[other] == row) continue;
                seen[other] = row;
                visit(other);
            }
            end_run();
        }
    };
    Csr rows{Vector<index_t>(n + 1, 0), {}};
    parallel_for(n, threads, grain, [&](index_t begin, index_t end, int worker) {
        for (index_t row = begin; row < end; ++row) {
            index_t count = 0;
            for_each_new(row, seen_by[worker], [&](index_t) { ++count; }, nothing);
            rows.offsets[row + 1] = count;
        }
    });
    for (index_t row = 0; row < n; ++row) rows.offsets[row + 1] += rows.offsets[row];
    rows.entries.resize(rows.offsets[n]);
    for (auto& seen : seen_by) seen.clear();
    parallel_for(n, threads, grain, [&](index_t begin, index_t end, int worker) {
        std::vector<index_t> ends, scratch;
        for (index_t row = begin; row < end; ++row) {
            index_t* const first = rows.entries.data() + rows.offsets[row];
            index_t length = 0;
            ends.assign(1, 0);
            const auto end_run = [&] {
                if (in_runs && length > ends.back()) ends.push_back(length);
            };
            for_each_new(row, seen_by[worker], [&](index_t other) { first[length++] = other; }, end_run);
            if constexpr (in_runs) {
                merge_runs(std::span(first, length), ends, scratch);
            } else {
                std::sort(first, first + length);
            }
        }
    });
    return rows;
}

}  // namespace

Csr cells_sharing_points(const MeshView& mesh, std::span<const std::uint8_t> kinds, int threads) {
    // The points of top and free cells, copied, so that nothing changes between the two passes.
    Csr points;
    for (index_t cell = 0; cell < mesh.n_cells(); ++cell) {
        if (kinds[cell] != attached) {
            points.entries.insert(points.entries.end(), mesh.cells[cell].begin(), mesh.cells[cell].end());
        }
        points.close_row();
    }
    return neighbours<true>(points.view(), transpose(points.view(), mesh.n_points, threads).view(), threads);
}

Csr points_sharing_cells(const MeshView& mesh, int threads) {
    const Csr cells{{mesh.cells.offsets.begin(), mesh.cells.offsets.end()},
                    {mesh.cells.entries.begin(), mesh.cells.entries.end()}};
    return neighbours<false>(transpose(cells.view(), mesh.n_points, threads).view(), cells.view(), threads);
}

Vector<weight_t> shared_point_counts(const MeshView& mesh, CsrView rows, int threads) {
    Vector<weight_t> counts(rows.entries.size());
    std::vector<std::vector<index_t>> marks_of(threads);  // of each worker: the last cell met on a point
    parallel_for(rows.n_rows(), threads, grain, [&](index_t begin, index_t end, int worker) {
        auto& marks = marks_of[worker];
        if (marks.empty()) marks.assign(mesh.n_points, -1);
        for (index_t cell = begin; cell < end; ++cell) {
            for (index_t entry = rows.offsets[cell]; entry < rows.offsets[cell + 1]; ++entry) {
                const index_t mark = 2 * entry, counted = mark + 1;
                require_in_range(rows.entries[entry], rows.n_rows());
                for (const index_t point : mesh.cells[cell]) {
                    require_in_range(point, mesh.n_points);
                    marks[point] = mark;
                }
                counts[entry] = 0;
                for (const index_t point : mesh.cells[rows.entries[entry]]) {
                    require_in_range(point, mesh.n_points);
                    if (marks[point] != mark) continue;
                    marks[point] = counted;
                    ++counts[entry];
                }
            }
        }
    });
    return counts;
}

}  // namespace meshpart
