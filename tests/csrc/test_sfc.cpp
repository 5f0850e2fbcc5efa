// The order along a Hilbert curve, beside a slow one, and what must not change it.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "compare.hpp"
#include "core/hilbert.hpp"
#include "core/sfc.hpp"
#include "random.hpp"

using namespace meshpart;
using testing::plain;
using testing::Random;

namespace {

using Order = std::vector<index_t>;
using Rows = std::vector<double>;

Order order_of(const Rows& rows, int dim, int threads = 2) {
    return plain(hilbert_order(rows, dim, threads));
}

// The order by stable sorts, on a curve that uses the first D coordinates of a row.
template <int D>
void slow_sort(const Rows& rows, int dim, Order& order) {
    std::array<double, D> low, high;
    low.fill(std::numeric_limits<double>::infinity());
    high.fill(-low[0]);
    for (const index_t row : order) {
        for (int axis = 0; axis < D; ++axis) {
            low[axis] = std::min(low[axis], rows[row * dim + axis]);
            high[axis] = std::max(high[axis], rows[row * dim + axis]);
        }
    }
    double extent = 0;
    for (int axis = 0; axis < D; ++axis) extent = std::max(extent, high[axis] - low[axis]);
    if (extent == 0) return;
    const double cells = std::ldexp(1, hilbert_bits<D>);
    const double scale = std::ldexp(1, std::min(1000, -std::ilogb(extent)));  // lest cells / extent overflows
    const auto key = [&](index_t row) {
        std::array<std::uint64_t, D> cell;
        for (int axis = 0; axis < D; ++axis) {
            const double place = (rows[row * dim + axis] - low[axis]) * scale * (cells / (extent * scale));
            cell[axis] = static_cast<std::uint64_t>(std::min(place, cells - 1));
        }
        return hilbert_key<D>(cell);
    };
    std::ranges::stable_sort(order, {}, key);
    for (auto first = order.begin(); first != order.end();) {
        const auto last = std::find_if(first, order.end(), [&](index_t row) { return key(row) != key(*first); });
        if (last - first > 1) {
            Order run(first, last);
            slow_sort<D>(rows, dim, run);
            std::ranges::copy(run, first);
        }
        first = last;
    }
}

Order identity(index_t size) {
    Order order(size);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

template <int D>
Order slow_order(const Rows& rows, int dim) {
    Order order = identity(std::ssize(rows) / dim);
    slow_sort<D>(rows, dim, order);
    return order;
}

bool is_permutation(Order order) {
    std::ranges::sort(order);
    return order == identity(std::ssize(order));
}

// Rows of integers below 2^bits in all dimensions, some of them in clusters and some of them more than once.
Rows cloud(Random& random, index_t size, int dim, int bits = 30) {
    Rows rows;
    for (index_t i = 0; i < size; ++i) {
        if (i > 0 && random.chance(0.1)) {
            const index_t other = random.integer(0, i - 1);
            const index_t reach = random.chance(0.5) ? 0 : 3;
            for (int axis = 0; axis < dim; ++axis) {
                rows.push_back(rows[other * dim + axis] + static_cast<double>(random.integer(-reach, reach)));
            }
        } else {
            for (int axis = 0; axis < dim; ++axis) rows.push_back(static_cast<double>(random.bits() >> (64 - bits)));
        }
    }
    return rows;
}

// Every row moved by `by` after it has been multiplied by `factor`.
Rows moved(Rows rows, double factor, double by) {
    for (double& x : rows) x = x * factor + by;
    return rows;
}

// A full grid, shuffled: `sides` cells on each axis, one unit apart.
Rows grid(Random& random, const std::vector<index_t>& sides) {
    index_t size = 1;
    for (const index_t side : sides) size *= side;
    Order numbers = identity(size);
    random.shuffle(numbers);
    Rows rows;
    for (index_t number : numbers) {
        for (const index_t side : sides) {
            rows.push_back(static_cast<double>(number % side));
            number /= side;
        }
    }
    return rows;
}

double distance(const Rows& rows, int dim, index_t a, index_t b) {
    double sum = 0;
    for (int axis = 0; axis < dim; ++axis) sum += std::abs(rows[a * dim + axis] - rows[b * dim + axis]);
    return sum;
}

bool walks_in_steps_of(double step, const Rows& rows, int dim, const Order& order) {
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (distance(rows, dim, order[i - 1], order[i]) != step) return false;
    }
    return is_permutation(order);
}

// Every row with the coordinates that `axes` names, or with a function of its first ones.
template <class Place>
Rows embedded(const Rows& rows, int dim, Place&& place) {
    Rows result;
    for (index_t row = 0; row < std::ssize(rows) / dim; ++row) {
        for (const double x : place(&rows[row * dim])) result.push_back(x);
    }
    return result;
}

using Vec3 = std::array<double, 3>;

}  // namespace

