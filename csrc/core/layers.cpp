#include "layers.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "merge_runs.hpp"
#include "range_finder.hpp"

namespace meshpart {

template <class Id>
LayerSearch<Id>::LayerSearch(const Grouped<Id>& mesh)
    : mesh_(mesh), cell_marks_(mesh.rows.n_rows(), 0), point_marks_(mesh.on_points.n_rows(), 0) {}

template <class Id>
void LayerSearch<Id>::run(index_t holder, std::int32_t layers, bool asked) {
    begin_search();
    const index_t first_point = mesh_.point_starts[holder], last_point = mesh_.point_starts[holder + 1];
    const auto is_owned_point = [&](Id rank) {
        const auto point = static_cast<index_t>(rank);
        return point >= first_point && point < last_point;
    };
    const auto meet = [&](Id rank, std::int32_t layer) {
        if (point_marks_[rank] == search_) return;
        point_marks_[rank] = search_;
        met_.push_back(rank);
        if (!is_owned_point(rank)) points_.push_back({rank, layer});
    };
    // All ways out of a part lead over the points that its cells share with others.
    for (const Id rank : mesh_.shared_points[holder]) meet(rank, 0);

    const index_t first_cell = mesh_.cell_starts[holder], last_cell = mesh_.cell_starts[holder + 1];
    const auto is_local = [&](Id cell) {
        const auto number = static_cast<index_t>(cell);
        return (number >= first_cell && number < last_cell) || cell_marks_[cell] == search_;
    };
    std::vector<index_t> layer_ends{0};
    index_t begin = 0;
    for (std::int32_t layer = 1; layer <= layers && begin < std::ssize(met_); ++layer) {
        const index_t end = std::ssize(met_), first = std::ssize(cells_);
        const bool near_alone = layer == layers && !asked;  // whatever the number of cells on a point
        for (index_t i = begin; i < end; ++i) {
            for (const Id cell : near_alone ? mesh_.near_cells_on(met_[i]) : mesh_.cells_on(met_[i])) {
                if (is_local(cell)) continue;
                cell_marks_[cell] = search_;
                cells_.push_back({cell, layer});
            }
        }
        const auto found = std::span(cells_).subspan(first);
        std::ranges::sort(found, {}, &Ghost<Id>::number);  // so that memory is read in one direction
        for_each_point_of(found, [&](Id rank) {
            if (!is_owned_point(rank)) meet(rank, layer);  // those are on owned cells, and have been met if shared
        });
        layer_ends.push_back(std::ssize(cells_));
        begin = end;
    }

    merge_runs(std::span(cells_), layer_ends, scratch_, &Ghost<Id>::number);
    std::ranges::sort(points_, {}, &Ghost<Id>::number);
    point_complete_.clear();
    if (!asked) return;
    for (const auto& [rank, layer] : points_) {
        point_complete_.push_back(layer < layers || std::ranges::all_of(mesh_.cells_on(rank), is_local));
    }
}

template <class Id>
void LayerSearch<Id>::begin_search() {
    if (++search_ == 0) {
        std::ranges::fill(cell_marks_, std::uint8_t{0});
        std::ranges::fill(point_marks_, std::uint8_t{0});
        search_ = 1;
    }
    met_.clear();
    cells_.clear();
    points_.clear();
}

// Calls visit(rank) for the points of cells. Their rows are far apart, so each is asked for before it is needed.
template <class Id>
template <class Visit>
void LayerSearch<Id>::for_each_point_of(std::span<const Ghost<Id>> cells, Visit&& visit) const {
    constexpr index_t ahead = 6;
    const index_t* const offsets = mesh_.rows.offsets.data();
    for (index_t i = 0; i < std::ssize(cells); ++i) {
        if (i + 2 * ahead < std::ssize(cells)) __builtin_prefetch(offsets + cells[i + 2 * ahead].number);
        if (i + ahead < std::ssize(cells)) {
            __builtin_prefetch(mesh_.rows.entries.data() + offsets[cells[i + ahead].number]);
        }
        for (const Id rank : mesh_.rows[cells[i].number]) visit(rank);
    }
}

template class LayerSearch<std::uint32_t>;
template class LayerSearch<index_t>;

template <class Id>
std::vector<std::uint8_t> surely_have_all_of(const Grouped<Id>& mesh, index_t holder, std::int32_t layers) {
    std::vector<std::uint8_t> result(mesh.n_holders(), 0);
    const auto shared = mesh.shared_points[holder];
    if (shared.empty()) return result;

    // Steps from a point to cells, 0 to those on it: to the nearest of each holder, to the farthest of the one.
    constexpr index_t unknown = std::numeric_limits<index_t>::max();
    std::vector<index_t> nearest(mesh.n_holders(), unknown);
    index_t farthest = 0, n_left = mesh.cell_starts[holder + 1] - mesh.cell_starts[holder];
    std::vector<Id> points{*std::ranges::max_element(shared, {}, [&](Id rank) { return mesh.cells_on(rank).size(); })};
    std::vector<Id> cells;
    Vector<std::uint8_t> cell_marks(mesh.rows.n_rows(), 0), point_marks(mesh.on_points.n_rows(), 0);
    RangeFinder holder_of(mesh.cell_starts);
    for (index_t step = 0; step < layers && !points.empty(); ++step) {
        cells.clear();
        for (const Id rank : points) {
            for (const Id cell : mesh.cells_on(rank)) {
                if (std::exchange(cell_marks[cell], std::uint8_t{1})) continue;
                cells.push_back(cell);
                const index_t h = holder_of(static_cast<index_t>(cell));
                nearest[h] = std::min(nearest[h], step);
                if (h != holder) continue;
                farthest = step;
                --n_left;
            }
        }
        points.clear();
        for (const Id cell : cells) {
            for (const Id rank : mesh.rows[cell]) {
                if (!std::exchange(point_marks[rank], std::uint8_t{1})) points.push_back(rank);
            }
        }
    }
    if (n_left > 0) return result;
    // From a cell to the point, and by one step more over it and on.
    for (index_t h = 0; h < mesh.n_holders(); ++h) result[h] = h != holder && nearest[h] < layers - farthest;
    return result;
}

template std::vector<std::uint8_t> surely_have_all_of(const Grouped<std::uint32_t>&, index_t, std::int32_t);
template std::vector<std::uint8_t> surely_have_all_of(const Grouped<index_t>&, index_t, std::int32_t);

}  // namespace meshpart
