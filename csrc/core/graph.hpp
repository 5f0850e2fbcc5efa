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

}  // namespace meshpart
