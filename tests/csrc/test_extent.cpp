// Where rows of coordinates lie, and along which axes they spread.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/extent.hpp"
#include "random.hpp"

using namespace meshpart;
using testing::Random;

namespace {

using Rows = std::vector<double>;
using AxisList = std::vector<int>;

AxisList axes_of(const Rows& rows, int dim, int threads = 2) {
    const auto axes = spread_axes(measure(rows, dim, threads), threads);
    return {axes.axis.begin(), axes.axis.begin() + axes.count};
}

}  // namespace

TEST_CASE("the box has the smallest and largest coordinates and the first rows that have them") {
    //  rows 0 (3, -2), 1 (-8, 5), 2 (3, 5): the largest coordinate is 8, so the scale is 1/8
    const auto [cloud, box] = measure(Rows{3, -2, -8, 5, 3, 5}, 2, 1);
    CHECK(cloud.scale == 0.125);
    CHECK(box.low == std::array{-1.0, -0.25, 0.0});
    CHECK(box.high == std::array{0.375, 0.625, 0.0});
    CHECK(box.low_row == std::array<index_t, 3>{1, 0, 0});
    CHECK(box.high_row == std::array<index_t, 3>{0, 1, 0});
}

TEST_CASE("the scale brings the largest coordinate near one, or as near as a power of two can") {
    for (const double x : {1.0, 1.5, 2.0, 1e-300, 1e300, 3e5}) {
        const auto [cloud, box] = measure(Rows{x, -x / 2}, 1, 1);
        CHECK(box.high[0] >= 1);
        CHECK(box.high[0] < 2);
    }
    for (const double x : {std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min()}) {
        const double scaled = measure(Rows{x, -x}, 1, 1).box.high[0];
        CHECK(scaled > 1e-30);
        CHECK(scaled < 1e30);
    }
    CHECK(measure(Rows{0, 0}, 1, 1).cloud.scale == 1);
}

TEST_CASE("the box does not depend on the number of threads") {
    Random random(1);
    Rows rows(300000);
    for (double& x : rows) x = static_cast<double>(random.integer(-1000, 1000));
    const auto expected = measure(rows, 3, 1);
    for (const int threads : {2, 5}) {
        const auto found = measure(rows, 3, threads);
        CHECK(found.box.low == expected.box.low);
        CHECK(found.box.high == expected.box.high);
        CHECK(found.box.low_row == expected.box.low_row);
        CHECK(found.box.high_row == expected.box.high_row);
    }
}

TEST_CASE("rows in one place spread along one axis, those on a line along the axis nearest to it") {
    CHECK(axes_of({1, 2, 3}, 3) == AxisList{0});
    CHECK(axes_of({1, 2, 3, 1, 2, 3}, 3) == AxisList{0});
    CHECK(axes_of({5, 1, 7}, 1) == AxisList{0});
    CHECK(axes_of({0, 0, 1, 2, 3, 6}, 2) == AxisList{1});
    CHECK(axes_of({0, 0, 0, 2, 1, -1, -4, -2, 2}, 3) == AxisList{0});
    CHECK(axes_of({0, 0, 0, 1, 1, -3, 2, 2, -6}, 3) == AxisList{2});
}

TEST_CASE("rows in a plane spread along the two axes other than the one nearest its normal") {
    CHECK(axes_of({0, 0, 1, 0, 0, 1}, 2) == AxisList{0, 1});
    // x + y + 4 z = 0, and the same with the axes exchanged
    CHECK(axes_of({0, 0, 0, 4, 0, -1, 0, 4, -1, 4, 4, -2}, 3) == AxisList{0, 1});
    CHECK(axes_of({0, 0, 0, 4, -1, 0, 0, -1, 4, 4, -2, 4}, 3) == AxisList{0, 2});
    CHECK(axes_of({0, 0, 0, -1, 4, 0, -1, 0, 4, -2, 4, 4}, 3) == AxisList{1, 2});
}

TEST_CASE("rows off the plane or the line by more than a millionth of their extent spread along all axes") {
    for (const double height : {0.5e-6, 2e-6}) {
        const bool flat = height < 1e-6;
        CHECK(axes_of({0, 0, 1, 0, 0.5, height}, 2) == (flat ? AxisList{0} : AxisList{0, 1}));
        CHECK(axes_of({0, 0, 0, 1, 0, 0, 0, 1, 0, 0.5, 0.5, height}, 3).size() == (flat ? 2 : 3));
    }
}

TEST_CASE("the row off the plane is found wherever it is") {
    Random random(2);
    for (const index_t odd_one : {0, 70000, 99999}) {
        Rows rows;
        for (index_t i = 0; i < 100000; ++i) {
            rows.insert(rows.end(), {random.unit(), random.unit(), i == odd_one ? 0.5 : 0.25});
        }
        for (const int threads : {1, 2, 5}) CHECK(axes_of(rows, 3, threads) == AxisList{0, 1, 2});
    }
}

TEST_CASE("rows far from the origin spread as they do near it") {
    for (const double far : {0x1p20, -0x1p40}) {
        CHECK(axes_of({far, far, far + 1, far + 4}, 2) == AxisList{1});
        CHECK(axes_of({far, far, far, far + 4, far, far - 1, far, far + 4, far - 1}, 3) == AxisList{0, 1});
    }
}

TEST_CASE("measure refuses what is infinite or not a number") {
    for (const double wrong : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()}) {
        for (const index_t at : {0, 3}) {
            Rows rows{1, 2, 3, 4};
            rows[at] = wrong;
            CHECK_THROWS_AS(measure(rows, 2, 1), std::invalid_argument);
        }
    }
}
