// Checks of graphs, and the graph of groups.
#include <doctest/doctest.h>

#include <map>

#include "compare.hpp"
#include "core/graph.hpp"
#include "random.hpp"

using namespace meshpart;
using namespace meshpart::testing;

namespace {

using Ids = std::vector<index_t>;
using Edges = std::map<std::pair<index_t, index_t>, weight_t>;  // both directions

struct Owned {
    Ids offsets{0}, targets;
    std::vector<weight_t> weights;

    Owned(index_t n, const Edges& edges) {
        auto next = edges.begin();
        for (index_t v = 0; v < n; ++v) {
            for (; next != edges.end() && next->first.first == v; ++next) {
                targets.push_back(next->first.second);
                weights.push_back(next->second);
            }
            offsets.push_back(std::ssize(targets));
        }
    }
    GraphView view() const { return {{offsets, targets}, {}, weights}; }
};

Edges random_edges(Random& random, index_t n) {
    Edges edges;
    for (index_t i = 0; i < 3 * n; ++i) {
        const index_t a = random.integer(0, n - 1), b = random.integer(0, n - 1);
        if (a != b) edges[{a, b}] = edges[{b, a}] = random.integer(0, 5);
    }
    return edges;
}

Flaw flaw(const Ids& offsets, const Ids& targets, const std::vector<weight_t>& weights = {}) {
    return check_graph({{offsets, targets}, {}, weights}).flaw;
}

}  // namespace

TEST_CASE("each flaw of a graph is found") {
    CHECK(flaw({0}, {}) == Flaw::none);
    CHECK(flaw({0, 1, 3, 4}, {1, 0, 2, 1}) == Flaw::none);
    CHECK(flaw({0, 1, 2}, {2, 0}) == Flaw::target_out_of_range);
    CHECK(flaw({0, 1, 2}, {-1, 0}) == Flaw::target_out_of_range);
    CHECK(flaw({0, 2, 3, 4}, {2, 1, 0, 0}) == Flaw::not_ascending);
    CHECK(flaw({0, 2, 4}, {1, 1, 0, 0}) == Flaw::not_ascending);
    CHECK(flaw({0, 0, 1}, {1}) == Flaw::loop);
    CHECK(flaw({0, 1, 1}, {1}) == Flaw::not_symmetric);
    CHECK(flaw({0, 0, 1}, {0}) == Flaw::not_symmetric);
    CHECK(flaw({0, 1, 2}, {1, 0}, {3, 3}) == Flaw::none);
    CHECK(flaw({0, 1, 2}, {1, 0}, {-3, -3}) == Flaw::negative_weight);
    CHECK(flaw({0, 1, 2}, {1, 0}, {3, 4}) == Flaw::weights_differ);
}

TEST_CASE("of a random graph every entry counts") {
    Random random(1);
    for (int round = 0; round < 200; ++round) {
        const index_t n = random.integer(2, 10);
        Edges edges = random_edges(random, n);
        CHECK(check_graph(Owned(n, edges).view()).flaw == Flaw::none);
        if (edges.empty()) continue;
        edges.erase(std::next(edges.begin(), random.integer(0, std::ssize(edges) - 1)));
        CHECK(check_graph(Owned(n, edges).view()).flaw == Flaw::not_symmetric);
    }
}

TEST_CASE("the graph of groups has the edges between them, weights added") {
    Random random(2);
    for (int round = 0; round < 200; ++round) {
        const index_t n = random.integer(1, 12), n_groups = random.integer(1, 5);
        const Edges edges = random_edges(random, n);
        Ids groups(n);
        for (index_t& group : groups) group = random.integer(-1, n_groups - 1);
        Edges expected;
        for (const auto& [ends, weight] : edges) {
            const index_t a = groups[ends.first], b = groups[ends.second];
            if (a >= 0 && b >= 0 && a != b) expected[{a, b}] += weight;
        }
        const Owned graph(n, edges), slow(n_groups, expected);
        const Graph found = contract(graph.view(), groups, n_groups);
        CHECK(plain(found.rows.offsets) == slow.offsets);
        CHECK(plain(found.rows.entries) == slow.targets);
        CHECK(plain(found.edge_weights) == slow.weights);
    }
}

TEST_CASE("of a graph without weights every edge counts one") {
    const Ids offsets{0, 2, 4, 6, 8}, targets{1, 2, 0, 3, 0, 3, 1, 2}, groups{0, 0, 1, 1};  // 0-1, 0-2, 1-3, 2-3
    const Graph found = contract({{offsets, targets}, {}, {}}, groups, 2);
    CHECK(plain(found.rows.entries) == Ids{1, 0});
    CHECK(plain(found.edge_weights) == Ids{2, 2});
}