TEST_CASE("the order is that of stable sorts by key, run of equal keys after run of equal keys") {
    Random random(1);
    for (const index_t size : {2, 3, 100, 4095, 4096, 9000}) {
        for (const int bits : {2, 8, 30}) {
            CAPTURE(size);
            CAPTURE(bits);
            const Rows line = cloud(random, size, 1, bits), plane = cloud(random, size, 2, bits),
                       space = cloud(random, size, 3, bits);
            CHECK(order_of(line, 1) == slow_order<1>(line, 1));
            if (size < 100) continue;  // fewer may lie in a line or a plane
            CHECK(order_of(plane, 2) == slow_order<2>(plane, 2));
            CHECK(order_of(space, 3) == slow_order<3>(space, 3));
        }
    }
}

TEST_CASE("the order does not depend on the number of threads") {
    Random random(2);
    for (int dim = 1; dim <= 3; ++dim) {
        const Rows rows = cloud(random, 140000, dim, 20);
        const Order order = order_of(rows, dim, 1);
        CHECK(is_permutation(order));
        for (const int threads : {2, 5}) CHECK((order_of(rows, dim, threads) == order));
    }
}

TEST_CASE("the order walks through a full grid from neighbour to neighbour") {
    Random random(3);
    const Rows line = grid(random, {100}), square = grid(random, {16, 16}), cube = grid(random, {8, 8, 8}),
               large = grid(random, {32, 32, 32});
    CHECK(walks_in_steps_of(1, line, 1, order_of(line, 1)));
    CHECK(walks_in_steps_of(1, square, 2, order_of(square, 2)));
    CHECK(walks_in_steps_of(1, cube, 3, order_of(cube, 3)));
    CHECK(walks_in_steps_of(1, large, 3, order_of(large, 3)));
}

TEST_CASE("no rows have no order, one row has one, equal rows keep theirs") {
    for (int dim = 1; dim <= 3; ++dim) {
        CHECK(order_of({}, dim).empty());
        for (const double x : {0.0, -7.0, 1e308, 1e-320}) {
            CHECK(order_of(Rows(dim, x), dim) == Order{0});
            CHECK(order_of(Rows(5 * dim, x), dim) == Order{0, 1, 2, 3, 4});
        }
    }
    Random random(4);
    const Rows rows = cloud(random, 10000, 3, 2);  // 64 places and the ones around them
    const Order order = order_of(rows, 3);
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (distance(rows, 3, order[i - 1], order[i]) == 0) REQUIRE(order[i - 1] < order[i]);
    }
}

