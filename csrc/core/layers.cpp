#include "layers.hpp"

#include <algorithm>

namespace meshpart {

template <class Id>
LayerSearch<Id>::LayerSearch(const Grouped<Id>& mesh)
    : mesh_(mesh), cell_marks_(mesh.rows.n_rows(), 0), point_marks_(mesh.on_points.n_rows(), 0) {}

template <class Id>
void LayerSearch<Id>::run(index_t holder, std::int32_t layers) {
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
    index_t begin = 0;
    for (std::int32_t layer = 1; layer <= layers && begin < std::ssize(met_); ++layer) {
        const index_t end = std::ssize(met_), first = std::ssize(cells_);
        for (index_t i = begin; i < end; ++i) {
            for (const Id cell : mesh_.cells_on(met_[i])) {
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
        begin = end;
    }

    if (layers > 1) std::ranges::sort(cells_, {}, &Ghost<Id>::number);
    std::ranges::sort(points_, {}, &Ghost<Id>::number);
    point_complete_.clear();
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

}  // namespace meshpart
