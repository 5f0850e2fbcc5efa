// Fragments, on drawn graphs.
#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

#include "compare.hpp"
#include "core/fragments.hpp"
#include "graphs.hpp"

using namespace meshpart;
using testing::chain_graph;
using testing::grid_graph;
using testing::make_graph;
using testing::OwnedGraph;
using testing::plain;

namespace {

using Labels = std::vector<part_t>;

struct Result {
    Labels labels;
    Absorbed absorbed;
};

Result absorb(const OwnedGraph& graph, const Labels& labels, part_t nparts, weight_t limit) {
    Assignment assignment(graph.view(), labels, nparts);
    const auto absorbed = absorb_fragments(assignment, limit);
    for (part_t part = 0; part < nparts; ++part) {
        weight_t load = 0;
        for (index_t v = 0; v < graph.n(); ++v)
            load += assignment.labels[v] == part ? graph.view().vertex_weight(v) : 0;
        CHECK(assignment.loads[part] == load);
        CHECK(assignment.sizes[part] == std::ranges::count(assignment.labels, part));
    }
    return {plain(assignment.labels), absorbed};
}

}  // namespace

TEST_CASE("a fragment goes to the part that it touches most") {
    // 0 0 1 1
    // 0 0 1 1
    // 2 2 2 0     touches a 1 and a 2 alike: the lower part takes it
    const Labels labels{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 2, 0};
    const auto [repaired, absorbed] = absorb(grid_graph(4, 3), labels, 3, 12);
    CHECK(absorbed.count == 1);
    CHECK(absorbed.apart == 1);
    CHECK(repaired == Labels{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 2, 1});
}

TEST_CASE("edge weights decide what is touched most") {
    //  0 - 0 - 1 =5= 0 - 2 - 2    vertex 3 is a fragment of part 0; it hangs on part 1 with 5, on part 2 with 7
    const auto graph = make_graph(6, {{0, 1}, {1, 2}, {2, 3, 5}, {3, 4, 7}, {4, 5}});
    CHECK(absorb(graph, {0, 0, 1, 0, 2, 2}, 3, 6).labels == Labels{0, 0, 1, 2, 2, 2});
}

TEST_CASE("the piece of largest weight stays, then that of most vertices, then that of the lowest vertex") {
    //  weights 1 1 1 | 1 | 4    labels 0 0 0 1 0
    CHECK(absorb(chain_graph(5, {1, 1, 1, 1, 4}), {0, 0, 0, 1, 0}, 2, 9).labels == Labels{1, 1, 1, 1, 0});
    CHECK(absorb(chain_graph(5, {1, 1, 1, 1, 3}), {0, 0, 0, 1, 0}, 2, 9).labels == Labels{0, 0, 0, 1, 1});
    CHECK(absorb(chain_graph(3), {0, 1, 0}, 2, 9).labels == Labels{0, 1, 1});
}

TEST_CASE("a fragment goes only where there is room") {
    //  0 0 0 1 0 2 2 2 2      vertex 4 touches parts 1 and 2 alike
    const Labels labels{0, 0, 0, 1, 0, 2, 2, 2, 2};
    CHECK(absorb(chain_graph(9), labels, 3, 9).labels == Labels{0, 0, 0, 1, 1, 2, 2, 2, 2});
    CHECK(absorb(chain_graph(9), {0, 0, 0, 1, 0, 2, 2, 2, 2}, 3, 2).labels[4] == 1);
    const auto none = absorb(chain_graph(9), labels, 3, 1);
    CHECK(none.labels == labels);
    CHECK(none.absorbed.count == 0);
    CHECK(none.absorbed.apart == 1);
}

TEST_CASE("a fragment that touches nothing stays") {
    const auto graph = make_graph(5, {{0, 1}, {1, 2}});  // 3 and 4 lie alone
    const Labels labels{0, 0, 1, 0, 1};
    const auto result = absorb(graph, labels, 2, 9);
    CHECK(result.labels == labels);
    CHECK(result.absorbed.count == 0);
}

TEST_CASE("fragments beside each other find their places one after another") {
    //  0 0 0 | 1 | 0 | 1 | 2 2 2    and the body of part 1 elsewhere: vertices 9, 10
    const auto graph = make_graph(11, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {9, 10}});
    const Labels labels{0, 0, 0, 1, 0, 1, 2, 2, 2, 1, 1};
    const auto result = absorb(graph, labels, 3, 11);
    // 5 goes first, to 2; then 4 touches 2, and 3, which has no place yet; 3 touches 0 and 2 alike
    CHECK(result.labels == Labels{0, 0, 0, 0, 2, 2, 2, 2, 2, 1, 1});
    CHECK(result.absorbed.count == 3);
    CHECK(result.absorbed.apart == 3);
}

TEST_CASE("of two fragments in a body of their own the lighter joins the heavier") {
    //  0 0 0 0   1 1 1 1   0 1 1
    const auto graph = make_graph(11, {{0, 1}, {1, 2}, {2, 3}, {4, 5}, {5, 6}, {6, 7}, {8, 9}, {9, 10}});
    CHECK(absorb(graph, {0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1}, 2, 11).labels == Labels{0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1});
}

TEST_CASE("labels and targets outside their range are refused") {
    auto graph = chain_graph(3);
    CHECK_THROWS_AS(absorb(graph, {0, 2, 0}, 2, 9), std::out_of_range);
    CHECK_THROWS_AS(absorb(graph, {0, -1, 0}, 2, 9), std::out_of_range);
    graph.targets[0] = 3;
    CHECK_THROWS_AS(absorb(graph, {0, 1, 0}, 2, 9), std::out_of_range);
}
