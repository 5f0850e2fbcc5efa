#include "pieces.hpp"

#include <algorithm>

#include "disjoint_sets.hpp"

namespace meshpart {

Pieces find_pieces(const Assignment& assignment) {
    const index_t n = std::ssize(assignment.labels);
    DisjointSets sets(n);
    for (index_t v = 0; v < n; ++v) {
        for (const index_t u : assignment.graph.rows[v]) {
            if (u >= v) break;
            if (assignment.labels[u] == assignment.labels[v]) sets.join(u, v);
        }
    }
    Pieces pieces{Vector<index_t>(n), {}};
    for (index_t v = 0; v < n; ++v) {
        const index_t lowest = sets.lowest(v);
        if (lowest == v) {
            pieces.of[v] = std::ssize(pieces.all);
            pieces.all.push_back({0, 0, v});
        } else {
            pieces.of[v] = pieces.of[lowest];
        }
        Piece& piece = pieces.all[pieces.of[v]];
        piece.weight += assignment.graph.vertex_weight(v);
        ++piece.vertices;
    }
    return pieces;
}

bool are_whole(const Pieces& pieces, const Assignment& assignment) {
    const auto empty = std::ranges::count(assignment.sizes, 0);
    return std::ssize(pieces.all) == std::ssize(assignment.sizes) - empty;
}

}  // namespace meshpart
