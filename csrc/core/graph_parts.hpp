// The parts of a directed graph: what each needs to compute for its own vertices what comes along the edges.
#pragma once

#include <span>

#include "local_order.hpp"
#include "types.hpp"

namespace meshpart {

// Several parts, one after another.
struct GraphParts {
    Entities vertices;
    Vector<std::uint8_t> complete;  // as vertices.ids.entries: whether all senders of edges into the vertex are local
    Vector<index_t> row_offsets;    // n_local + 1 of each part, from 0 on: the rows of edges into its vertices
    Vector<index_t> edge_offsets;   // (n_parts + 1): where the edges of each part begin in the next two
    Vector<index_t> senders;        // local ids
    Vector<index_t> edge_ids;       // positions among the graph's entries, ascending in a row
};

// Builds parts of a directed graph. Layer 1 of a part: the vertices that it does not own and from which an edge leads
// to one that it owns; layer k: those not yet taken from which an edge leads to layer k - 1. The edges into vertices of
// all layers but the last are the part's; the rows of the last layer are empty.
//
//   graph   row v: the targets of the edges that leave v, in 0..n_vertices-1, or throws std::out_of_range
//   owned   row p: the vertices that part p owns, ascending; together every vertex once
//   parts   which ones to build, strictly ascending
//   layers  how many there shall be at most
//
// Costs the graph, an array of its vertices for each thread, and what the parts hold; where not all parts are built,
// the edges by which those that are reach others, too. Of the last layer it costs the edges between local vertices.
GraphParts graph_parts(CsrView graph, CsrView owned, std::span<const part_t> parts, std::int32_t layers, int threads);

}  // namespace meshpart
