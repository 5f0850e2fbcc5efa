// Packing, on drawn bodies with exact results, and what it promises on random ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "compare.hpp"
#include "core/packing.hpp"
#include "graphs.hpp"

using namespace meshpart;
using testing::bodies_graph;
using testing::chain_graph;
using testing::OwnedGraph;
using testing::plain;
using testing::Random;

namespace {

using Labels = std::vector<part_t>;
using Weights = std::vector<weight_t>;

struct Result {
    Labels labels;
    Weights loads;
    bool moved;
};

Result packed(const OwnedGraph& graph, const Labels& labels, part_t nparts, weight_t limit) {
    Assignment assignment(graph.view(), labels, nparts);
    const bool moved = pack(assignment, limit);
    const Assignment counted(graph.view(), assignment.labels, nparts);
    CHECK(plain(assignment.loads) == plain(counted.loads));
    CHECK(plain(assignment.sizes) == plain(counted.sizes));
    return {plain(assignment.labels), plain(assignment.loads), moved};
}

// Bodies without an edge, by their weights and the parts that they begin in.
Result packed(const Weights& weights, const Labels& labels, part_t nparts, weight_t limit) {
    return packed(bodies_graph(std::vector<index_t>(weights.size(), 1), weights), labels, nparts, limit);
}

index_t cut(const OwnedGraph& graph, const Labels& labels) {
    index_t twice = 0;
    for (index_t v = 0; v < graph.n(); ++v) {
        for (const index_t u : graph.view().rows[v]) twice += labels[u] != labels[v];
    }
    return twice / 2;
}

weight_t above(const Weights& loads, weight_t limit) {
    weight_t sum = 0;
    for (const weight_t load : loads) sum += std::max<weight_t>(load - limit, 0);
    return sum;
}

}  // namespace

TEST_CASE("the heaviest body that is not more than what is too much goes to the lightest part") {
    //  part 0 has o-o-o-o, o-o and o, part 1 has o-o-o, part 2 has o-o: 7, 3 and 2, and at most 5
    const auto graph = bodies_graph({4, 2, 1, 3, 2});
    const auto result = packed(graph, {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2}, 3, 5);
    CHECK(result.labels == Labels{0, 0, 0, 0, 2, 2, 0, 1, 1, 1, 2, 2});
    CHECK(result.loads == Weights{5, 3, 4});
    CHECK(result.moved);
}

TEST_CASE("a body that takes more than is too much goes where that fits, the lightest such one") {
    //  4 + 3 + 3 | 5     at most 9: one is too much, and 3 fits
    const auto result = packed({4, 3, 3, 5}, {0, 0, 0, 1}, 2, 9);
    CHECK(result.loads == Weights{7, 8});
}

TEST_CASE("two bodies are exchanged where no single one fits") {
    //  5 + 3 | 4 + 2     at most 7: of 5 for 4 and of 3 for 2 the latter moves less
    CHECK(packed({5, 3, 4, 2}, {0, 0, 1, 1}, 2, 7).labels == Labels{0, 1, 1, 0});
}

TEST_CASE("two bodies go for one") {
    //  20 + 5 + 4 | 18 + 8     at most 28: 5 and 4 for 8
    const auto result = packed({20, 5, 4, 18, 8}, {0, 0, 0, 1, 1}, 2, 28);
    CHECK(result.labels == Labels{0, 1, 1, 1, 0});
    CHECK(result.loads == Weights{28, 27});
}

TEST_CASE("a third part takes a body to make room") {
    //  4 + 4 | 3 | 3     at most 6: 4 fits nowhere, for 3 it shifts but one of two; with both 3 in one part it fits
    const auto result = packed({4, 4, 3, 3}, {0, 0, 1, 2}, 3, 6);
    CHECK(result.labels == Labels{1, 0, 2, 2});
    CHECK(result.loads == Weights{4, 4, 6});
    //  4 + 4 | 3 | 4     at most 6: 3 and 4 are too much for one
    CHECK(packed({4, 4, 3, 4}, {0, 0, 1, 2}, 3, 6).loads == Weights{7, 4, 4});
}

