// The repair of labels: drawn graphs with exact results, and the promise on random ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

#include "compare.hpp"
#include "core/balance.hpp"
#include "graphs.hpp"

using namespace meshpart;
using testing::chain_graph;
using testing::grid_graph;
using testing::make_graph;
using testing::OwnedGraph;
using testing::plain;
using testing::Random;

namespace {

using Labels = std::vector<part_t>;
using Weights = std::vector<weight_t>;

struct Bounds {
    weight_t sought, guaranteed;
};

weight_t weight_of(const OwnedGraph& graph, index_t vertex) {
    return graph.view().vertex_weight(vertex);
}

// For the imbalance 0, and of small weights.
Bounds tight(const OwnedGraph& graph, part_t nparts) {
    weight_t total = 0, heaviest = 0;
    for (index_t v = 0; v < graph.n(); ++v) {
        total += weight_of(graph, v);
        heaviest = std::max(heaviest, weight_of(graph, v));
    }
    const weight_t sought = (total + nparts - 1) / nparts;
    return {sought, std::max(sought, (total + (nparts - 1) * heaviest) / nparts)};
}

Weights loads(const OwnedGraph& graph, const Labels& labels, part_t nparts) {
    Weights sums(nparts, 0);
    for (index_t v = 0; v < graph.n(); ++v) sums[labels[v]] += weight_of(graph, v);
    return sums;
}

std::vector<index_t> sizes(const Labels& labels, part_t nparts) {
    std::vector<index_t> counts(nparts, 0);
    for (const part_t label : labels) ++counts[label];
    return counts;
}

index_t cut(const OwnedGraph& graph, const Labels& labels) {
    index_t twice = 0;
    for (index_t v = 0; v < graph.n(); ++v) {
        for (const index_t u : graph.view().rows[v]) twice += labels[u] != labels[v];
    }
    return twice / 2;
}

struct Result {
    Labels labels;
    index_t filled, moved, absorbed;
};

Result mended(const OwnedGraph& graph, const Labels& labels, part_t nparts, Bounds bounds, bool absorb = false) {
    const auto r = repair(graph.view(), labels, nparts, bounds.sought, bounds.guaranteed, absorb);
    return {plain(r.labels), r.filled, r.moved, r.absorbed};
}

Result mended(const OwnedGraph& graph, const Labels& labels, part_t nparts) {
    return mended(graph, labels, nparts, tight(graph, nparts));
}

}  // namespace

TEST_CASE("labels that hold the bounds stay as they are") {
    const Labels labels{0, 1, 0, 1, 1, 0};  // fragments too, if they are not to be absorbed
    const auto result = mended(chain_graph(6), labels, 2);
    CHECK(result.labels == labels);
    CHECK(result.moved == 0);
    CHECK(result.filled == 0);
}

TEST_CASE("what is too much flows along the chain of parts, vertex by vertex") {
    //  0 0 0 0 | 1 1 | 2 2 2 | 3      mean 2.5, so 3 at most: part 0 gives one to 1, which has room
    const auto result = mended(chain_graph(10), {0, 0, 0, 0, 1, 1, 2, 2, 2, 3}, 4);
    CHECK(result.labels == Labels{0, 0, 0, 1, 1, 1, 2, 2, 2, 3});
    CHECK(result.moved == 1);
    //  0 0 0 0 0 | 1 1 | 2 2 | 3      2 and a half: 3 at most; two leave part 0, one goes on to part 2
    CHECK(mended(chain_graph(10), {0, 0, 0, 0, 0, 1, 1, 2, 2, 3}, 4).labels == Labels{0, 0, 0, 1, 1, 1, 2, 2, 2, 3});
    //  the room is at the far end: each boundary moves by one
    const auto far = mended(chain_graph(8), {0, 0, 0, 1, 1, 2, 2, 3}, 4);
    CHECK(far.labels == Labels{0, 0, 1, 1, 2, 2, 3, 3});
    CHECK(far.moved == 3);
}

TEST_CASE("a row of a grid goes whole: the cut does not grow") {
    // Six rows of five: 4 rows | 2 rows, and at most 15 in a part.
    Labels labels(30, 0);
    std::fill(labels.begin() + 20, labels.end(), 1);
    const auto grid = grid_graph(5, 6);
    const auto result = mended(grid, labels, 2);
    CHECK(sizes(result.labels, 2) == std::vector<index_t>{15, 15});
    CHECK(cut(grid, result.labels) == 5);
    CHECK(result.moved == 5);
}

