// Graphs in another numbering.
#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

#include "compare.hpp"
#include "core/renumber.hpp"
#include "random.hpp"

using namespace meshpart;
using testing::plain;
using testing::Random;

namespace {

using Ids = std::vector<index_t>;

Csr renamed(const Ids& offsets, const Ids& entries, const Ids& numbers, int threads = 1) {
    return renumbered({offsets, entries}, numbers, threads);
}

}  // namespace

TEST_CASE("a renumbered graph has the same edges, each row ascending") {
    // 0 - 1 - 2, called 2, 0, 1:   2 - 0 - 1
    const auto graph = renamed({0, 1, 3, 4}, {1, 0, 2, 1}, {2, 0, 1});
    CHECK(plain(graph.offsets) == Ids{0, 2, 3, 4});
    CHECK(plain(graph.entries) == Ids{1, 2, 0, 0});
}

TEST_CASE("renumbering is what looking up every edge finds, with any number of threads") {
    Random random(3);
    for (int trial = 0; trial < 20; ++trial) {
        const index_t n = random.integer(0, 30) + (trial == 0 ? 10000 : 0);
        std::vector<Ids> expected(n);
        Ids numbers(n), offsets{0}, entries;
        for (index_t v = 0; v < n; ++v) numbers[v] = v;
        random.shuffle(numbers);
        for (index_t v = 0; v < n; ++v) {
            for (index_t i = random.integer(0, 5); i > 0; --i) {
                entries.push_back(random.integer(0, n - 1));
                expected[numbers[v]].push_back(numbers[entries.back()]);
            }
            offsets.push_back(std::ssize(entries));
        }
        for (const int threads : {1, 3}) {
            const auto graph = renamed(offsets, entries, numbers, threads);
            for (index_t v = 0; v < n; ++v) {
                std::sort(expected[v].begin(), expected[v].end());
                CHECK(plain(graph.view()[v]) == expected[v]);
            }
        }
    }
}

TEST_CASE("numbers and entries that are none are refused") {
    CHECK_THROWS_AS(renamed({0, 1, 2}, {1, 0}, {0, 2}), std::out_of_range);
    CHECK_THROWS_AS(renamed({0, 1, 2}, {1, -1}, {0, 1}), std::out_of_range);
    CHECK_THROWS_AS(renamed({0, 1, 2}, {1, 0}, {0, 1, 2}), std::invalid_argument);
}
