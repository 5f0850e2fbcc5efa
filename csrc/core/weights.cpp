#include "weights.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace meshpart {

IntegerWeights integer_weights(std::span<const double> weights) {
    double largest = 0;
    for (const double w : weights) {
        if (!(w >= 0) || std::isinf(w)) throw std::invalid_argument("weights must be finite and not negative");
        largest = std::max(largest, w);
    }
    if (largest == 0) throw std::invalid_argument("at least one weight must be positive");

    // n weights below 2^(60 - log2 n), and one unit of rounding each: the sum is below 2^61.
    const int room = 60 - static_cast<int>(std::bit_width(weights.size()));
    const int shift = room - (std::ilogb(largest) + 1);
    IntegerWeights result{std::vector<weight_t>(weights.size()), 0};
    weight_t common = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto scaled = static_cast<weight_t>(std::llround(std::ldexp(weights[i], shift)));
        result.weights[i] = std::max<weight_t>(scaled, weights[i] > 0);
        common = std::gcd(common, result.weights[i]);
    }
    for (weight_t& w : result.weights) w /= common;
    result.unit = std::ldexp(static_cast<double>(common), -shift);
    return result;
}

}  // namespace meshpart
