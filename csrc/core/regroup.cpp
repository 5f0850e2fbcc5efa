#include "regroup.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "checks.hpp"
#include "csr.hpp"
#include "parallel.hpp"
#include "region.hpp"

namespace meshpart {
namespace {

constexpr index_t grain = 1 << 13;

// The cells that matter, by owner.
struct CellOrder {
    std::vector<part_t> holders;  // ascending
    Csr cells;                    // row h: the cells that holders[h] owns, ascending
};

CellOrder order_of_all(std::span<const part_t> labels, part_t nparts, int threads) {
    CellOrder result{std::vector<part_t>(nparts), invert(labels, nparts, threads)};
    std::iota(result.holders.begin(), result.holders.end(), 0);
    return result;
}

// The order of some cells, which ascend; `parts` are among the holders.
CellOrder order_of_some(std::span<const index_t> cells, std::span<const part_t> labels, std::span<const part_t> parts) {
    std::vector<part_t> holders(parts.begin(), parts.end());
    for (const index_t cell : cells) {
        if (holders.back() != labels[cell]) holders.push_back(labels[cell]);
    }
    std::ranges::sort(holders);
    const auto repeated = std::ranges::unique(holders);
    holders.erase(repeated.begin(), repeated.end());

    std::vector<index_t> rows;
    rows.reserve(cells.size());
    for (const index_t cell : cells) rows.push_back(std::ranges::lower_bound(holders, labels[cell]) - holders.begin());
    Csr order = invert(std::span<const index_t>(rows), std::ssize(holders));
    for (index_t& entry : order.entries) entry = cells[entry];
    return {std::move(holders), std::move(order)};
}

CellOrder cell_order(const MeshView& mesh, std::span<const part_t> labels, part_t nparts, std::span<const part_t> parts,
                     index_t layers, int threads) {
    if (std::ssize(parts) == nparts) return order_of_all(labels, nparts, threads);
    const index_t steps = layers + 1;
    constexpr index_t most_steps = 4;  // beyond, looking at the mesh for each costs more than taking all of it
    if (steps <= most_steps) return order_of_some(cells_around(mesh, labels, parts, steps, threads), labels, parts);
    Vector<index_t> all(mesh.n_cells());
    std::iota(all.begin(), all.end(), 0);
    return order_of_some(all, labels, parts);
}

Vector<std::int32_t> holder_of_each(std::span<const index_t> starts) {
    Vector<std::int32_t> result(starts.back());
    for (std::int32_t h = 0; h + 1 < std::ssize(starts); ++h) {
        std::fill(result.begin() + starts[h], result.begin() + starts[h + 1], h);
    }
    return result;
}

// The points of cells, read once, since they may change.
template <class Id>
Rows<Id> rows_of(const MeshView& mesh, std::span<const index_t> cells, int threads) {
    Rows<Id> rows{Vector<index_t>(cells.size() + 1), {}};
    rows.offsets[0] = 0;
    for (index_t i = 0; i < std::ssize(cells); ++i) {
        rows.offsets[i + 1] = rows.offsets[i] + mesh.cells.offsets[cells[i] + 1] - mesh.cells.offsets[cells[i]];
    }
    rows.entries.resize(rows.offsets.back());
    parallel_for(std::ssize(cells), threads, grain, [&](index_t begin, index_t end, int) {
        constexpr index_t ahead = 16;  // in a shuffled mesh each row is far away: ask for it before it is needed
        Id* to = rows.entries.data() + rows.offsets[begin];
        for (index_t i = begin; i < end; ++i) {
            if (i + ahead < end) {
                __builtin_prefetch(mesh.cells.entries.data() + mesh.cells.offsets[cells[i + ahead]]);
            }
            for (const index_t point : mesh.cells[cells[i]]) {
                require_in_range(point, mesh.n_points);
                *to++ = static_cast<Id>(point);
            }
        }
    });
    return rows;
}

// Gives the points of some rows, and those in no cell of the mesh if these are wanted, numbers in ascending order.
// Returns their ids.
template <class Id>
Vector<index_t> number_points(const MeshView& mesh, Rows<Id>& rows, bool with_unused) {
    Vector<std::uint8_t> wanted(mesh.n_points, 0);
    if (with_unused) {
        for (const index_t point : mesh.cells.entries) {
            require_in_range(point, mesh.n_points);
            wanted[point] = 1;
        }
        for (auto& mark : wanted) mark = !mark;
    }
    for (const Id point : rows.entries) wanted[point] = 1;
    Vector<index_t> ids;
    Vector<Id> number(mesh.n_points);
    for (index_t point = 0; point < mesh.n_points; ++point) {
        if (!wanted[point]) continue;
        number[point] = static_cast<Id>(ids.size());
        ids.push_back(point);
    }
    for (Id& point : rows.entries) point = number[point];
    return ids;
}

// Who has most of the cells of a row, the first on a tie. The cells ascend, and so do their holders.
template <class Id>
std::int32_t most_frequent(std::span<const Id> cells, std::span<const std::int32_t> cell_holders) {
    std::int32_t best = -1;
    std::ptrdiff_t most = 0;
    for (auto first = cells.begin(); first != cells.end();) {
        const std::int32_t holder = cell_holders[*first];
        const auto last = std::find_if(first, cells.end(), [&](Id cell) { return cell_holders[cell] != holder; });
        if (last - first > most) {
            best = holder;
            most = last - first;
        }
        first = last;
    }
    return best;
}

template <class Id>
Rows<Id> rows_in_order(const Rows<Id>& rows, std::span<const index_t> order, int threads) {
    const index_t n = std::ssize(order);
    Rows<Id> result{Vector<index_t>(n + 1), {}};
    result.offsets[0] = 0;
    for (index_t i = 0; i < n; ++i) result.offsets[i + 1] = result.offsets[i] + std::ssize(rows[order[i]]);
    result.entries.resize(result.offsets.back());
    parallel_for(n, threads, grain, [&](index_t begin, index_t end, int) {
        for (index_t i = begin; i < end; ++i) {
            std::ranges::copy(rows[order[i]], result.entries.begin() + result.offsets[i]);
        }
    });
    return result;
}

}  // namespace

template <class Id>
Grouped<Id> regroup(const MeshView& mesh, std::span<const part_t> labels, part_t nparts, std::span<const part_t> parts,
                    index_t layers, int threads) {
    Grouped<Id> result;
    CellOrder order = cell_order(mesh, labels, nparts, parts, layers, threads);
    result.holders = std::move(order.holders);
    result.cell_starts = std::move(order.cells.offsets);
    result.cell_ids = std::move(order.cells.entries);
    result.cell_holders = holder_of_each(result.cell_starts);
    result.rows = rows_of<Id>(mesh, result.cell_ids, threads);

    const bool is_whole = std::ssize(result.cell_ids) == mesh.n_cells();
    const bool has_part_0 = !parts.empty() && parts[0] == 0;
    Vector<index_t> ids;  // of the points as they are numbered at first; all of the mesh's if it is whole
    if (!is_whole) ids = number_points(mesh, result.rows, has_part_0);
    const index_t n_points = is_whole ? mesh.n_points : std::ssize(ids);
    const auto on_points = turned_round<Id>(result.rows.n_rows(), std::ssize(result.rows.entries), n_points, threads,
                                            [&](index_t cell) { return result.rows[cell]; });

    const index_t nobody = result.n_holders();  // of points in no cell, where part 0 is not here
    const index_t of_unused = result.n_holders() > 0 && result.holders[0] == 0 ? 0 : nobody;
    Vector<index_t> owners(n_points);
    parallel_for(n_points, threads, grain, [&](index_t begin, index_t end, int) {
        for (index_t point = begin; point < end; ++point) {
            const auto cells = on_points[point];
            owners[point] = cells.empty() ? of_unused : most_frequent<Id>(cells, result.cell_holders);
        }
    });
    Csr by_owner = invert(std::span<const index_t>(owners), nobody + 1, threads);
    by_owner.offsets.pop_back();
    by_owner.entries.resize(by_owner.offsets.back());

    Vector<Id> number(n_points);
    for (index_t i = 0; i < std::ssize(by_owner.entries); ++i) number[by_owner.entries[i]] = static_cast<Id>(i);
    parallel_for(std::ssize(result.rows.entries), threads, 8 * grain, [&](index_t begin, index_t end, int) {
        for (index_t i = begin; i < end; ++i) result.rows.entries[i] = number[result.rows.entries[i]];
    });
    result.on_points = rows_in_order(on_points, by_owner.entries, threads);
    result.point_holders = holder_of_each(by_owner.offsets);
    result.point_starts = std::move(by_owner.offsets);
    result.point_ids = std::move(by_owner.entries);
    if (!is_whole) {
        for (index_t& id : result.point_ids) id = ids[id];
    }
    return result;
}

template Grouped<std::uint32_t> regroup(const MeshView&, std::span<const part_t>, part_t, std::span<const part_t>,
                                        index_t, int);
template Grouped<index_t> regroup(const MeshView&, std::span<const part_t>, part_t, std::span<const part_t>, index_t,
                                  int);

}  // namespace meshpart
