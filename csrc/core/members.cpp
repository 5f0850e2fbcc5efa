#include "members.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "checks.hpp"
#include "layers.hpp"
#include "parallel.hpp"
#include "point_owners.hpp"
#include "region.hpp"

namespace meshpart {
namespace {

// The parts that are asked for, those that hold something of theirs, and the cells of each that matter.
struct Holders {
    std::vector<part_t> parts;  // ascending
    Csr cells;                  // row h: cells that parts[h] owns, ascending
};

Holders all_holders(std::span<const part_t> labels, part_t nparts) {
    Holders result{std::vector<part_t>(nparts), invert(labels, nparts)};
    std::iota(result.parts.begin(), result.parts.end(), 0);
    return result;
}

// The owners of some cells, ascending, and the parts asked for.
Holders holders_of(std::span<const index_t> cells, std::span<const part_t> labels, std::span<const part_t> parts) {
    std::vector<part_t> present(parts.begin(), parts.end());
    for (const index_t cell : cells) {
        if (present.back() != labels[cell]) present.push_back(labels[cell]);
    }
    std::ranges::sort(present);
    const auto repeated = std::ranges::unique(present);
    present.erase(repeated.begin(), repeated.end());

    std::vector<index_t> rows;
    rows.reserve(cells.size());
    for (const index_t cell : cells) rows.push_back(std::ranges::lower_bound(present, labels[cell]) - present.begin());
    Csr own = invert(std::span<const index_t>(rows), std::ssize(present));
    for (index_t& entry : own.entries) entry = cells[entry];
    return {std::move(present), std::move(own)};
}

// Where the members of some parts are looked for: the whole mesh, or the cells around them.
struct Region {
    bool is_whole;
    std::vector<index_t> cells;  // of a part of the mesh
};

std::vector<index_t> all_cells(const MeshView& mesh) {
    std::vector<index_t> cells(mesh.n_cells());
    std::iota(cells.begin(), cells.end(), 0);
    return cells;
}

Region region_of(const MeshView& mesh, std::span<const part_t> labels, part_t nparts, std::span<const part_t> parts,
                 index_t layers, int threads) {
    // A point that a part owns is on one of its cells. Who holds it has a cell on it within `layers` steps of its own.
    const index_t steps = layers + 1;
    constexpr index_t most_steps = 4;  // beyond, looking at the mesh for each costs more than turning it round
    if (std::ssize(parts) == nparts || steps > most_steps) return {true, {}};
    return {false, cells_around(mesh, labels, parts, steps, threads)};
}

// The points that no cell of a region is on, but another cell of the mesh, belong to a part that is not asked for.
void disown_points_outside(const MeshView& mesh, CsrView on_points, std::span<part_t> owners) {
    constexpr part_t somebody = -1;
    std::vector<std::uint8_t> used(mesh.n_points, 0);
    for (const index_t point : mesh.cells.entries) {
        require_in_range(point, mesh.n_points);
        used[point] = 1;
    }
    for (index_t point = 0; point < mesh.n_points; ++point) {
        if (used[point] && on_points[point].empty()) owners[point] = somebody;
    }
}

Csr rows(CsrView table, std::span<const index_t> chosen) {
    Csr result;
    for (const index_t row : chosen) {
        result.entries.insert(result.entries.end(), table[row].begin(), table[row].end());
        result.close_row();
    }
    return result;
}

// Row i: the entities that parts[i] owns, ascending.
Csr owned_by(std::span<const part_t> owners, std::span<const part_t> parts) {
    const index_t n_parts = std::ssize(parts);
    std::vector<index_t> rows(owners.size());
    for (index_t entity = 0; entity < std::ssize(owners); ++entity) {
        const index_t row = position(parts, owners[entity]);
        rows[entity] = row < 0 ? n_parts : row;
    }
    Csr result = invert(std::span<const index_t>(rows), n_parts + 1);
    result.offsets.pop_back();
    result.entries.resize(result.offsets.back());
    return result;
}

using GhostLists = std::vector<std::vector<Ghost>>;  // of each holder

struct Found {
    GhostLists cells, points;
    std::vector<std::vector<std::uint8_t>> point_complete;  // as points, of the parts asked for
};

// Keeps of the ghosts of others what the parts asked for own.
std::vector<Ghost> kept(std::span<const Ghost> ghosts, std::span<const part_t> parts, bool is_asked_for) {
    if (is_asked_for) return {ghosts.begin(), ghosts.end()};
    std::vector<Ghost> result;
    for (const Ghost& ghost : ghosts) {
        if (std::ranges::binary_search(parts, ghost.owner)) result.push_back(ghost);
    }
    return result;
}

Found search(const Surroundings& around, const Holders& holders, std::span<const part_t> parts, std::int32_t layers,
             int threads) {
    const index_t n = std::ssize(holders.parts);
    Found found{GhostLists(n), GhostLists(n), std::vector<std::vector<std::uint8_t>>(n)};
    std::vector<std::unique_ptr<LayerSearch>> searches(threads);
    parallel_for(n, threads, 1, [&](index_t h, index_t, int worker) {
        auto& own = searches[worker];
        if (!own) own = std::make_unique<LayerSearch>(around);
        const part_t part = holders.parts[h];
        own->run(part, holders.cells.view()[h], layers);
        const bool is_asked_for = std::ranges::binary_search(parts, part);
        found.cells[h] = kept(own->cells(), parts, is_asked_for);
        found.points[h] = kept(own->points(), parts, is_asked_for);
        if (is_asked_for) found.point_complete[h] = {own->point_complete().begin(), own->point_complete().end()};
    });
    return found;
}

// Puts owned entities and ghosts into local order, and builds the plans.
//
//   owned   row i: what parts[i] owns
//   ghosts  of each holder
//   own     (n_parts): which holder parts[i] is
Entities in_local_order(CsrView owned, const GhostLists& ghosts, std::span<const part_t> holders,
                        std::span<const part_t> parts, std::span<const index_t> own, index_t n_entities, int threads) {
    const index_t n_parts = std::ssize(parts);
    Entities result{{Vector<index_t>(n_parts + 1), {}}, Vector<index_t>(n_parts), {}, {}, {}};
    std::vector<index_t> ghost_offsets(n_parts + 1, 0);
    result.ids.offsets[0] = 0;
    for (index_t i = 0; i < n_parts; ++i) {
        const index_t n_owned = std::ssize(owned[i]), n_ghosts = std::ssize(ghosts[own[i]]);
        require_countable(n_owned + n_ghosts);
        result.n_owned[i] = n_owned;
        result.ids.offsets[i + 1] = result.ids.offsets[i] + n_owned + n_ghosts;
        ghost_offsets[i + 1] = ghost_offsets[i] + n_ghosts;
    }
    result.ids.entries.resize(result.ids.offsets.back());
    result.ghost_owners.resize(ghost_offsets.back());
    result.ghost_layers.resize(ghost_offsets.back());
    Vector<std::int32_t> ranks(n_entities);
    parallel_for(n_parts, threads, 1, [&](index_t i, index_t, int) {
        index_t* id = result.ids.entries.data() + result.ids.offsets[i];
        std::int32_t rank = 0;
        for (const index_t entity : owned[i]) {
            ranks[entity] = rank++;
            *id++ = entity;
        }
        index_t place = ghost_offsets[i];
        for (const Ghost& ghost : ghosts[own[i]]) {
            *id++ = ghost.id;
            result.ghost_owners[place] = ghost.owner;
            result.ghost_layers[place++] = ghost.layer;
        }
    });

    index_t n_held = 0;
    for (const auto& row : ghosts) n_held += std::ssize(row);
    Csr held;
    Vector<part_t> owners;
    held.entries.reserve(n_held);
    owners.reserve(n_held);
    for (const auto& row : ghosts) {
        for (const Ghost& ghost : row) {
            held.entries.push_back(ghost.id);
            owners.push_back(ghost.owner);
        }
        held.close_row();
    }
    result.plans = halo_plans(parts, {holders, held.view(), owners}, ranks);
    return result;
}

// Whether all cells on each local point are local.
Vector<std::uint8_t> completeness(const Entities& points, std::span<const index_t> own,
                                  const std::vector<std::vector<std::uint8_t>>& of_ghosts,
                                  std::span<const std::uint8_t> shared, index_t layers) {
    Vector<std::uint8_t> result(points.ids.entries.size());
    for (index_t i = 0; i < std::ssize(own); ++i) {
        index_t place = points.ids.offsets[i];
        for (const index_t point : points.ids.view()[i].first(points.n_owned[i])) {
            result[place++] = layers > 0 || !shared[point];
        }
        std::ranges::copy(of_ghosts[own[i]], result.begin() + place);
    }
    return result;
}

}  // namespace

Members members(const MeshView& mesh, std::span<const part_t> labels, part_t nparts, std::span<const part_t> parts,
                std::int32_t layers, int threads) {
    if (parts.empty()) return {};
    const Region region = region_of(mesh, labels, nparts, parts, layers, threads);
    const Csr on_points = region.is_whole ? transpose(mesh.cells, mesh.n_points, threads)
                                          : transpose(mesh.cells, region.cells, mesh.n_points, threads);
    PointOwners points = point_owners(on_points.view(), labels, threads);
    if (!region.is_whole && parts[0] == 0) disown_points_outside(mesh, on_points.view(), points.owners);
    const Holders holders = std::ssize(parts) == nparts ? all_holders(labels, nparts)
                            : region.is_whole           ? holders_of(all_cells(mesh), labels, parts)
                                                        : holders_of(region.cells, labels, parts);
    std::vector<index_t> own;  // which holder each part is
    for (const part_t part : parts) own.push_back(position(holders.parts, part));

    const Surroundings around{mesh, labels, on_points.view(), points.owners, points.shared};
    Found found = search(around, holders, parts, layers, threads);
    const auto ordered = [&](CsrView owned, GhostLists& ghosts, index_t n_entities) {
        return in_local_order(owned, ghosts, holders.parts, parts, own, n_entities, threads);
    };
    Members result{ordered(rows(holders.cells.view(), own).view(), found.cells, mesh.n_cells()),
                   ordered(owned_by(points.owners, parts).view(), found.points, mesh.n_points),
                   {}};
    result.point_complete = completeness(result.points, own, found.point_complete, points.shared, layers);
    return result;
}

}  // namespace meshpart