TEST_CASE("where nothing helps, nothing moves") {
    CHECK_FALSE(packed({5, 5, 9}, {0, 0, 1}, 2, 9).moved);                         // 10 and 9: any move is too much
    CHECK_FALSE(packed({9, 1}, {0, 1}, 2, 5).moved);                               // a part is not emptied
    CHECK_FALSE(packed({2, 2, 4}, {0, 0, 1}, 2, 4).moved);                         // light enough
    CHECK_FALSE(packed({2, 0, 0, 0}, {0, 0, 0, 1}, 2, 1).moved);                   // only what weighs helps
    CHECK_FALSE(packed(chain_graph(6), {0, 0, 0, 0, 0, 1}, 2, 3).moved);           // one piece each
    CHECK(packed({9, 1, 1}, {0, 0, 1}, 2, 5).loads == Weights{9, 2});              // nearer to it, at no cost
    CHECK(packed({3, 3, 3, 0}, {0, 0, 0, 0}, 4, 3).loads == Weights{3, 3, 3, 0});  // empty parts have room
}

TEST_CASE("a piece of a body that others have the rest of goes too") {
    //  0 0 1 1 1   0 0 0 0   2      6, 3 and 1, at most 4
    const auto graph = bodies_graph({5, 4, 1});
    const auto result = packed(graph, {0, 0, 1, 1, 1, 0, 0, 0, 0, 2}, 3, 4);
    CHECK(result.labels == Labels{2, 2, 1, 1, 1, 0, 0, 0, 0, 2});
    CHECK(cut(graph, result.labels) == 1);
}

TEST_CASE("the cut never grows, no part gets too heavy or empty, and the same comes of the same") {
    Random random(7);
    index_t solved = 0, trials = 500;
    for (index_t trial = 0; trial < trials; ++trial) {
        std::vector<index_t> sizes(random.integer(1, trial % 9 ? 30 : 200));
        for (index_t& size : sizes) size = random.integer(1, trial % 2 ? 5 : 20);
        const index_t n = std::accumulate(sizes.begin(), sizes.end(), index_t{0});
        Weights weights(n, 1);
        if (trial % 3 == 0) {
            for (weight_t& w : weights)
                w = random.chance(0.2) ? 0 : random.integer(1, trial % 7 ? 9 : weight_t{1} << 50);
        }
        const auto graph = bodies_graph(sizes, weights);
        const part_t nparts = static_cast<part_t>(random.integer(1, std::ssize(sizes)));
        Labels labels;
        for (const index_t size : sizes) labels.insert(labels.end(), size, random.integer(0, nparts - 1));
        if (trial % 4 == 0) {
            for (part_t& label : labels) label = random.chance(0.1) ? static_cast<part_t>(nparts - 1) : label;
        }
        const Assignment before(graph.view(), labels, nparts);
        const weight_t total = std::accumulate(weights.begin(), weights.end(), weight_t{0});
        const weight_t limit = (total + nparts - 1) / nparts + (trial % 5 ? total / nparts / 10 : 0);

        CAPTURE(trial);
        const auto result = packed(graph, labels, nparts, limit);
        REQUIRE(cut(graph, result.labels) <= cut(graph, labels));
        REQUIRE(above(result.loads, limit) <= above(plain(before.loads), limit));
        REQUIRE(result.moved == (result.labels != labels));
        const Assignment after(graph.view(), result.labels, nparts);
        for (part_t part = 0; part < nparts; ++part) {
            REQUIRE(result.loads[part] <= std::max(before.loads[part], limit));
            REQUIRE((after.sizes[part] > 0 || before.sizes[part] == 0));
        }
        REQUIRE(packed(graph, labels, nparts, limit).labels == result.labels);
        solved += above(result.loads, limit) == 0;
    }
    CHECK(solved > trials / 2);
}

TEST_CASE("labels and targets outside their range are refused") {
    auto graph = chain_graph(3);
    CHECK_THROWS_AS(packed(graph, {0, 2, 0}, 2, 1), std::out_of_range);
    graph.targets[0] = 3;
    CHECK_THROWS_AS(packed(graph, {0, 1, 0}, 2, 1), std::out_of_range);
}
