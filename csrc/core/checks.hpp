// Range checks of ids that come from outside.
#pragma once

#include <span>

#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

[[noreturn]] void throw_out_of_range(index_t id, index_t count);

// Throws std::out_of_range unless id is in 0..count-1. The kernels call this when they first meet an id: an array may
// have changed since it was checked at the door.
inline void require_in_range(index_t id, index_t count) {
    if (static_cast<std::uint64_t>(id) >= static_cast<std::uint64_t>(count)) throw_out_of_range(id, count);
}

// Throws std::length_error if `count` entities of one part are more than 32-bit local numbers can tell apart.
void require_countable(index_t count);

// The position of the first id outside 0..count-1, or -1.
index_t first_outside(std::span<const index_t> ids, index_t count, int threads);

// Throws std::out_of_range unless all ids are in 0..count-1.
void require_in_range(std::span<const index_t> ids, index_t count, int threads);

// What is to be known of the ids of one part.
struct IdCounts {
    Vector<index_t> counts;  // (n_ranges): how many ids lie in each range
    bool ascending;          // whether the first n_owned ids ascend, each once
};

// Counts ids; throws std::invalid_argument unless starts ascend and there are n_owned ids.
//
//   starts  (n_ranges + 1): range r holds the ids from starts[r] to starts[r + 1] - 1
IdCounts count_ids(std::span<const index_t> ids, index_t n_owned, std::span<const index_t> starts);

}  // namespace meshpart