TEST_CASE("empty parts take from the heaviest") {
    const auto nine = mended(grid_graph(3, 3), {0, 1, 2, 0, 2, 0, 1, 1, 2}, 9);
    CHECK(sizes(nine.labels, 9) == std::vector<index_t>(9, 1));
    CHECK(nine.filled == 6);
    CHECK(nine.moved == 6);
    // 40 in a row, 39 parts, of which only 20 have any: one of two, the others of one
    Labels labels(40);
    for (part_t v = 0; v < 40; ++v) labels[v] = v / 2;
    auto row = sizes(mended(chain_graph(40), labels, 39).labels, 39);
    std::ranges::sort(row);
    CHECK(row.front() == 1);
    CHECK(row[37] == 1);
    CHECK(row.back() == 2);
}

TEST_CASE("one part for all of a chain is cut into pieces of one size") {
    for (const part_t nparts : {1, 2, 3, 7, 12, 24}) {
        const auto result = mended(chain_graph(24), Labels(24, nparts - 1), nparts);
        for (const index_t size : sizes(result.labels, nparts)) {
            CHECK(size >= 24 / nparts);
            CHECK(size <= (24 + nparts - 1) / nparts);
        }
        CHECK(cut(chain_graph(24), result.labels) == nparts - 1);
    }
}

TEST_CASE("a vertex heavier than all that is sought gets a part of its own") {
    auto grid = grid_graph(4, 4);
    grid.vertex_weights.assign(16, 1);
    grid.vertex_weights[0] = 100;
    for (const auto& labels : {Labels(16, 0), Labels{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3}}) {
        const auto result = mended(grid, labels, 4);
        CHECK(std::ranges::max(loads(grid, result.labels, 4)) == 100);
        CHECK(std::ranges::min(sizes(result.labels, 4)) >= 1);
    }
}

TEST_CASE("two vertices are exchanged where no single one fits") {
    //  5 3 | 4 2     8 and 6, sought 7: 5 for 4
    const auto chain = chain_graph(4, {3, 5, 4, 2});
    const auto result = mended(chain, {0, 0, 1, 1}, 2);
    CHECK(loads(chain, result.labels, 2) == Weights{7, 7});
}

TEST_CASE("vertices without weight clear the way for others") {
    //  1 1 1 1 0 0 | 1 1: the two zeros go first, then one that weighs
    const auto chain = chain_graph(8, {1, 1, 1, 1, 0, 0, 1, 1});
    const auto result = mended(chain, {0, 0, 0, 0, 0, 0, 1, 1}, 2);
    CHECK(result.labels == Labels{0, 0, 0, 1, 1, 1, 1, 1});
}

TEST_CASE("a body that lies apart hands a piece over, in one piece") {
    //  0 0 0 0 0 0 0 0    1 1      at most 5: three go, from an end
    std::vector<testing::Edge> edges;
    for (index_t i = 0; i < 9; ++i) {
        if (i != 7) edges.push_back({i, i + 1});
    }
    const auto graph = make_graph(10, edges);
    const auto result = mended(graph, {0, 0, 0, 0, 0, 0, 0, 0, 1, 1}, 2);
    CHECK(sizes(result.labels, 2) == std::vector<index_t>{5, 5});
    CHECK(cut(graph, result.labels) == 1);
}

TEST_CASE("whole bodies move before any is cut") {
    //  o-o-o-o, o-o-o and o-o | o-o-o      9 and 3, at most 6: the body of three goes
    const auto graph = testing::bodies_graph({4, 3, 2, 3});
    const auto result = mended(graph, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1}, 2);
    CHECK(result.labels == Labels{0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1});
    CHECK(result.moved == 3);
    //  o-o-o-o, o-o-o and o-o | o-o        9 and 2, at most 6: again, and nothing has to be cut
    const auto lighter = testing::bodies_graph({4, 3, 2, 2});
    CHECK(cut(lighter, mended(lighter, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}, 2).labels) == 0);
    //  o-o-o-o and o-o-o-o | o-o           8 and 2, at most 5: no body fits, so one is cut
    const auto large = testing::bodies_graph({4, 4, 2});
    CHECK(cut(large, mended(large, {0, 0, 0, 0, 0, 0, 0, 0, 1, 1}, 2).labels) == 1);
    //  o-o-o-o, o-o-o-o and o | o-o        9 and 2, at most 6: the single one goes, and four for two
    const auto mixed = mended(testing::bodies_graph({4, 4, 1, 2}), {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}, 2);
    CHECK(mixed.labels == Labels{1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0});
}

