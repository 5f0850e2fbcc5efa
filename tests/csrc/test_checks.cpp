// Range checks of ids.
#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "core/checks.hpp"
#include "random.hpp"

using namespace meshpart;
using testing::Random;

namespace {

constexpr index_t lowest = std::numeric_limits<index_t>::min(), highest = std::numeric_limits<index_t>::max();

index_t slow_first_outside(const std::vector<index_t>& ids, index_t count) {
    for (index_t i = 0; i < std::ssize(ids); ++i) {
        if (ids[i] < 0 || ids[i] >= count) return i;
    }
    return -1;
}

}  // namespace

TEST_CASE("require_in_range lets 0..count-1 pass and nothing else") {
    for (const index_t id : {0, 1, 2}) CHECK_NOTHROW(require_in_range(id, 3));
    for (const index_t id : {index_t{-1}, index_t{3}, lowest, highest}) {
        CHECK_THROWS_AS(require_in_range(id, 3), std::out_of_range);
    }
    CHECK_THROWS_AS(require_in_range(0, 0), std::out_of_range);
}

TEST_CASE("require_in_range says which id, and what it may be") {
    CHECK_THROWS_WITH_AS(require_in_range(-7, 3), doctest::Contains("id -7 is outside 0..2"), std::out_of_range);
}

TEST_CASE("first_outside finds nothing in ids that are all there, and nothing in no ids") {
    CHECK(first_outside({}, 0, 2) == -1);
    CHECK(first_outside(std::vector<index_t>{0, 4, 2}, 5, 2) == -1);
}

TEST_CASE("first_outside finds an id below 0, one at the count, and the extremes") {
    for (const index_t wrong : {index_t{-1}, index_t{5}, lowest, highest}) {
        CHECK(first_outside(std::vector<index_t>{0, 4, wrong, 2, wrong}, 5, 2) == 2);
    }
    CHECK(first_outside(std::vector<index_t>{0}, 0, 1) == 0);
}

TEST_CASE("first_outside finds the first of many, whichever thread is faster") {
    Random random(1);
    for (const int threads : {1, 2, 7}) {
        for (int trial = 0; trial < 5; ++trial) {
            std::vector<index_t> ids(5 << 19, 99);
            for (index_t wrong = random.integer(0, 4); wrong > 0; --wrong) {
                ids[random.integer(0, std::ssize(ids) - 1)] = random.chance(0.5) ? -1 : 100;
            }
            REQUIRE(first_outside(ids, 100, threads) == slow_first_outside(ids, 100));
        }
    }
}

TEST_CASE("require_in_range of many ids throws for the first that is outside") {
    const std::vector<index_t> ids{0, 4, 5, -1};
    CHECK_NOTHROW(require_in_range(std::span(ids).first(3), 6, 2));
    CHECK_NOTHROW(require_in_range(std::span<const index_t>(), 0, 2));
    CHECK_THROWS_WITH_AS(require_in_range(ids, 5, 2), doctest::Contains("id 5 is outside 0..4"), std::out_of_range);
    CHECK_THROWS_WITH_AS(require_in_range(ids, 6, 2), doctest::Contains("id -1 is outside 0..5"), std::out_of_range);
}

TEST_CASE("count_ids counts the ids of each range, and none that are in no range") {
    const std::vector<index_t> ids{3, 0, 5, 6, 3, -1, lowest, highest};
    CHECK(count_ids(ids, 0, std::vector<index_t>{0, 3, 3, 6}).counts == Vector<index_t>{1, 0, 3});
    CHECK(count_ids(ids, 0, std::vector<index_t>{0}).counts.empty());
    CHECK(count_ids({}, 0, std::vector<index_t>{0, 3}).counts == Vector<index_t>{0});
}

TEST_CASE("count_ids tells whether the owned ids ascend, each once") {
    const std::vector<index_t> ids{1, 4, 7, 7, 0};
    for (const index_t n_owned : {0, 1, 2, 3}) CHECK(count_ids(ids, n_owned, std::vector<index_t>{0, 9}).ascending);
    for (const index_t n_owned : {4, 5}) CHECK_FALSE(count_ids(ids, n_owned, std::vector<index_t>{0, 9}).ascending);
}

TEST_CASE("count_ids refuses ranges that do not ascend, and more owned ids than there are") {
    CHECK_THROWS_AS(count_ids({}, 0, {}), std::invalid_argument);
    CHECK_THROWS_AS(count_ids({}, 0, std::vector<index_t>{0, 3, 2}), std::invalid_argument);
    for (const index_t n_owned : {-1, 1}) {
        CHECK_THROWS_AS(count_ids({}, n_owned, std::vector<index_t>{0, 3}), std::invalid_argument);
    }
}
