// Which lower-dimensional cells hang on higher ones.
#pragma once

#include <span>
#include <vector>

#include "csr.hpp"
#include "types.hpp"

namespace meshpart {

enum Kind : std::uint8_t {
    top = 0,       // of the highest dimension in the mesh
    attached = 1,  // lower, and all corner points are points of one higher-dimensional cell
    free_cell = 2  // lower, and in no higher one
};

struct Attachment {
    std::vector<std::uint8_t> kinds;  // (n_cells)
    std::vector<index_t> cells;       // the attached cells, those of higher dimension first, then ascending
    std::vector<index_t> rows;        // for each of them its row of `parents`; cells with the same corners share one
    Csr parents;                      // ascending
};

// The kind of every cell, and the parents of the attached ones: the top and free cells of higher dimension that have
// all of its corner points; where only attached cells have them, those.
//
// Costs the points that lower-dimensional cells use, and for each set of corners the shortest list of higher cells on
// one of them, times a logarithm.
Attachment attachment(const MeshView& mesh);

// Gives every attached cell the lowest label among its parents.
//
//   cells, rows, parents  as of an Attachment
//   labels                (n_cells), set for top and free cells
void label_attached(std::span<const index_t> cells, std::span<const index_t> rows, CsrView parents,
                    std::span<part_t> labels);

}  // namespace meshpart