TEST_CASE("fragments are absorbed, and labels that are nothing else are made anew") {
    const auto grid = grid_graph(6, 6);
    Labels halves(36), stripes(36);
    for (index_t v = 0; v < 36; ++v) halves[v] = v >= 18, stripes[v] = static_cast<part_t>(v % 2);
    auto spotted = halves;
    spotted[7] = 1;
    spotted[28] = 0;
    const auto bounds = Bounds{18, 18};
    const auto clean = mended(grid, spotted, 2, {19, 19}, true);
    CHECK(clean.labels == halves);
    CHECK(clean.absorbed == 2);
    CHECK(clean.moved == 0);
    CHECK(mended(grid, spotted, 2, bounds).labels == spotted);
    CHECK(cut(grid, stripes) == 30);
    CHECK(cut(grid, mended(grid, stripes, 2, bounds, true).labels) <= 30);
}

TEST_CASE("weights near 2^62 are summed without overflow") {
    const weight_t big = (weight_t{1} << 60) - 1;
    const auto chain = chain_graph(4, {big, big, big, big - 1});
    const weight_t half = 2 * big;
    const auto result = mended(chain, {0, 0, 0, 1}, 2, {half, half + big / 2});
    CHECK(result.labels == Labels{0, 0, 1, 1});
    const auto one = mended(chain, {0, 0, 0, 0}, 2, {weight_t{1} << 62, weight_t{1} << 62});
    CHECK(std::ranges::min(sizes(one.labels, 2)) >= 1);
}

TEST_CASE("the promise holds on random graphs with random weights and labels") {
    Random random(1);
    index_t within = 0, trials = 600;
    for (index_t trial = 0; trial < trials; ++trial) {
        const index_t n = random.integer(1, trial % 5 ? 30 : 120);
        const part_t nparts = static_cast<part_t>(random.integer(1, n));
        auto graph =
            testing::random_graph(random, n, trial % 3 ? 4.0 / static_cast<double>(n) : 0.5, trial % 4 ? 1 : 9);
        const bool weighted = trial % 2;
        if (weighted) {
            const weight_t highest = trial % 7 ? 9 : weight_t{1} << 50;
            graph.vertex_weights.resize(n);
            for (weight_t& w : graph.vertex_weights) w = random.chance(0.2) ? 0 : random.integer(1, highest);
            graph.vertex_weights[random.integer(0, n - 1)] = highest;
        }
        Labels labels(n);
        const index_t used = random.integer(1, nparts);
        for (part_t& label : labels) label = static_cast<part_t>(random.integer(0, used - 1));
        const auto bounds = tight(graph, nparts);
        const bool absorb = trial % 11 > 4;

        CAPTURE(trial);
        const auto result = mended(graph, labels, nparts, bounds, absorb);
        REQUIRE(std::ranges::min(sizes(result.labels, nparts)) >= 1);
        const weight_t heaviest = std::ranges::max(loads(graph, result.labels, nparts));
        REQUIRE(heaviest <= bounds.guaranteed);
        within += heaviest <= bounds.sought;
        if (!weighted) REQUIRE(heaviest == bounds.sought);
        if (heaviest <= bounds.sought)
            REQUIRE(mended(graph, result.labels, nparts, bounds, absorb).labels == result.labels);
    }
    CHECK(within > trials / 2);  // which not all can be
}

TEST_CASE("repair refuses what it cannot mend") {
    const auto chain = chain_graph(3);
    CHECK_THROWS_AS(mended(chain, {0, 1, 2}, 4, {9, 9}), std::invalid_argument);
    CHECK_THROWS_AS(mended(chain, {0, 0, 0}, 0, {9, 9}), std::invalid_argument);
    CHECK_THROWS_AS(mended(chain, {0, 0}, 1, {9, 9}), std::invalid_argument);
    CHECK_THROWS_AS(mended(chain, {0, 1, 2}, 2, {9, 9}), std::out_of_range);
    CHECK_THROWS_AS(mended(chain, {0, 0, 0}, 2, {1, 1}), std::logic_error);  // a bound that nothing can keep
}
