// Pieces: what the parts consist of, where each is connected.
#pragma once

#include <vector>

#include "assignment.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

struct Piece {
    weight_t weight;
    index_t vertices, lowest;  // how many, and the lowest of them
};

struct Pieces {
    Vector<index_t> of;      // (n_vertices): the piece that each lies in
    std::vector<Piece> all;  // ascending by their lowest vertices
};

// The connected components of every part. O(vertices + edges)
Pieces find_pieces(const Assignment& assignment);

// Whether each part that has vertices is one piece.
bool are_whole(const Pieces& pieces, const Assignment& assignment);

}  // namespace meshpart
