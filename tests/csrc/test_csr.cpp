// Rows turned round.
#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

#include "compare.hpp"
#include "core/csr.hpp"
#include "random.hpp"

using namespace meshpart;
using testing::plain;
using testing::Random;

namespace {

using Ids = std::vector<index_t>;
using Labels = std::vector<part_t>;

Csr inverse(const Ids& values, index_t count) {
    return invert(std::span<const index_t>(values), count);
}
Csr inverse(const Labels& values, index_t count) {
    return invert(std::span<const part_t>(values), count);
}

}  // namespace

TEST_CASE("invert lists where each value stands") {
    //   value      0      1   2   3
    //   stands at  1, 4   0   -   2, 3
    const auto rows = inverse(Ids{1, 0, 3, 3, 0}, 4);
    CHECK(plain(rows.offsets) == Ids{0, 2, 3, 3, 5});
    CHECK(plain(rows.entries) == Ids{1, 4, 0, 2, 3});
}

TEST_CASE("invert of ids and of labels is what a loop over all values finds") {
    Random random(1);
    for (int trial = 0; trial < 50; ++trial) {
        const index_t count = random.integer(1, 9), size = random.integer(0, 40);
        Labels labels;
        for (index_t i = 0; i < size; ++i) labels.push_back(static_cast<part_t>(random.integer(0, count - 1)));
        Csr expected;
        for (index_t v = 0; v < count; ++v) {
            for (index_t i = 0; i < size; ++i) {
                if (labels[i] == v) expected.entries.push_back(i);
            }
            expected.close_row();
        }
        for (const auto& rows : {inverse(labels, count), inverse(Ids(labels.begin(), labels.end()), count)}) {
            CHECK(plain(rows.offsets) == plain(expected.offsets));
            CHECK(plain(rows.entries) == plain(expected.entries));
        }
    }
}

TEST_CASE("invert of nothing has empty rows, or none") {
    CHECK(plain(inverse(Ids{}, 0).offsets) == Ids{0});
    CHECK(plain(inverse(Ids{}, 3).offsets) == Ids{0, 0, 0, 0});
}

TEST_CASE("invert refuses values outside 0..count-1") {
    for (const index_t wrong :
         {index_t{-1}, index_t{3}, std::numeric_limits<index_t>::min(), std::numeric_limits<index_t>::max()}) {
        CHECK_THROWS_AS(inverse(Ids{0, wrong, 2}, 3), std::out_of_range);
    }
    CHECK_THROWS_AS(inverse(Labels{0, -1}, 3), std::out_of_range);
    CHECK_THROWS_AS(inverse(Labels{0, std::numeric_limits<part_t>::max()}, 3), std::out_of_range);
    CHECK_THROWS_AS(inverse(Ids{0}, 0), std::out_of_range);
}
