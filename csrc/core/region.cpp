#include "region.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "checks.hpp"
#include "csr.hpp"
#include "parallel.hpp"

namespace meshpart {

namespace {

constexpr index_t grain = 1 << 14;

// The cells that are found so far, and those found in the last step.
struct Region {
    Vector<std::uint8_t> inside;  // (n_cells)
    Vector<std::uint8_t> met;     // (n_points): whether the point has been stepped over
    std::vector<std::vector<index_t>> front;
};

// Looks at all cells: those that are wanted, and not inside yet, are the next front. Whether there are any.
template <class Wanted>
bool look(Region& region, int threads, Wanted&& wanted) {
    const index_t n_cells = std::ssize(region.inside);
    region.front.resize((n_cells + grain - 1) / grain);
    parallel_for(n_cells, threads, grain, [&](index_t begin, index_t end, int) {
        auto& own = region.front[begin / grain];
        own.clear();
        for (index_t cell = begin; cell < end; ++cell) {
            if (region.inside[cell] || !wanted(cell)) continue;
            region.inside[cell] = 1;
            own.push_back(cell);
        }
    });
    return std::ranges::any_of(region.front, [](const auto& own) { return !own.empty(); });
}

// Calls visit(point) for the points of the front that no step has led over.
template <class Visit>
void for_each_new_point(const MeshView& mesh, Region& region, Visit&& visit) {
    for (const auto& own : region.front) {
        for (const index_t cell : own) {
            for (const index_t point : mesh.cells[cell]) {
                require_in_range(point, mesh.n_points);
                if (!std::exchange(region.met[point], std::uint8_t{1})) visit(point);
            }
        }
    }
}

// Walks on from the front, step by step.
void walk(const MeshView& mesh, Region& region, index_t steps, int threads) {
    const Csr on_points = transpose(mesh.cells, mesh.n_points, threads);
    for (index_t step = 0; step < steps && !region.front.empty(); ++step) {
        std::vector<index_t> next;
        for_each_new_point(mesh, region, [&](index_t point) {
            for (const index_t cell : on_points.view()[point]) {
                if (!std::exchange(region.inside[cell], std::uint8_t{1})) next.push_back(cell);
            }
        });
        region.front.clear();
        if (!next.empty()) region.front.push_back(std::move(next));
    }
}

}  // namespace

Vector<index_t> cells_around(const MeshView& mesh, std::span<const part_t> labels, std::span<const part_t> parts,
                             index_t steps, int threads) {
    constexpr index_t most_looks = 4;  // beyond, a look at the mesh for each step costs more than turning it round
    Region region{Vector<std::uint8_t>(mesh.n_cells(), 0), Vector<std::uint8_t>(mesh.n_points, 0), {}};
    bool any = look(region, threads, [&](index_t cell) {
        return parts.size() == 1 ? labels[cell] == parts[0] : std::ranges::binary_search(parts, labels[cell]);
    });
    for (index_t step = 0; any && step < std::min(steps, most_looks); ++step) {
        for_each_new_point(mesh, region, [](index_t) {});
        any = look(region, threads, [&](index_t cell) {
            return std::ranges::any_of(mesh.cells[cell], [&](index_t point) {
                require_in_range(point, mesh.n_points);
                return region.met[point] != 0;
            });
        });
    }
    if (any && steps > most_looks) walk(mesh, region, steps - most_looks, threads);
    Vector<index_t> cells;
    for (index_t cell = 0; cell < mesh.n_cells(); ++cell) {
        if (region.inside[cell]) cells.push_back(cell);
    }
    return cells;
}

}  // namespace meshpart
