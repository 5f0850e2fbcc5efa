// Points joined by the edges of cells.
#pragma once

#include "csr.hpp"
#include "outline.hpp"
#include "types.hpp"

namespace meshpart {

// The graph of the points: symmetric, no loops, each row strictly ascending. Consecutive points of a pattern are
// joined, so that a mid-side point is a neighbour of the points beside it on its edge and the corners of that edge are
// not neighbours of each other; consecutive corners of a polygon, or of a polyhedron's face, are joined, and the last
// with the first.
//
//   edges    of the blocks of the mesh; its patterns are the points along each edge, corners at the ends
//   threads  the result is the same for any number
//
// Throws std::out_of_range if an id or a position is not there, std::invalid_argument if `edges` has other blocks.
// Linear in the steps along edges, and in memory two ids for each of them besides the result.
Csr point_graph(const MeshView& mesh, const OutlineView& edges, int threads);

// The same, where every id of a point fits an Id: std::uint32_t or index_t.
template <class Id>
Csr point_graph_in(const MeshView& mesh, const OutlineView& edges, int threads);

}  // namespace meshpart
