#include "members.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "layers.hpp"
#include "parallel.hpp"
#include "range_finder.hpp"

namespace meshpart {
namespace {

// So many parts are looked around, each at its own cost, for others that need not be searched from.
constexpr index_t most_looked_around = 16;

template <class Id>
struct Found {
    GhostLists<Id> cells, points;
    std::vector<std::vector<std::uint8_t>> point_complete;  // as points, of the parts asked for
};

// All cells of some holders as ghosts.
template <class Id>
std::vector<Ghost<Id>> cells_of(const Grouped<Id>& mesh, std::span<const index_t> holders) {
    std::vector<Ghost<Id>> result;
    for (const index_t holder : holders) {
        for (index_t cell = mesh.cell_starts[holder]; cell < mesh.cell_starts[holder + 1]; ++cell) {
            result.push_back({static_cast<Id>(cell), 0});
        }
    }
    return result;
}

// All points of some holders that a cell is on as ghosts.
template <class Id>
std::vector<Ghost<Id>> used_points_of(const Grouped<Id>& mesh, std::span<const index_t> holders) {
    std::vector<Ghost<Id>> result;
    for (const index_t holder : holders) {
        for (index_t point = mesh.point_starts[holder]; point < mesh.point_starts[holder + 1]; ++point) {
            const auto rank = static_cast<Id>(point);
            if (!mesh.cells_on(rank).empty()) result.push_back({rank, 0});
        }
    }
    return result;
}

// Of each holder, whether it surely has all cells of some, which are none of it, as ghosts.
template <class Id>
std::vector<std::uint8_t> surely_have_all(const Grouped<Id>& mesh, std::span<const index_t> holders,
                                          std::int32_t layers) {
    std::vector<std::uint8_t> result(mesh.n_holders(), std::ssize(holders) <= most_looked_around);
    for (const index_t holder : holders) {
        if (std::ranges::count(result, 1) == 0) break;
        const auto have_all = surely_have_all_of(mesh, holder, layers);
        for (index_t h = 0; h < mesh.n_holders(); ++h) result[h] &= have_all[h];
    }
    return result;
}

// The ghosts of all holders; of those that are not asked for, the ghosts that the parts asked for own, in no certain
// layer.
template <class Id>
Found<Id> search(const Grouped<Id>& mesh, std::span<const part_t> parts, std::int32_t layers, int threads) {
    const index_t n = mesh.n_holders();
    std::vector<std::uint8_t> asked(n);
    for (index_t h = 0; h < n; ++h) asked[h] = std::ranges::binary_search(parts, mesh.holders[h]);
    const auto kept = [&](index_t h, std::span<const Ghost<Id>> ghosts, std::span<const index_t> starts) {
        if (asked[h]) return std::vector<Ghost<Id>>(ghosts.begin(), ghosts.end());
        std::vector<Ghost<Id>> result;
        RangeFinder owner_of(starts);
        for (const auto& ghost : ghosts) {
            if (asked[owner_of(static_cast<index_t>(ghost.number))]) result.push_back(ghost);
        }
        return result;
    };
    Found<Id> found{GhostLists<Id>(n), GhostLists<Id>(n), std::vector<std::vector<std::uint8_t>>(n)};
    std::vector<index_t> owners;
    for (index_t h = 0; h < n; ++h) {
        if (asked[h]) owners.push_back(h);
    }
    const auto has_all = surely_have_all(mesh, std::span<const index_t>(owners), layers);
    if (std::ranges::count(has_all, 1) > 0) {
        const auto cells = cells_of(mesh, owners), points = used_points_of(mesh, owners);
        for (index_t h = 0; h < n; ++h) {
            if (!has_all[h]) continue;
            found.cells[h] = cells;
            found.points[h] = points;
        }
    }
    std::vector<std::unique_ptr<LayerSearch<Id>>> searches(threads);
    parallel_for(n, threads, 1, [&](index_t h, index_t, int worker) {
        if (has_all[h]) return;
        auto& own = searches[worker];
        if (!own) own = std::make_unique<LayerSearch<Id>>(mesh);
        own->run(h, layers, asked[h] != 0);
        found.cells[h] = kept(h, own->cells(), mesh.cell_starts);
        found.points[h] = kept(h, own->points(), mesh.point_starts);
        if (asked[h]) found.point_complete[h] = {own->point_complete().begin(), own->point_complete().end()};
    });
    return found;
}

// Whether all cells on each local point are local.
template <class Id>
Vector<std::uint8_t> completeness(const Grouped<Id>& mesh, const Members<Id>& found, std::span<const part_t> parts,
                                  const std::vector<std::vector<std::uint8_t>>& of_ghosts, index_t layers) {
    const Entities& points = found.points;
    Vector<std::uint8_t> result(points.ids.entries.size());
    for (index_t i = 0; i < std::ssize(parts); ++i) {
        const index_t first = points.ids.offsets[i], end = first + points.n_owned[i];
        for (index_t j = first; j < end; ++j)
            result[j] = layers > 0 || !mesh.is_shared[mesh.points_by_rank[found.point_ranks[j]]];
        std::ranges::copy(of_ghosts[position(mesh.holders, parts[i])], result.begin() + end);
    }
    return result;
}

}  // namespace

template <class Id>
Members<Id> members(const Grouped<Id>& mesh, std::span<const part_t> parts, std::int32_t layers, int threads) {
    const Found<Id> found = search(mesh, parts, layers, threads);
    Members<Id> result;
    result.cells = in_local_order<Id>({mesh.holders, mesh.cell_starts, mesh.cell_ids}, found.cells, parts, threads,
                                      result.cell_numbers);
    result.points = in_local_order<Id>({mesh.holders, mesh.point_starts, mesh.point_ids}, found.points, parts, threads,
                                       result.point_ranks);
    result.point_complete = completeness<Id>(mesh, result, parts, found.point_complete, layers);
    return result;
}

template Members<std::uint32_t> members(const Grouped<std::uint32_t>&, std::span<const part_t>, std::int32_t, int);
template Members<index_t> members(const Grouped<index_t>&, std::span<const part_t>, std::int32_t, int);

}  // namespace meshpart
