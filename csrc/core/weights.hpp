// Weights as integers, so that every sum is exact in any order.
#pragma once

#include <span>
#include <vector>

#include "types.hpp"

namespace meshpart {

struct IntegerWeights {
    std::vector<weight_t> weights;  // (n), gcd 1, sum below 2^62
    double unit;                    // what weight 1 stands for in the caller's units
};

// Multiplies by one power of two, rounds, keeps what was positive at 1 or more, and divides by the greatest common
// divisor.
//
//   weights  (n), finite, not negative, at least one positive
IntegerWeights integer_weights(std::span<const double> weights);

}  // namespace meshpart
