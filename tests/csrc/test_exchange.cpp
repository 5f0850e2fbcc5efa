// Which two vertices to exchange.
#include <doctest/doctest.h>

#include "core/exchange.hpp"
#include "graphs.hpp"

using namespace meshpart;
using testing::make_graph;

namespace {

std::vector<index_t> exchanged(const testing::OwnedGraph& graph, std::vector<Candidate> out,
                               std::vector<Candidate> back, weight_t enough, weight_t most) {
    const auto [a, b, shifted] = best_exchange(graph.view(), out, back, enough, most);
    return {a, b, shifted};
}

}  // namespace

TEST_CASE("the exchange of least cost that shifts enough is chosen, and none that shifts too much") {
    const auto graph = make_graph(6, {});
    //                             cost vertex weight
    const std::vector<Candidate> out{{0, 0, 9}, {1, 1, 7}, {5, 2, 6}}, back{{1, 3, 4}, {4, 4, 5}};
    CHECK(exchanged(graph, out, back, 3, 4) == std::vector<index_t>{1, 3, 3});  // 1 + 1; 0 for 4 costs 0 + 4
    CHECK(exchanged(graph, out, back, 4, 4) == std::vector<index_t>{0, 4, 4});  // nothing else shifts 4
    CHECK(exchanged(graph, out, back, 1, 2) == std::vector<index_t>{1, 4, 2});  // 1 + 4, before 5 + 1
    CHECK(exchanged(graph, out, back, 9, 5) == std::vector<index_t>{0, 3, 5});  // not enough: 1 for a shift of 5
    CHECK(exchanged(graph, {{0, 0, 4}}, back, 1, 9) == std::vector<index_t>{-1, -1, 0});
    CHECK(exchanged(graph, {}, back, 1, 9) == std::vector<index_t>{-1, -1, 0});
}

TEST_CASE("an edge between the two stays in the cut") {
    const auto graph = make_graph(3, {{0, 1, 3}});
    // Either costs 0 alone; with the edge 0 and 1 cost 6, so 2 goes back at 5.
    CHECK(exchanged(graph, {{0, 0, 2}}, {{0, 1, 1}, {5, 2, 1}}, 1, 1) == std::vector<index_t>{0, 2, 1});
    CHECK(exchanged(graph, {{0, 0, 2}}, {{0, 1, 1}, {7, 2, 1}}, 1, 1) == std::vector<index_t>{0, 1, 1});
    CHECK(edge_between(graph.view(), 0, 1) == 3);
    CHECK(edge_between(graph.view(), 1, 2) == 0);
}