TEST_CASE("a plane in space has the order of its projection along the axis nearest its normal") {
    Random random(5);
    const Rows plane = cloud(random, 5000, 2);
    const Order expected = order_of(plane, 2);
    const auto in_space = [&](auto&& place) { return order_of(embedded(plane, 2, place), 3); };
    const auto slope = [](double a, double b) { return -a / 2 + b / 4; };
    SUBCASE("upright") {
        CHECK(in_space([](const double* p) { return Vec3{p[0], p[1], 5}; }) == expected);
        CHECK(in_space([](const double* p) { return Vec3{p[0], 5, p[1]}; }) == expected);
        CHECK(in_space([](const double* p) { return Vec3{5, p[0], p[1]}; }) == expected);
    }
    SUBCASE("oblique") {
        CHECK(in_space([&](const double* p) { return Vec3{p[0], p[1], slope(p[0], p[1])}; }) == expected);
        CHECK(in_space([&](const double* p) { return Vec3{p[0], slope(p[0], p[1]), p[1]}; }) == expected);
        CHECK(in_space([&](const double* p) { return Vec3{slope(p[0], p[1]), p[0], p[1]}; }) == expected);
    }
    SUBCASE("thin") {
        // The places span 2^30 units: 100 units are less than 1e-6 of their distance, 10000 are more.
        const auto thick = [&](double height) {
            Random heights(6);
            return in_space([&](const double* p) { return Vec3{p[0], p[1], height * heights.unit()}; });
        };
        CHECK(thick(100) == expected);
        CHECK(thick(10000) != expected);
    }
}

TEST_CASE("a line in the plane or in space has the order along the axis nearest to it") {
    Random random(7);
    const Rows line = cloud(random, 5000, 1);
    const Order expected = order_of(line, 1);
    const auto in_plane = [&](double a, double b) {
        const auto place = [&](const double* p) { return std::array{a * *p + 3, b * *p}; };
        return order_of(embedded(line, 1, place), 2);
    };
    const auto in_space = [&](double a, double b, double c) {
        const auto place = [&](const double* p) { return Vec3{a * *p, b * *p, c * *p - 1}; };
        return order_of(embedded(line, 1, place), 3);
    };
    CHECK(in_plane(1, 0) == expected);
    CHECK(in_plane(0, 1) == expected);
    CHECK(in_plane(0.5, 1) == expected);
    CHECK(in_plane(1, -0.25) == expected);
    CHECK(in_space(1, 0, 0) == expected);
    CHECK(in_space(0, 1, 0) == expected);
    CHECK(in_space(0, 0, 1) == expected);
    CHECK(in_space(0.5, -0.25, 1) == expected);
    CHECK(in_space(-0.5, 1, 0.5) == expected);

    // 100 units beside 2^30 are no second dimension.
    Random heights(8);
    CHECK(order_of(embedded(line, 1, [&](const double* p) { return std::array{100 * heights.unit(), *p}; }), 2) ==
          expected);
}

TEST_CASE("moving the rows, or scaling them by a power of two, does not change the order") {
    Random random(9);
    for (int dim = 1; dim <= 3; ++dim) {
        const Rows rows = cloud(random, 5000, dim);
        const Order order = order_of(rows, dim);
        for (const double by : {-0x1p33, -1234567.0, 1.0, 0x1p40}) CHECK(order_of(moved(rows, 1, by), dim) == order);
        for (const int power : {-1074, -1000, -40, -1, 10, 500, 993}) {
            CAPTURE(power);
            CHECK(order_of(moved(rows, std::ldexp(1.0, power), 0), dim) == order);
        }
    }
}

TEST_CASE("rows that reach from one end of the doubles to the other are ordered like any others") {
    Random random(10);
    const Rows rows = grid(random, {8, 8, 8});
    const Order order = order_of(rows, 3);
    const Rows centred = moved(rows, 1, -3.5);  // -3.5 .. 3.5
    CHECK(order_of(centred, 3) == order);
    CHECK(order_of(moved(centred, 0x1p1022, 0), 3) == order);  // their difference overflows
    CHECK(order_of(moved(rows, 1e-320, 0), 3) == order);
    CHECK(order_of(moved(rows, 1e307, 0), 3) == order);
}

