#include "members.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "checks.hpp"
#include "layers.hpp"
#include "parallel.hpp"
#include "range_finder.hpp"

namespace meshpart {
namespace {

template <class Id>
using GhostLists = std::vector<std::vector<Ghost<Id>>>;  // of each holder

template <class Id>
struct Found {
    GhostLists<Id> cells, points;
    std::vector<std::vector<std::uint8_t>> point_complete;  // as points, of the parts asked for
};

// The ghosts of all holders; of those that are not asked for, the ghosts that the parts asked for own.
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
    std::vector<std::unique_ptr<LayerSearch<Id>>> searches(threads);
    parallel_for(n, threads, 1, [&](index_t h, index_t, int worker) {
        auto& own = searches[worker];
        if (!own) own = std::make_unique<LayerSearch<Id>>(mesh);
        own->run(h, layers, asked[h] != 0);
        found.cells[h] = kept(h, own->cells(), mesh.cell_starts);
        found.points[h] = kept(h, own->points(), mesh.point_starts);
        if (asked[h]) found.point_complete[h] = {own->point_complete().begin(), own->point_complete().end()};
    });
    return found;
}

// The cells of a mesh by number, or its points by rank.
struct Group {
    std::span<const index_t> starts, ids;
};

template <class Id>
HaloPlans plans_of(const Group& group, const GhostLists<Id>& ghosts, std::span<const part_t> holders,
                   std::span<const part_t> parts) {
    index_t n_held = 0;
    for (const auto& row : ghosts) n_held += std::ssize(row);
    Csr held;
    Vector<part_t> owners;
    held.entries.reserve(n_held);
    owners.reserve(n_held);
    RangeFinder owner_of(group.starts);
    for (const auto& row : ghosts) {
        for (const auto& ghost : row) {
            held.entries.push_back(static_cast<index_t>(ghost.number));
            owners.push_back(holders[owner_of(held.entries.back())]);
        }
        held.close_row();
    }
    Vector<std::int32_t> ranks(group.ids.size());
    for (index_t h = 0; h < std::ssize(holders); ++h) {
        for (index_t i = group.starts[h]; i < group.starts[h + 1]; ++i) {
            ranks[i] = static_cast<std::int32_t>(i - group.starts[h]);
        }
    }
    return halo_plans(parts, {holders, held.view(), owners}, ranks);
}

// Puts owned entities and ghosts into local order.
//
//   own      (n_parts): which holder each part is
//   numbers  is set to what Members has
template <class Id>
Entities in_local_order(const Group& group, const GhostLists<Id>& ghosts, std::span<const part_t> holders,
                        std::span<const index_t> own, int threads, Vector<Id>& numbers) {
    const index_t n_parts = std::ssize(own);
    Entities result{{Vector<index_t>(n_parts + 1), {}}, Vector<index_t>(n_parts), {}, {}, {}};
    std::vector<index_t> ghost_offsets(n_parts + 1, 0);
    result.ids.offsets[0] = 0;
    for (index_t i = 0; i < n_parts; ++i) {
        const index_t n_owned = group.starts[own[i] + 1] - group.starts[own[i]], n_ghosts = std::ssize(ghosts[own[i]]);
        require_countable(n_owned + n_ghosts);
        result.n_owned[i] = n_owned;
        result.ids.offsets[i + 1] = result.ids.offsets[i] + n_owned + n_ghosts;
        ghost_offsets[i + 1] = ghost_offsets[i] + n_ghosts;
    }
    result.ids.entries.resize(result.ids.offsets.back());
    numbers.resize(result.ids.offsets.back());
    result.ghost_owners.resize(ghost_offsets.back());
    result.ghost_layers.resize(ghost_offsets.back());
    parallel_for(n_parts, threads, 1, [&](index_t i, index_t, int) {
        Id* number = numbers.data() + result.ids.offsets[i];
        for (index_t entity = group.starts[own[i]]; entity < group.starts[own[i] + 1]; ++entity) {
            *number++ = static_cast<Id>(entity);
        }
        RangeFinder owner_of(group.starts);
        index_t place = ghost_offsets[i];
        for (const auto& ghost : ghosts[own[i]]) {
            *number++ = ghost.number;
            result.ghost_owners[place] = holders[owner_of(static_cast<index_t>(ghost.number))];
            result.ghost_layers[place++] = ghost.layer;
        }
        for (index_t j = result.ids.offsets[i]; j < result.ids.offsets[i + 1]; ++j) {
            result.ids.entries[j] = group.ids[numbers[j]];
        }
    });
    return result;
}

// Whether all cells on each local point are local.
template <class Id>
Vector<std::uint8_t> completeness(const Grouped<Id>& mesh, const Members<Id>& found, std::span<const index_t> own,
                                  const std::vector<std::vector<std::uint8_t>>& of_ghosts, index_t layers) {
    const Entities& points = found.points;
    Vector<std::uint8_t> result(points.ids.entries.size());
    for (index_t i = 0; i < std::ssize(own); ++i) {
        const index_t first = points.ids.offsets[i], end = first + points.n_owned[i];
        for (index_t j = first; j < end; ++j)
            result[j] = layers > 0 || !mesh.is_shared[mesh.points_by_rank[found.point_ranks[j]]];
        std::ranges::copy(of_ghosts[own[i]], result.begin() + end);
    }
    return result;
}

}  // namespace

template <class Id>
Members<Id> members(const Grouped<Id>& mesh, std::span<const part_t> parts, std::int32_t layers, int threads) {
    Found<Id> found = search(mesh, parts, layers, threads);
    std::vector<index_t> own;
    for (const part_t part : parts) own.push_back(position(mesh.holders, part));
    Members<Id> result;
    const auto order = [&](const Group& group, GhostLists<Id>& ghosts, Vector<Id>& numbers) {
        Entities entities = in_local_order<Id>(group, ghosts, mesh.holders, own, threads, numbers);
        entities.plans = plans_of<Id>(group, ghosts, mesh.holders, parts);
        return entities;
    };
    result.cells = order({mesh.cell_starts, mesh.cell_ids}, found.cells, result.cell_numbers);
    result.points = order({mesh.point_starts, mesh.point_ids}, found.points, result.point_ranks);
    result.point_complete = completeness(mesh, result, own, found.point_complete, layers);
    return result;
}

template Members<std::uint32_t> members(const Grouped<std::uint32_t>&, std::span<const part_t>, std::int32_t, int);
template Members<index_t> members(const Grouped<index_t>&, std::span<const part_t>, std::int32_t, int);

}  // namespace meshpart
