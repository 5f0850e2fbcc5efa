#include "layers.hpp"

#include <algorithm>

namespace meshpart {

template <class Id>
LayerSearch<Id>::LayerSearch(const Grouped<Id>& mesh)
    : mesh_(mesh), cell_marks_(mesh.cell_ids.size(), 0), point_marks_(mesh.point_ids.size(), 0) {}

template <class Id>
void LayerSearch<Id>::run(index_t holder, std::int32_t layers) {
    ++search_;
    met_.clear();
    cells_.clear();
    points_.clear();
    const index_t first_owned = mesh_.cell_starts[holder], last_owned = mesh_.cell_starts[holder + 1];
    std::fill(cell_marks_.begin() + first_owned, cell_marks_.begin() + last_owned, search_);
    for (index_t cell = first_owned; cell < last_owned; ++cell) meet(cell);
    add_points(holder, 0, 0);

    index_t begin = 0;
    for (std::int32_t layer = 1; layer <= layers && begin < std::ssize(met_); ++layer) {
        const index_t end = std::ssize(met_), first = std::ssize(cells_);
        for (index_t i = begin; i < end; ++i) {
            if (layer == 1 && !mesh_.is_shared(met_[i])) continue;  // all cells on it are owned
            for (const Id cell : mesh_.on_points[met_[i]]) {
                if (cell_marks_[cell] == search_) continue;
                cell_marks_[cell] = search_;
                cells_.push_back({cell, layer});
            }
        }
        for (index_t i = first; i < std::ssize(cells_); ++i) meet(cells_[i].number);
        add_points(holder, end, layer);
        begin = end;
    }

    std::ranges::sort(cells_, {}, &Ghost<Id>::number);
    std::ranges::sort(points_, {}, &Ghost<Id>::number);
    const auto is_complete = [&](const Ghost<Id>& point) {
        return point.layer < layers ||
               std::ranges::all_of(
                   mesh_.on_points[point.number], [&](Id cell) { return cell_marks_[cell] == search_; });
    };
    point_complete_.clear();
    for (const auto& point : points_) point_complete_.push_back(is_complete(point));
}

// Takes up the points of a cell that the search has not met.
template <class Id>
void LayerSearch<Id>::meet(index_t cell) {
    for (const Id point : mesh_.rows[cell]) {
        if (point_marks_[point] == search_) continue;
        point_marks_[point] = search_;
        met_.push_back(point);
    }
}

// Adds the ghosts among the points met from `begin` on.
template <class Id>
void LayerSearch<Id>::add_points(index_t holder, index_t begin, std::int32_t layer) {
    const index_t first_owned = mesh_.point_starts[holder], last_owned = mesh_.point_starts[holder + 1];
    for (index_t i = begin; i < std::ssize(met_); ++i) {
        const auto point = static_cast<index_t>(met_[i]);
        if (point < first_owned || point >= last_owned) points_.push_back({met_[i], layer});
    }
}

template class LayerSearch<std::uint32_t>;
template class LayerSearch<index_t>;

}  // namespace meshpart