TEST_CASE("the scale is the same on all axes") {
    // A plate of 64 x 8 units is eight squares, the curve walks through one after the other. A plate of 16 x 16 x 2 is
    // eight by eight cubes.
    Random random(11);
    const Rows plate = grid(random, {64, 8});
    const Order order = order_of(plate, 2);
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto square = [&](std::size_t place) { return static_cast<index_t>(plate[order[place] * 2] / 8); };
        REQUIRE(square(i) == square(i / 64 * 64));
    }
    CHECK(order_of(plate, 2) !=
          order_of(embedded(plate, 2, [](const double* p) { return std::array{p[0], 8 * p[1]}; }), 2));

    const Rows thick = grid(random, {16, 16, 2});
    const Order in_space = order_of(thick, 3);
    for (std::size_t i = 0; i < in_space.size(); ++i) {
        const auto cube = [&](std::size_t place, int axis) {
            return static_cast<index_t>(thick[in_space[place] * 3 + axis] / 2);
        };
        for (const int axis : {0, 1}) REQUIRE(cube(i, axis) == cube(i / 8 * 8, axis));
    }
}

TEST_CASE("clusters far smaller than a cell of the curve are walked through from neighbour to neighbour") {
    // In the box of three corners, 16 x 16 places 1e-12 of its extent apart in one cluster and in another.
    Random random(12);
    constexpr double tiny = 0x1p-40;
    const Rows places = grid(random, {16, 16});
    Rows rows{0, 0, 1, 0, 1, 1};
    for (const double corner : {0.25, 0.75}) {
        for (const double x : places) rows.push_back(corner + tiny * x);
    }
    const Order order = order_of(rows, 2);
    CHECK(is_permutation(order));
    index_t short_steps = 0;
    for (std::size_t i = 1; i < order.size(); ++i) short_steps += distance(rows, 2, order[i - 1], order[i]) == tiny;
    CHECK(short_steps == 2 * 255);
}

TEST_CASE("clusters inside clusters are keyed again as often as it takes") {
    // On each of 66 scales, each 2^-16 of the one before, 4 x 4 places at its far end; the origin is in all of them.
    Random random(13);
    Rows rows;
    for (int scale = 0; scale < 66; ++scale) {
        for (const double x : grid(random, {4, 4})) rows.push_back(std::ldexp(4 + x, -16 * scale));
    }
    rows.push_back(0), rows.push_back(0);
    const Order order = order_of(rows, 2);
    CHECK(is_permutation(order));
    CHECK(order == slow_order<2>(rows, 2));
    for (int scale = 0; scale < 66; ++scale) {
        const auto first = std::ranges::find_if(order, [&](index_t row) { return row / 16 == scale; });
        REQUIRE(order.end() - first >= 16);
        for (int i = 1; i < 16; ++i) REQUIRE(distance(rows, 2, first[i - 1], first[i]) == std::ldexp(1.0, -16 * scale));
    }
}

TEST_CASE("many rows in a cluster beside two far away are ordered like the cluster alone") {
    Random random(14);
    Rows rows = cloud(random, 20000, 2);
    const Order alone = order_of(rows, 2);
    for (const double x : {0x1p100, 0.0, 0.0, 0x1p100}) rows.push_back(x);
    Order order = order_of(rows, 2);
    order.resize(20000);
    CHECK(order == alone);
}

TEST_CASE("hilbert_order refuses what is infinite or not a number, and rows of other lengths") {
    constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    for (const double wrong : {nan, -nan, infinity, -infinity}) {
        for (const index_t at : {0, 1, 2, 3}) {
            Rows rows{1, 2, 3, 4};
            rows[at] = wrong;
            CHECK_THROWS_AS(order_of(rows, 2), std::invalid_argument);
        }
        Rows many(200000, 1);
        many[150000] = wrong;
        CHECK_THROWS_AS(order_of(many, 1), std::invalid_argument);
    }
    CHECK_THROWS_AS(order_of({1, 2, 3}, 2), std::invalid_argument);
    for (const int dim : {-1, 0, 4}) CHECK_THROWS_AS(order_of({1, 2, 3, 4}, dim), std::invalid_argument);
}
