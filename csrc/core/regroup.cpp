#include "regroup.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "checks.hpp"
#include "csr.hpp"
#include "parallel.hpp"
#include "range_finder.hpp"
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
    if (3 * std::ssize(parts) > nparts) return order_of_all(labels, nparts, threads);
    return order_of_some(cells_around(mesh, labels, parts, layers + 1, threads), labels, parts);
}

// The points of cells, read once, since they may change.
template <class Id>
Rows<Id> rows_of(const MeshView& mesh, std::span<const index_t> cells, int threads) {
    const bool one_block = mesh.n_blocks() == 1;
    Rows<Id> rows{Vector<index_t>(cells.size() + 1), {}};
    rows.offsets[0] = 0;
    for (index_t i = 0; i < std::ssize(cells); ++i) {
        const index_t length = one_block ? mesh.row_length(0, cells[i]) : std::ssize(mesh.cells[cells[i]]);
        rows.offsets[i + 1] = rows.offsets[i] + length;
    }
    rows.entries.resize(rows.offsets.back());
    parallel_for(std::ssize(cells), threads, grain, [&](index_t begin, index_t end, int) {
        constexpr index_t ahead = 16;  // in a shuffled mesh each row is far away: ask for it before it is needed
        const index_t* const offsets = mesh.cells.offsets.data();
        Id* to = rows.entries.data() + rows.offsets[begin];
        for (index_t i = begin; i < end; ++i) {
            if (i + 2 * ahead < end) __builtin_prefetch(offsets + cells[i + 2 * ahead]);
            if (i + ahead < end) __builtin_prefetch(mesh.cells.entries.data() + offsets[cells[i + ahead]]);
            for (const index_t point : mesh.cells[cells[i]]) {
                require_in_range(point, mesh.n_points);
                *to++ = static_cast<Id>(point);
            }
        }
    });
    return rows;
}

// Numbers the points of rows in the order in which they are met, and after them those in no cell of the mesh, if these
// are wanted. Returns their global ids.
template <class Id>
Vector<index_t> number_points(const MeshView& mesh, Rows<Id>& rows, bool with_unused) {
    constexpr Id none = std::numeric_limits<Id>::max();
    Vector<Id> number(mesh.n_points, none);
    Vector<index_t> ids;
    for (Id& point : rows.entries) {
        Id& own = number[point];
        if (own == none) {
            own = static_cast<Id>(ids.size());
            ids.push_back(static_cast<index_t>(point));
        }
        point = own;
    }
    if (!with_unused) return ids;
    if (rows.n_rows() < mesh.n_cells()) {  // cells that are not among the rows use points too
        for (const index_t point : mesh.cells.entries) {
            require_in_range(point, mesh.n_points);
            number[point] = 0;
        }
    }
    for (index_t point = 0; point < mesh.n_points; ++point) {
        if (number[point] == none) ids.push_back(point);
    }
    return ids;
}

// Calls visit(holder, count) for those who own the cells on a point, ascending, and how many; cells ascend as holders
// do.
template <class Id, class Visit>
void for_each_holder(std::span<const Id> cells, RangeFinder& holder_of, Visit&& visit) {
    for (auto first = cells.begin(); first != cells.end();) {
        const index_t holder = holder_of(static_cast<index_t>(*first));
        const auto end = static_cast<Id>(holder_of.end(holder));
        const auto last = std::find_if(first, cells.end(), [end](Id cell) { return cell >= end; });
        visit(holder, last - first);
        first = last;
    }
}

