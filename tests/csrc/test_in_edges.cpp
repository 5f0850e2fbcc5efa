// Edges by where they lead to.
#include <doctest/doctest.h>

#include <numeric>
#include <stdexcept>

#include "compare.hpp"
#include "core/in_edges.hpp"
#include "random.hpp"

using namespace meshpart;
using namespace meshpart::testing;

using Ids = std::vector<index_t>;

namespace {

// With each sender called by its id.
InEdges in_edges(CsrView graph, int threads) {
    Ids names(graph.n_rows());
    std::iota(names.begin(), names.end(), 0);
    return meshpart::in_edges(graph, names, threads);
}

}  // namespace

TEST_CASE("a small graph with a loop and parallel edges") {
    // 0 -> 2, 0 -> 2, 0 -> 0; 1 -> 0; 2 -> nothing
    const Ids offsets{0, 3, 4, 4}, targets{2, 2, 0, 0};
    const InEdges in = in_edges({offsets, targets}, 1);
    CHECK(plain(in.offsets) == Ids{0, 2, 2, 4});
    CHECK(plain(in.edges) == Ids{2, 3, 0, 1});
    CHECK(plain(in.senders) == Ids{0, 1, 0, 0});
    CHECK(in.n_vertices() == 3);
    CHECK(in.count(2) == 2);
}

TEST_CASE("senders are called by their names, rows stay where they are") {
    const Ids offsets{0, 3, 4, 4}, targets{2, 2, 0, 0}, names{7, 5, 6};
    const InEdges in = in_edges({offsets, targets}, names, 1);
    CHECK(plain(in.offsets) == Ids{0, 2, 2, 4});
    CHECK(plain(in.edges) == Ids{2, 3, 0, 1});
    CHECK(plain(in.senders) == Ids{7, 5, 7, 7});
}

TEST_CASE("a graph without vertices has no edges") {
    const Ids offsets{0};
    CHECK(plain(in_edges({offsets, {}}, 3).offsets) == Ids{0});
}

TEST_CASE("edges into a vertex are those that name it, in order, in graphs of many blocks and with many threads") {
    Random random(1);
    for (const index_t n : {index_t{3}, index_t{4095}, index_t{4096}, index_t{30000}}) {
        Ids offsets{0}, targets;
        for (index_t v = 0; v < n; ++v) {
            for (index_t i = random.integer(0, 5); i > 0; --i) {
                targets.push_back(random.chance(0.2) ? n / 2 : random.integer(0, n - 1));
            }
            offsets.push_back(std::ssize(targets));
        }
        std::vector<Ids> edges(n), senders(n);
        for (index_t v = 0; v < n; ++v) {
            for (index_t e = offsets[v]; e < offsets[v + 1]; ++e) {
                edges[targets[e]].push_back(e);
                senders[targets[e]].push_back(v);
            }
        }
        Ids all_edges, all_senders, ends{0};
        for (index_t v = 0; v < n; ++v) {
            all_edges.insert(all_edges.end(), edges[v].begin(), edges[v].end());
            all_senders.insert(all_senders.end(), senders[v].begin(), senders[v].end());
            ends.push_back(std::ssize(all_edges));
        }
        for (const int threads : {1, 4}) {
            const InEdges in = in_edges({offsets, targets}, threads);
            CHECK(plain(in.offsets) == ends);
            CHECK(plain(in.edges) == all_edges);
            CHECK(plain(in.senders) == all_senders);
        }
    }
}

TEST_CASE("a target that no vertex is throws") {
    const Ids offsets{0, 1, 2};
    for (const index_t wrong : {index_t{2}, index_t{-1}, index_t{1} << 40}) {
        const Ids targets{0, wrong};
        CHECK_THROWS_AS(in_edges({offsets, targets}, 2), std::out_of_range);
    }
}
