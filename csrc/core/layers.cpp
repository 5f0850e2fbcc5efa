#include "layers.hpp"

#include <algorithm>

#include "checks.hpp"
#include "rows_ahead.hpp"

namespace meshpart {
namespace {

void sort_by_owner_and_id(std::vector<Ghost>& ghosts) {
    std::ranges::sort(
        ghosts, [](const Ghost& a, const Ghost& b) { return a.owner != b.owner ? a.owner < b.owner : a.id < b.id; });
}

}  // namespace

LayerSearch::LayerSearch(const Surroundings& around)
    : around_(around), cell_marks_(around.mesh.n_cells(), 0), point_marks_(around.mesh.n_points, 0) {}

void LayerSearch::run(part_t part, std::span<const index_t> owned, std::int32_t layers) {
    ++search_;
    met_.clear();
    cells_.clear();
    points_.clear();
    for (const index_t cell : owned) cell_marks_[cell] = search_;
    for_each_row(around_.mesh, owned, [&](index_t, std::span<const index_t> points) { meet(points); });
    add_points(part, 0, 0);

    index_t begin = 0;
    for (std::int32_t layer = 1; layer <= layers && begin < std::ssize(met_); ++layer) {
        const index_t end = std::ssize(met_), first = std::ssize(cells_);
        for (index_t i = begin; i < end; ++i) {
            if (layer == 1 && !around_.shared[met_[i]]) continue;  // all cells on it are owned
            for (const index_t cell : around_.on_points[met_[i]]) {
                if (cell_marks_[cell] == search_) continue;
                cell_marks_[cell] = search_;
                cells_.push_back({around_.labels[cell], layer, cell});
            }
        }
        for (index_t i = first; i < std::ssize(cells_); ++i) meet(around_.mesh.cells[cells_[i].id]);
        add_points(part, end, layer);
        begin = end;
    }

    sort_by_owner_and_id(cells_);
    sort_by_owner_and_id(points_);
    point_complete_.clear();
    for (const Ghost& point : points_) point_complete_.push_back(point.layer < layers || all_local(point.id));
}

// Takes up the points that the search has not met.
void LayerSearch::meet(std::span<const index_t> points) {
    for (const index_t point : points) {
        require_in_range(point, around_.mesh.n_points);
        if (point_marks_[point] == search_) continue;
        point_marks_[point] = search_;
        met_.push_back(point);
    }
}

// Adds the ghosts among the points met from `begin` on.
void LayerSearch::add_points(part_t part, index_t begin, std::int32_t layer) {
    for (index_t i = begin; i < std::ssize(met_); ++i) {
        const part_t owner = around_.point_owners[met_[i]];
        if (owner != part) points_.push_back({owner, layer, met_[i]});
    }
}

bool LayerSearch::all_local(index_t point) const {
    return std::ranges::all_of(around_.on_points[point], [&](index_t cell) { return cell_marks_[cell] == search_; });
}

}  // namespace meshpart
