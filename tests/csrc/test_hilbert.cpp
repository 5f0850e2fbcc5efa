// Hilbert keys: neighbours along the curve are neighbours in space.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/hilbert.hpp"
#include "random.hpp"

using namespace meshpart;
using testing::Random;

namespace {

template <int D>
using Cell = std::array<std::uint64_t, D>;

constexpr std::uint64_t one = 1;

// One level of the curve after the other, the reference of the table look-up.
template <int D>
std::uint64_t slow_key(const Cell<D>& cell) {
    std::uint64_t key = 0;
    unsigned state = 0;
    for (int level = hilbert_bits<D> - 1; level >= 0; --level) {
        unsigned orthant = 0;
        for (int axis = 0; axis < D; ++axis) orthant |= (cell[axis] >> level & 1) << axis;
        const auto step = detail::hilbert_step<D>(state, orthant);
        key = key << D | step.digit;
        state = step.state;
    }
    return key;
}

// The grid cell at a place along the curve.
template <int D>
Cell<D> cell_at(std::uint64_t key) {
    Cell<D> cell{};
    unsigned state = 0;
    for (int level = hilbert_bits<D> - 1; level >= 0; --level) {
        const unsigned digit = key >> (level * D) & ((1u << D) - 1);
        unsigned orthant = 0;
        while (detail::hilbert_step<D>(state, orthant).digit != digit) ++orthant;
        for (int axis = 0; axis < D; ++axis) cell[axis] |= (one * orthant >> axis & 1) << level;
        state = detail::hilbert_step<D>(state, orthant).state;
    }
    return cell;
}

// The number of unit steps from one cell to the other.
template <int D>
std::uint64_t steps_between(const Cell<D>& a, const Cell<D>& b) {
    std::uint64_t steps = 0;
    for (int axis = 0; axis < D; ++axis) steps += std::max(a[axis], b[axis]) - std::min(a[axis], b[axis]);
    return steps;
}

// All cells of a grid of 2^k cells on a side whose lowest cell is `corner`, along the curve.
template <int D>
std::vector<std::pair<std::uint64_t, Cell<D>>> along_curve(int k, const Cell<D>& corner) {
    std::vector<std::pair<std::uint64_t, Cell<D>>> found;
    for (std::uint64_t i = 0; i < one << (k * D); ++i) {
        Cell<D> cell = corner;
        for (int axis = 0; axis < D; ++axis) cell[axis] += i >> (k * axis) & ((one << k) - 1);
        found.emplace_back(hilbert_key<D>(cell), cell);
    }
    std::ranges::sort(found);
    return found;
}

template <int D>
Cell<D> random_cell(Random& random, int zero_bits = 0) {
    Cell<D> cell;
    for (auto& x : cell) x = random.bits() % (one << hilbert_bits<D>) >> zero_bits << zero_bits;
    return cell;
}

template <int D>
void check_that_grids_are_walked_in_unit_steps(int largest_k) {
    for (int k = 0; k <= largest_k; ++k) {
        Random random(k);
        for (int trial = 0; trial < 3; ++trial) {
            const Cell<D> corner = trial == 0 ? Cell<D>{} : random_cell<D>(random, k);
            const auto walk = along_curve<D>(k, corner);
            for (std::size_t i = 1; i < walk.size(); ++i) {
                REQUIRE(walk[i].first == walk[i - 1].first + 1);
                REQUIRE(steps_between<D>(walk[i].second, walk[i - 1].second) == 1);
            }
            if (trial == 0) CHECK(walk.front().first == 0);
            CHECK(walk.front().first % walk.size() == 0);
        }
    }
}

template <int D>
void check_the_table_against_single_levels() {
    Random random(D);
    for (int trial = 0; trial < 2000; ++trial) {
        const auto cell = random_cell<D>(random);
        REQUIRE(hilbert_key<D>(cell) == slow_key<D>(cell));
    }
}

template <int D>
void check_that_keys_and_cells_match_over_the_full_width() {
    constexpr auto last = (one << (hilbert_bits<D> * D)) - 1;
    Random random(10 + D);
    std::vector<std::uint64_t> keys{0, 1, last - 1, last / 2, last / 2 - 1};
    for (int trial = 0; trial < 1000; ++trial) keys.push_back(random.bits() % last);
    for (const auto key : keys) {
        REQUIRE(hilbert_key<D>(cell_at<D>(key)) == key);
        REQUIRE(hilbert_key<D>(cell_at<D>(key + 1)) == key + 1);
        REQUIRE(steps_between<D>(cell_at<D>(key), cell_at<D>(key + 1)) == 1);
    }
    Cell<D> highest;
    highest.fill((one << hilbert_bits<D>)-1);
    CHECK(hilbert_key<D>(highest) <= last);
    CHECK(cell_at<D>(hilbert_key<D>(highest)) == highest);
}

}  // namespace

TEST_CASE("the first four cells are a U, the first eight two of them") {
    //  3 - 2        3 - 2    4 - 5
    //      |            |    |   |   below and above; 3 and 4 touch
    //  0 - 1        0 - 1    7   6
    std::vector<Cell<2>> plane;
    for (const auto& [key, cell] : along_curve<2>(1, {})) plane.push_back(cell);
    CHECK(plane == std::vector<Cell<2>>{{0, 0}, {1, 0}, {1, 1}, {0, 1}});
    std::vector<Cell<3>> space;
    for (const auto& [key, cell] : along_curve<3>(1, {})) space.push_back(cell);
    CHECK(space ==
          std::vector<Cell<3>>{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 1, 1}, {1, 1, 1}, {1, 0, 1}, {0, 0, 1}});
}

TEST_CASE("every step of the curve is one unit in a full grid, and its keys are consecutive") {
    SUBCASE("on a line") {
        check_that_grids_are_walked_in_unit_steps<1>(8);
    }
    SUBCASE("in the plane") {
        check_that_grids_are_walked_in_unit_steps<2>(7);
    }
    SUBCASE("in space") {
        check_that_grids_are_walked_in_unit_steps<3>(5);
    }
}

TEST_CASE("the table of three levels gives what one level after the other gives") {
    check_the_table_against_single_levels<2>();
    check_the_table_against_single_levels<3>();
}

TEST_CASE("keys and cells belong together one to one over the full width of the coordinates") {
    SUBCASE("on a line") {
        constexpr auto last = (one << hilbert_bits<1>)-1;
        for (const auto x : {std::uint64_t{0}, one, last / 3, last - 1, last}) CHECK(hilbert_key<1>({x}) == x);
    }
    SUBCASE("in the plane") {
        check_that_keys_and_cells_match_over_the_full_width<2>();
    }
    SUBCASE("in space") {
        check_that_keys_and_cells_match_over_the_full_width<3>();
    }
}

TEST_CASE("a cube is left at the corner on the other end of one axis") {
    const auto walk = along_curve<3>(4, {});
    const auto last = walk.back().second;
    CHECK(std::ranges::count(last, 15u) == 1);
    CHECK(std::ranges::count(last, 0u) == 2);
}

TEST_CASE("the key of a coarser cell is a prefix of the keys of the cells in it") {
    Random random(7);
    for (int trial = 0; trial < 200; ++trial) {
        const auto cell = random_cell<3>(random);
        const int k = static_cast<int>(random.integer(0, 20));
        Cell<3> corner = cell;
        for (auto& x : corner) x = x >> k << k;
        CHECK((hilbert_key<3>(cell) >> (3 * k)) == (hilbert_key<3>(corner) >> (3 * k)));
    }
}
