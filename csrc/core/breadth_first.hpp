// Breadth-first orders of some of a graph's vertices, whose beginnings are compact.
#pragma once

#include <span>
#include <vector>

#include "graph.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

class BreadthFirst {
  public:
    explicit BreadthFirst(GraphView graph) : graph_(graph), mark_(graph.n_vertices(), 0) {}

    // Sorts vertices by their distance, inside the set, from one that lies far out; where the set falls apart, piece
    // after piece. O(vertices + their edges).
    void sort(std::span<index_t> vertices);

  private:
    void grow(index_t start, index_t from, index_t to);

    GraphView graph_;
    Vector<index_t> mark_;  // (n_vertices): the search that reached each last
    index_t searches_ = 0;
    std::vector<index_t> order_;
};

}  // namespace meshpart
