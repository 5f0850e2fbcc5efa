// Counts of unions, beside the unions themselves.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <vector>

#include "compare.hpp"
#include "core/unions.hpp"
#include "random.hpp"

using namespace meshpart;
using namespace meshpart::testing;

namespace {

using Ids = std::vector<index_t>;

Csr rows(const std::vector<Ids>& lists) {
    Csr result;
    for (const Ids& list : lists) {
        result.entries.insert(result.entries.end(), list.begin(), list.end());
        result.close_row();
    }
    return result;
}

Ids counts(const std::vector<Ids>& sets, const std::vector<Ids>& unions, index_t n_elements, int threads = 2) {
    return plain(union_counts(rows(sets).view(), rows(unions).view(), n_elements, threads));
}

// Each of 0..most once or not at all, ascending.
Ids random_subset(Random& random, index_t most) {
    Ids result;
    const double chance = random.unit();
    for (index_t i = 0; i <= most; ++i) {
        if (random.chance(chance)) result.push_back(i);
    }
    return result;
}

}  // namespace

TEST_CASE("an element that two sets of a union have counts once") {
    // 0: in the first, second and third union; 1: in these and the last; 2: in the second and the last; 3: in none
    CHECK(counts({{0, 1}, {1, 2}}, {{0}, {0, 1}, {0}, {}, {1}}, 4) == Ids{3, 4, 2, 0});
}

TEST_CASE("nothing lies in no union, nor in unions of nothing") {
    CHECK(counts({}, {}, 0).empty());
    CHECK(counts({}, {{}, {}}, 2) == Ids{0, 0});
    CHECK(counts({{}, {1}}, {{0}, {0}}, 2) == Ids{0, 0});
}

TEST_CASE("counts are those of the unions themselves, in any order of the sets and for any number of threads") {
    Random random(3);
    for (int trial = 0; trial < 300; ++trial) {
        CAPTURE(trial);
        const index_t n_elements = random.integer(1, 30), n_sets = random.integer(1, trial % 3 ? 6 : 60);
        std::vector<Ids> sets(n_sets), unions(random.integer(0, 60));
        for (Ids& set : sets) set = random_subset(random, n_elements - 1);
        for (Ids& sets_of : unions) sets_of = random_subset(random, n_sets - 1);
        if (trial % 2) std::ranges::stable_sort(sets, std::greater{}, [](const Ids& set) { return set.size(); });

        Ids expected(n_elements, 0);
        for (const Ids& sets_of : unions) {
            std::set<index_t> all;
            for (const index_t set : sets_of) all.insert(sets[set].begin(), sets[set].end());
            for (const index_t element : all) ++expected[element];
        }
        for (const int threads : {1, 2, 5}) REQUIRE(counts(sets, unions, n_elements, threads) == expected);
    }
}

TEST_CASE("sets and elements that are not there are refused") {
    CHECK_THROWS_AS(counts({{0}}, {{0}, {1}}, 1), std::out_of_range);
    CHECK_THROWS_AS(counts({{0}}, {{0, 1}}, 1), std::out_of_range);
    CHECK_THROWS_AS(counts({{0}}, {{-1}}, 1), std::out_of_range);
    CHECK_THROWS_AS(counts({{1}}, {{0}}, 1), std::out_of_range);
}
