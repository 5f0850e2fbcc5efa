// The directed edges that a part's message passing walks, in the order in which it wants them.
#pragma once

#include <cstdint>
#include <span>

#include "csr.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// Who sends to whom among the entities of a part: the owned ones, 0..n_owned-1, and the ghosts after them.
struct PartGraph {
    CsrView rows;  // row v: the senders to v
    index_t n_owned;
    std::span<const index_t> global_ids;  // (n_rows)
    // What the ids of edges are found from, or both empty.
    std::span<const index_t> row_starts;  // (n_rows): the id of the first edge to each entity
    std::span<const index_t> edge_ids;    // (rows.entries): the ids themselves
};

// Edges in groups. In a group they go by receiver, and those to one receiver by the global id of their sender, so that
// a sum over them is the serial sum bit for bit.
struct LocalEdges {
    Vector<index_t> ends;     // (2 * n_edges): all senders, then all receivers
    Vector<index_t> ids;      // (n_edges): row_starts[receiver] + the sender's rank, or as given; empty without either
    Vector<index_t> offsets;  // (n_groups + 1): where each group begins, and the end of the last

    index_t n_edges() const { return offsets.back(); }
    std::span<const index_t> senders() const { return std::span(ends).first(n_edges()); }
    std::span<const index_t> receivers() const { return std::span(ends).last(n_edges()); }
};

// All edges to the owned entities and to the ghosts that are up to steps - 1 edges, walked backwards, from one.
//
//   steps  at least 1
//
// Group 0: to owned entities that have owned senders only, group 1: to the other owned ones, group 1 + h: to ghosts h
// edges away, for each h up to the last that there is. Linear, but for the sorting of rows. Throws std::out_of_range if
// there is no such sender.
LocalEdges edges_within(const PartGraph& graph, index_t steps, int threads);

// The chosen edges. Group 0: to owned entities that, of these edges, have those from owned senders only, group 1: to
// the other owned ones, group 2: to ghosts. An edge that is not chosen still counts in the ranks of others.
//
//   chosen  (rows.entries): 1 or 0
LocalEdges chosen_edges(const PartGraph& graph, std::span<const std::uint8_t> chosen, int threads);

// Which edges of a graph are in `own` and not in `lower`: 1 or 0 for each of rows.entries. The three graphs are over
// the same vertices, and their rows ascend.
Vector<std::uint8_t> edges_of_own_alone(CsrView rows, CsrView own, CsrView lower, int threads);

}  // namespace meshpart
