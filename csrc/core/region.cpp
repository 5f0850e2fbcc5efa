#include "region.hpp"

#include <algorithm>
#include <vector>

#include "checks.hpp"
#include "parallel.hpp"

namespace meshpart {

Vector<index_t> cells_around(const MeshView& mesh, std::span<const part_t> labels, std::span<const part_t> parts,
                             index_t steps, int threads) {
    constexpr index_t grain = 1 << 14;
    Vector<std::uint8_t> inside(mesh.n_cells(), 0), met(mesh.n_points, 0);
    std::vector<std::vector<index_t>> found((mesh.n_cells() + grain - 1) / grain);
    // Takes in the cells that are wanted and not inside yet; whether there are any.
    const auto take = [&](auto&& wanted) {
        parallel_for(mesh.n_cells(), threads, grain, [&](index_t begin, index_t end, int) {
            auto& own = found[begin / grain];
            own.clear();
            for (index_t cell = begin; cell < end; ++cell) {
                if (inside[cell] || !wanted(cell)) continue;
                inside[cell] = 1;
                own.push_back(cell);
            }
        });
        return std::ranges::any_of(found, [](const auto& own) { return !own.empty(); });
    };
    bool any = take([&](index_t cell) {
        return parts.size() == 1 ? labels[cell] == parts[0] : std::ranges::binary_search(parts, labels[cell]);
    });
    for (index_t step = 0; any && step < steps; ++step) {
        for (const auto& own : found) {
            for (const index_t cell : own) {
                for (const index_t point : mesh.cells[cell]) {
                    require_in_range(point, mesh.n_points);
                    met[point] = 1;
                }
            }
        }
        any = take([&](index_t cell) {
            return std::ranges::any_of(mesh.cells[cell], [&](index_t point) {
                require_in_range(point, mesh.n_points);
                return met[point] != 0;
            });
        });
    }
    Vector<index_t> cells;
    for (index_t cell = 0; cell < mesh.n_cells(); ++cell) {
        if (inside[cell]) cells.push_back(cell);
    }
    return cells;
}

}  // namespace meshpart
