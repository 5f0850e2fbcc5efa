// Stable sort of rows by 64-bit keys.
#pragma once

#include <cstdint>
#include <vector>

#include "types.hpp"

namespace meshpart {

struct Keyed {
    std::uint64_t key;
    index_t row;
};

// Sorts by key, equal keys in the order given. Keys are below 2^bits.
//
// Three passes of a radix sort over the highest 33 bits, then comparisons inside the runs that agree in all of those:
// linear unless most keys share their highest bits, and n log n then.
void sort_by_key(std::vector<Keyed>& items, int bits, int threads);

}  // namespace meshpart
