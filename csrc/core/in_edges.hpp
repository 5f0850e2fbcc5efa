// The edges of a directed graph by where they lead to.
#pragma once

#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// Rows of a directed graph turned round: the edges into vertex v are entries offsets[v] .. offsets[v + 1] - 1, by
// ascending number. An edge's number is its position among the entries of the graph.
struct InEdges {
    Vector<index_t> offsets;  // (n_vertices + 1)
    Vector<index_t> senders;  // (n_edges): the name of where each edge comes from
    Vector<index_t> edges;    // (n_edges): its number

    index_t n_vertices() const { return std::ssize(offsets) - 1; }
    index_t count(index_t vertex) const { return offsets[vertex + 1] - offsets[vertex]; }
};

// Turns the rows of a graph round; loops and parallel edges stay.
//
//   graph  row v: the targets of the edges that leave v, in 0..n_vertices-1, or throws std::out_of_range
//   names  (n_vertices): what each vertex is called as a sender
InEdges in_edges(CsrView graph, std::span<const index_t> names, int threads);

}  // namespace meshpart
