#include "point_table.hpp"

namespace meshpart {

void PointTable::read(const MeshView& mesh, std::span<const index_t> cells) {
    require_countable(std::ssize(cells));
    points_.clear();
    cell_counts_.clear();
    last_cell_.clear();
    rows_.clear();
    resize(std::bit_ceil(2 * cells.size() | run));
    for (index_t i = 0; i < std::ssize(cells); ++i) {
        // In a shuffled mesh each row is far away: ask for it before it is needed.
        constexpr index_t ahead = 8;
        const index_t* offsets = mesh.cells.offsets.data();
        if (i + 2 * ahead < std::ssize(cells)) __builtin_prefetch(offsets + cells[i + 2 * ahead]);
        if (i + ahead < std::ssize(cells)) __builtin_prefetch(mesh.cells.entries.data() + offsets[cells[i + ahead]]);
        const auto points = mesh.cells[cells[i]];
        rows_.resize(rows_.size() + points.size());
        std::int32_t* row = rows_.data() + rows_.size() - points.size();
        for (const index_t point : points) {
            require_in_range(point, mesh.n_points);
            const std::int32_t number = number_of(point);
            cell_counts_[number] += last_cell_[number] != i;
            last_cell_[number] = static_cast<std::int32_t>(i);
            *row++ = number;
        }
    }
}

// The number of a point, the next one if it is new.
std::int32_t PointTable::number_of(index_t point) {
    Entry* entry = &find(point);
    if (entry->point == point) return entry->number;
    require_countable(std::ssize(points_) + 1);
    const auto number = static_cast<std::int32_t>(points_.size());
    points_.push_back(point);
    cell_counts_.push_back(0);
    last_cell_.push_back(-1);
    if (2 * points_.size() > entries_.size()) {
        resize(2 * entries_.size());
        for (std::int32_t old = 0; old < number; ++old) find(points_[old]) = {points_[old], old};
        entry = &find(point);
    }
    *entry = {point, number};
    return number;
}

// The entry of a point, or the free one where it would lie.
PointTable::Entry& PointTable::find(index_t point) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // Fibonacci hashing: Knuth, TAOCP 3, section 6.4
    const auto id = static_cast<std::uint64_t>(point);
    std::uint64_t hash = id / run * golden;
    hash = (hash ^ hash >> 32) * golden;  // once more, for ids that are spaced by the one number that once is bad for
    const std::uint64_t bucket = shift_ == 64 ? 0 : hash >> shift_;
    std::uint64_t slot = bucket * run + id % run;
    while (entries_[slot].point != point && entries_[slot].point >= 0) slot = (slot + 1) & (entries_.size() - 1);
    return entries_[slot];
}

void PointTable::resize(std::uint64_t capacity) {
    entries_.assign(capacity, Entry{});
    shift_ = 64 - std::countr_zero(capacity / run);
}

}  // namespace meshpart
