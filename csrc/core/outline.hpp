// What bounds the cells: their facets, or their edges, as positions in a cell's row of points.
#pragma once

#include <span>

#include "types.hpp"

namespace meshpart {

// The cells of a block with a fixed number of corners all have the same pattern. A block without one holds polygons,
// whose sides join consecutive points, or polyhedra, which have faces of their own.
struct OutlineView {
    CsrView patterns;                           // a row: positions of one facet's corners, or of the points of an edge
    std::span<const index_t> pattern_starts;    // (n_blocks + 1): the rows of `patterns` that block b's cells have
    CsrView faces;                              // of all polyhedra, block after block
    std::span<const index_t> face_starts;       // (n_polyhedra + 1): where each polyhedron's faces begin
    std::span<const index_t> polyhedra_before;  // (n_blocks): polyhedra in the blocks before, -1 where it holds none
};

}  // namespace meshpart
