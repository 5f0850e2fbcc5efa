// A stable radix sort by the highest bits.
#pragma once

#include <cstdint>
#include <span>

#include "types.hpp"

namespace meshpart {

// How many of the highest bits are looked at.
inline constexpr int radix_sorted_bits = 33;

// Sorts items by their highest bits into `sorted`; items that agree in those keep their order, which the lower bits
// have no part in. `items` is left in disorder. Both have the same size.
void radix_sort(std::span<std::uint64_t> items, std::span<std::uint64_t> sorted, int threads);

}  // namespace meshpart
