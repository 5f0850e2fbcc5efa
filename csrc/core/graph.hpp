// Graphs as the core takes and gives them: symmetric, no loops, each row strictly ascending.
#pragma once

#include <span>

#include "csr.hpp"
#include "types.hpp"

namespace meshpart {

// A graph whose row i lists the neighbours of vertex i.
struct GraphView {
    CsrView rows;
    std::span<const weight_t> vertex_weights;  // (n_vertices), or empty: all 1
    std::span<const weight_t> edge_weights;    // one an entry of the rows, or empty: all 1

    index_t n_vertices() const { return rows.n_rows(); }
    weight_t vertex_weight(index_t vertex) const { return vertex_weights.empty() ? 1 : vertex_weights[vertex]; }
    weight_t edge_weight(index_t entry) const { return edge_weights.empty() ? 1 : edge_weights[entry]; }
};

// What is wrong with rows that should be a graph.
enum class Flaw { none, target_out_of_range, not_ascending, loop, not_symmetric, negative_weight, weights_differ };

struct Finding {
    Flaw flaw = Flaw::none;
    index_t vertex = -1;  // the row in which it was found, and the entry's target
    index_t target = -1;
};

// The first flaw of a graph whose offsets are right, or Flaw::none. Rows that ascend and are read in order meet their
// counterparts in order too, so that symmetry costs one counter a row.
Finding check_graph(GraphView graph);

// A graph that owns its memory.
struct Graph {
    Csr rows;
    Vector<weight_t> edge_weights;
};

// The graph of groups of vertices: edges between two groups are merged and their weights added, edges inside a group
// and at vertices of group -1 are dropped.
//
//   groups  (n_vertices), in -1..n_groups-1
Graph contract(GraphView graph, std::span<const index_t> groups, index_t n_groups);

}  // namespace meshpart
