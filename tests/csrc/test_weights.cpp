// Weights as integers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "core/weights.hpp"
#include "random.hpp"

using namespace meshpart;
using testing::Random;

namespace {

using Doubles = std::vector<double>;
using Integers = std::vector<weight_t>;

constexpr double highest = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();

Integers integers(const Doubles& weights) {
    return integer_weights(weights).weights;
}

// What holds for every result.
void check(const Doubles& given) {
    const auto [weights, unit] = integer_weights(given);
    REQUIRE(weights.size() == given.size());
    const double heaviest = std::ranges::max(given);
    std::uint64_t sum = 0;
    weight_t common = 0;
    for (std::size_t i = 0; i < given.size(); ++i) {
        REQUIRE(weights[i] >= 0);
        REQUIRE((weights[i] > 0) == (given[i] > 0));
        REQUIRE(weights[i] < weight_t{1} << 62);
        sum += weights[i];
        REQUIRE(sum < std::uint64_t{1} << 62);
        common = std::gcd(common, weights[i]);
        // Off by one unit of 2^60 / n at most, and of the 53 bits of a double.
        const double near = heaviest * (static_cast<double>(given.size()) * 0x1p-58 + 0x1p-52);
        REQUIRE(std::abs(static_cast<double>(weights[i]) * unit - given[i]) <= near);
    }
    REQUIRE(common == 1);
    REQUIRE(unit > 0);
}

Doubles random_weights(Random& random, index_t n, int exponents) {
    Doubles weights(n);
    for (auto& w : weights) {
        const int exponent = static_cast<int>(random.integer(-exponents, exponents));
        w = random.chance(0.2) ? 0 : std::ldexp(1 + random.unit(), exponent);
    }
    weights.push_back(1);
    return weights;
}

Doubles scaled(Doubles weights, double factor) {
    for (double& w : weights) w *= factor;
    return weights;
}

}  // namespace

TEST_CASE("integer_weights keeps integers and fractions of powers of two exactly, without their common factor") {
    CHECK(integers({1, 2, 3}) == Integers{1, 2, 3});
    CHECK(integers({6, 0, 9}) == Integers{2, 0, 3});
    CHECK(integers({0.5, 0.75, 1.25}) == Integers{2, 3, 5});
    CHECK(integer_weights(Doubles{0.5, 0.75, 1.25}).unit == 0.25);
    CHECK(integer_weights(Doubles{6, 0, 9}).unit == 3);
    CHECK(integers({1, 0x1p40}) == Integers{1, weight_t{1} << 40});
}

TEST_CASE("equal weights become ones, whatever they are") {
    for (const double w : {1.0, 7.0, 0.1, 1e-300, 1e300, least, highest / 2}) {
        for (const std::size_t n : {1, 3, 1000}) CHECK(integers(Doubles(n, w)) == Integers(n, 1));
    }
    CHECK(integer_weights(Doubles(3, 0.1)).unit == doctest::Approx(0.1));
    CHECK(integers({0, 0.3, 0, 0.3}) == Integers{0, 1, 0, 1});
}

TEST_CASE("integer weights have no common factor, sum up below 2^62, and keep what was positive so") {
    Random random(1);
    for (int trial = 0; trial < 200; ++trial) {
        for (const int exponents : {0, 3, 30, 300}) check(random_weights(random, random.integer(0, 60), exponents));
    }
    check(random_weights(random, 100000, 40));
    check(Doubles(4097, 0x1.fffffffffffffp-1));
}

TEST_CASE("the least and the highest double stand beside each other") {
    CHECK(integers({least, 1}).front() == 1);
    check({least, 1e308});
    check({least, 2 * least, 3 * least});
    CHECK(integers({least, 2 * least, 3 * least}) == Integers{1, 2, 3});
    check({1e308, 1e308, 1e308, 0.5e308});
    check({highest, least, 0, 1});
    check({0, 0, least});
}

TEST_CASE("a power of two changes nothing but the unit") {
    Random random(2);
    for (int trial = 0; trial < 100; ++trial) {
        const auto weights = random_weights(random, 20, 30);
        const auto [expected, unit] = integer_weights(weights);
        for (const int power : {-900, -53, -1, 1, 10, 900}) {
            const auto result = integer_weights(scaled(weights, std::ldexp(1.0, power)));
            REQUIRE(result.weights == expected);
            REQUIRE(result.unit == std::ldexp(unit, power));
        }
    }
}

TEST_CASE("a common factor changes nothing where the weights stay exact") {
    Random random(3);
    for (int trial = 0; trial < 100; ++trial) {
        Doubles weights(10);
        for (double& w : weights) w = static_cast<double>(random.integer(0, 1000));
        weights[0] = 1;
        for (const double factor : {3.0, 7.0, 1001.0}) REQUIRE(integers(scaled(weights, factor)) == integers(weights));
    }
}

TEST_CASE("the order of the weights does not matter") {
    Random random(4);
    auto weights = random_weights(random, 50, 30);
    auto expected = integers(weights);
    std::ranges::sort(expected);
    for (int trial = 0; trial < 5; ++trial) {
        random.shuffle(weights);
        auto found = integers(weights);
        std::ranges::sort(found);
        CHECK(found == expected);
    }
}

TEST_CASE("heavier weights do not become lighter integers") {
    Random random(5);
    auto weights = random_weights(random, 1000, 80);
    std::ranges::sort(weights);
    CHECK(std::ranges::is_sorted(integers(weights)));
}

TEST_CASE("integer_weights refuses what is negative, infinite, not a number, or nothing at all") {
    constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    for (const double wrong : {-1.0, -least, infinity, -infinity, nan}) {
        CHECK_THROWS_AS(integers({1, wrong}), std::invalid_argument);
    }
    CHECK_THROWS_AS(integers({0, 0}), std::invalid_argument);
    CHECK_THROWS_AS(integers({}), std::invalid_argument);
    CHECK(integers({-0.0, 1}) == Integers{0, 1});
}