// Finds who shares each point, and who owns it. Returns the owners.
template <class Id>
Vector<index_t> find_holders_of_points(Grouped<Id>& grouped, int threads) {
    struct Share {
        index_t holder;
        Id point;
    };
    const index_t n_points = grouped.on_points.n_rows();
    Vector<index_t> owners(n_points);
    grouped.is_shared.resize(n_points);
    std::vector<std::vector<Share>> shares((n_points + grain - 1) / grain);
    parallel_for(n_points, threads, grain, [&](index_t begin, index_t end, int) {
        auto& own = shares[begin / grain];
        RangeFinder holder_of(grouped.cell_starts);
        for (index_t point = begin; point < end; ++point) {
            index_t owner = 0;  // of a point in no cell: part 0, which is here if such points are
            index_t most = 0;
            const auto n_before = own.size();
            for_each_holder<Id>(grouped.on_points[point], holder_of, [&](index_t holder, index_t count) {
                if (count > most) owner = holder;
                most = std::max(most, count);
                own.push_back({holder, static_cast<Id>(point)});
            });
            owners[point] = owner;
            grouped.is_shared[point] = own.size() > n_before + 1;
            if (!grouped.is_shared[point]) own.resize(n_before);
        }
    });
    auto& offsets = grouped.shared_points.offsets;
    offsets.assign(grouped.n_holders() + 1, 0);
    for (const auto& own : shares) {
        for (const Share& share : own) ++offsets[share.holder + 1];
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    grouped.shared_points.entries.resize(offsets.back());
    std::vector<index_t> next(offsets.begin(), offsets.end() - 1);
    for (const auto& own : shares) {
        for (const Share& share : own) grouped.shared_points.entries[next[share.holder]++] = share.point;
    }
    return owners;
}

// Ranks the points by (owner, global id), and names them by rank in rows and lists.
template <class Id>
void rank_points(Grouped<Id>& grouped, std::span<const index_t> ids, std::span<const index_t> owners, int threads) {
    Csr by_owner = invert(owners, grouped.n_holders(), threads);
    grouped.point_starts = std::move(by_owner.offsets);
    grouped.points_by_rank.resize(ids.size());
    grouped.point_ids.resize(ids.size());
    Vector<Id> ranks(ids.size());
    parallel_for(grouped.n_holders(), threads, 1, [&](index_t h, index_t, int) {
        const index_t first = grouped.point_starts[h], last = grouped.point_starts[h + 1];
        std::sort(by_owner.entries.begin() + first, by_owner.entries.begin() + last,
                  [&](index_t a, index_t b) { return ids[a] < ids[b]; });
        for (index_t rank = first; rank < last; ++rank) {
            const index_t point = by_owner.entries[rank];
            grouped.points_by_rank[rank] = static_cast<Id>(point);
            grouped.point_ids[rank] = ids[point];
            ranks[point] = static_cast<Id>(rank);
        }
    });
    for (auto* entries : {&grouped.rows.entries, &grouped.shared_points.entries}) {
        parallel_for(std::ssize(*entries), threads, 8 * grain, [&](index_t begin, index_t end, int) {
            for (index_t i = begin; i < end; ++i) (*entries)[i] = ranks[(*entries)[i]];
        });
    }
}

// Keeps of the cells on each point those near the parts that matter.
template <class Id>
void keep_near(Grouped<Id>& grouped, std::span<const part_t> parts) {
    std::vector<std::uint8_t> is_near(grouped.rows.n_rows(), 0), is_owned(grouped.point_ids.size(), 0);
    for (const part_t part : parts) {
        const index_t h = std::ranges::lower_bound(grouped.holders, part) - grouped.holders.begin();
        std::fill(is_near.begin() + grouped.cell_starts[h], is_near.begin() + grouped.cell_starts[h + 1], 1);
        std::fill(is_owned.begin() + grouped.point_starts[h], is_owned.begin() + grouped.point_starts[h + 1], 1);
    }
    for (index_t cell = 0; cell < grouped.rows.n_rows(); ++cell) {
        for (const Id rank : grouped.rows[cell]) is_near[cell] |= is_owned[rank];
    }
    auto& [offsets, entries] = grouped.near_on_points;
    offsets.push_back(0);
    for (index_t point = 0; point < grouped.on_points.n_rows(); ++point) {
        for (const Id cell : grouped.on_points[point]) {
            if (is_near[cell]) entries.push_back(cell);
        }
        offsets.push_back(std::ssize(entries));
    }
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
    result.rows = rows_of<Id>(mesh, result.cell_ids, threads);

    const bool wants_part_0 = !parts.empty() && parts[0] == 0;
    const Vector<index_t> point_ids = number_points(mesh, result.rows, wants_part_0);
    result.on_points = turned_round<Id>(result.rows.n_rows(), std::ssize(result.rows.entries), std::ssize(point_ids),
                                        threads, [&](index_t cell) { return result.rows[cell]; });
    const Vector<index_t> owners = find_holders_of_points(result, threads);
    rank_points<Id>(result, point_ids, owners, threads);
    if (std::ssize(parts) < result.n_holders()) keep_near(result, parts);
    return result;
}

template Grouped<std::uint32_t> regroup(const MeshView&, std::span<const part_t>, part_t, std::span<const part_t>,
                                        index_t, int);
template Grouped<index_t> regroup(const MeshView&, std::span<const part_t>, part_t, std::span<const part_t>, index_t,
                                  int);

}  // namespace meshpart
