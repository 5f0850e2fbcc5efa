// Small graphs for the tests of the core: drawn ones, and random ones.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/graph.hpp"
#include "random.hpp"

namespace meshpart::testing {

// A graph that owns its arrays. Weights that are empty are all 1.
struct OwnedGraph {
    std::vector<index_t> offsets{0}, targets;
    std::vector<weight_t> vertex_weights, edge_weights;

    GraphView view() const { return {{offsets, targets}, vertex_weights, edge_weights}; }
    index_t n() const { return std::ssize(offsets) - 1; }
};

struct Edge {
    index_t a, b;
    weight_t weight = 1;
};

inline OwnedGraph make_graph(index_t n, const std::vector<Edge>& edges, std::vector<weight_t> vertex_weights = {}) {
    std::vector<std::vector<std::pair<index_t, weight_t>>> rows(n);
    for (const auto& [a, b, weight] : edges) {
        rows[a].emplace_back(b, weight);
        rows[b].emplace_back(a, weight);
    }
    OwnedGraph graph;
    for (auto& row : rows) {
        std::ranges::sort(row);
        for (const auto& [target, weight] : row) {
            graph.targets.push_back(target);
            graph.edge_weights.push_back(weight);
        }
        graph.offsets.push_back(std::ssize(graph.targets));
    }
    graph.vertex_weights = std::move(vertex_weights);
    return graph;
}

inline OwnedGraph chain_graph(index_t n, std::vector<weight_t> vertex_weights = {}) {
    std::vector<Edge> edges;
    for (index_t i = 0; i + 1 < n; ++i) edges.push_back({i, i + 1});
    return make_graph(n, edges, std::move(vertex_weights));
}

// Chains of these sizes, one after another, without an edge between them.
inline OwnedGraph bodies_graph(const std::vector<index_t>& sizes, std::vector<weight_t> vertex_weights = {}) {
    std::vector<Edge> edges;
    index_t n = 0;
    for (const index_t size : sizes) {
        for (index_t i = 0; i + 1 < size; ++i) edges.push_back({n + i, n + i + 1});
        n += size;
    }
    return make_graph(n, edges, std::move(vertex_weights));
}

// Vertex `column + width * row` has its neighbours in its row and its column.
inline OwnedGraph grid_graph(index_t width, index_t height) {
    std::vector<Edge> edges;
    for (index_t i = 0; i < width * height; ++i) {
        if (i % width + 1 < width) edges.push_back({i, i + 1});
        if (i + width < width * height) edges.push_back({i, i + width});
    }
    return make_graph(width * height, edges);
}

inline OwnedGraph random_graph(Random& random, index_t n, double density, weight_t heaviest_edge) {
    std::vector<Edge> edges;
    for (index_t a = 0; a < n; ++a) {
        for (index_t b = a + 1; b < n; ++b) {
            if (random.chance(density)) edges.push_back({a, b, random.integer(0, heaviest_edge)});
        }
    }
    return make_graph(n, edges);
}

}  // namespace meshpart::testing
