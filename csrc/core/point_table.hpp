// The points of one part, met one after another.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "checks.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// Numbers the points of a part's cells in the order in which it meets them, and counts the cells on each. A hash table,
// so that a part costs what it holds and not what the mesh does.
class PointTable {
  public:
    // Forgets the last part and looks at the cells of another.
    void read(const MeshView& mesh, std::span<const index_t> cells);

    // The points, each once, as they were met.
    std::span<const index_t> points() const { return points_; }

    // For each point, how many of the cells use it; a cell that names it twice counts once.
    std::span<const std::int32_t> cell_counts() const { return cell_counts_; }

    // The rows of the cells, one after another, as numbers of `points`.
    std::span<const std::int32_t> rows() const { return rows_; }

  private:
    struct Entry {
        index_t point = -1;
        std::int32_t number = 0;
    };
    static constexpr std::uint64_t run = 8;  // points with consecutive ids lie together, in runs of this many

    std::vector<Entry> entries_;
    int shift_ = 0;
    std::vector<index_t> points_;
    std::vector<std::int32_t> cell_counts_, last_cell_;
    Vector<std::int32_t> rows_;

    std::int32_t number_of(index_t point);
    Entry& find(index_t point);
    void resize(std::uint64_t capacity);
};

}  // namespace meshpart
