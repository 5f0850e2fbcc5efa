// Pieces of parts, on drawn graphs.
#include <doctest/doctest.h>

#include "compare.hpp"
#include "core/pieces.hpp"
#include "graphs.hpp"

using namespace meshpart;
using testing::bodies_graph;
using testing::chain_graph;
using testing::OwnedGraph;
using testing::plain;

namespace {

Pieces pieces_of(const OwnedGraph& graph, const std::vector<part_t>& labels, part_t nparts) {
    return find_pieces(Assignment(graph.view(), labels, nparts));
}

bool whole(const OwnedGraph& graph, const std::vector<part_t>& labels, part_t nparts) {
    const Assignment assignment(graph.view(), labels, nparts);
    return are_whole(find_pieces(assignment), assignment);
}

}  // namespace

TEST_CASE("a piece is what hangs together in a part") {
    //  0 0 1 0 | 0 1 1     with weights 1 2 3 4 5 6 7
    const auto pieces = pieces_of(bodies_graph({4, 3}, {1, 2, 3, 4, 5, 6, 7}), {0, 0, 1, 0, 0, 1, 1}, 2);
    CHECK(plain(pieces.of) == std::vector<index_t>{0, 0, 1, 2, 3, 4, 4});
    std::vector<std::vector<index_t>> all;
    for (const auto& [weight, vertices, lowest] : pieces.all) all.push_back({weight, vertices, lowest});
    CHECK(all == std::vector<std::vector<index_t>>{{3, 2, 0}, {3, 1, 2}, {4, 1, 3}, {5, 1, 4}, {13, 2, 5}});
}

TEST_CASE("parts are whole if each that has vertices is one piece") {
    CHECK(whole(chain_graph(4), {0, 0, 1, 1}, 2));
    CHECK(whole(chain_graph(4), {0, 0, 2, 2}, 4));  // 1 and 3 are empty
    CHECK_FALSE(whole(chain_graph(4), {0, 1, 1, 0}, 2));
    CHECK_FALSE(whole(bodies_graph({2, 2}), {0, 0, 0, 0}, 1));
}
