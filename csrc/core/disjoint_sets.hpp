// Sets of vertices that are joined pair by pair.
#pragma once

#include <algorithm>

#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// A forest whose roots are the lowest of each set, with its paths halved on the way (R. E. Tarjan, J. van Leeuwen,
// "Worst-case analysis of set union algorithms", J. ACM 31, 1984).
class DisjointSets {
  public:
    explicit DisjointSets(index_t count) : above_(count) {
        for (index_t i = 0; i < count; ++i) above_[i] = i;
    }

    // Whether the two were in different sets until now.
    bool join(index_t a, index_t b) {
        a = lowest(a);
        b = lowest(b);
        above_[std::max(a, b)] = std::min(a, b);
        return a != b;
    }

    // The lowest of the set that i is in.
    index_t lowest(index_t i) {
        while (above_[i] != i) i = above_[i] = above_[above_[i]];
        return i;
    }

  private:
    Vector<index_t> above_;
};

}  // namespace meshpart
