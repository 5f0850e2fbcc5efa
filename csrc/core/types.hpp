// The integer types by role, and the two views that the core is written over.
#pragma once

#include <cstdint>
#include <span>

namespace meshpart {

using index_t = std::int64_t;   // counts and names points, cells, entries
using part_t = std::int32_t;    // a part, a label
using weight_t = std::int64_t;  // the weight of a unit; sums stay below 2^62

// Rows of different lengths: row i is entries[offsets[i]] .. entries[offsets[i + 1] - 1].
struct CsrView {
    std::span<const index_t> offsets;  // (n_rows + 1), not empty
    std::span<const index_t> entries;

    index_t n_rows() const { return std::ssize(offsets) - 1; }
    std::span<const index_t> operator[](index_t row) const {
        return entries.subspan(offsets[row], offsets[row + 1] - offsets[row]);
    }
};

// A mesh without geometry: the points of every cell, corners first, and the blocks that the cells lie in.
struct MeshView {
    index_t n_points;
    CsrView cells;                                // row c: the points of cell c
    std::span<const index_t> block_starts;        // (n_blocks + 1): the first cell of each block, and n_cells
    std::span<const std::int32_t> block_dims;     // (n_blocks): topological dimension, 0..3
    std::span<const std::int32_t> block_corners;  // (n_blocks): corners of each cell, -1 if it has only corners
    std::span<const index_t> block_widths;        // (n_blocks): points of each cell, -1 if they differ

    index_t n_cells() const { return cells.n_rows(); }
    index_t n_blocks() const { return std::ssize(block_dims); }
    index_t row_length(index_t block, index_t cell) const {
        return block_widths[block] < 0 ? std::ssize(cells[cell]) : block_widths[block];
    }
    std::span<const index_t> corners(index_t block, index_t cell) const {
        const auto points = cells[cell];
        return block_corners[block] < 0 ? points : points.first(block_corners[block]);
    }
};

}  // namespace meshpart
