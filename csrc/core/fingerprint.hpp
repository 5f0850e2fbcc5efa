// A number that tells arrays apart.
#pragma once

#include <cstdint>
#include <span>

#include "types.hpp"

namespace meshpart {

// A 64-bit hash of bytes, the same for any number of threads: the sum of all 8-byte words, each mixed with its position
// by the finalizer of splitmix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014). It guards against mistakes, not against malice.
std::uint64_t fingerprint(std::span<const std::uint8_t> bytes, int threads);

}  // namespace meshpart
