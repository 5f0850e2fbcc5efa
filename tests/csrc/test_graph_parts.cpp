// Parts of directed graphs. The tests in Python compare them with a slow reference.
#include <doctest/doctest.h>

#include <set>
#include <stdexcept>

#include "compare.hpp"
#include "core/graph_parts.hpp"
#include "random.hpp"

using namespace meshpart;
using namespace meshpart::testing;

namespace {

using Ids = std::vector<index_t>;
using Parts = std::vector<part_t>;

struct Digraph {
    Ids offsets{0}, targets;
    Parts owners;

    index_t n() const { return std::ssize(owners); }
};

GraphParts built(const Digraph& graph, part_t nparts, const Parts& parts, std::int32_t layers, int threads = 2) {
    const Csr owned = invert(std::span(graph.owners), nparts);
    return graph_parts({graph.offsets, graph.targets}, owned.view(), parts, layers, threads);
}

Digraph random_digraph(Random& random, part_t nparts) {
    Digraph graph;
    const index_t n = random.integer(1, 12);
    for (index_t v = 0; v < n; ++v) {
        for (index_t i = random.integer(0, 3); i > 0; --i) graph.targets.push_back(random.integer(0, n - 1));
        graph.offsets.push_back(std::ssize(graph.targets));
        graph.owners.push_back(static_cast<part_t>(random.integer(0, nparts - 1)));
    }
    return graph;
}

// The layers of a part, each found by looking at all edges.
std::vector<std::set<index_t>> layers_of(const Digraph& graph, part_t part, std::int32_t layers) {
    std::vector<std::set<index_t>> found(layers + 1);
    std::set<index_t> taken;
    for (index_t v = 0; v < graph.n(); ++v) {
        if (graph.owners[v] == part) found[0].insert(v);
    }
    taken = found[0];
    for (std::int32_t layer = 1; layer <= layers; ++layer) {
        for (index_t v = 0; v < graph.n(); ++v) {
            for (index_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
                if (!taken.contains(v) && found[layer - 1].contains(graph.targets[e])) found[layer].insert(v);
            }
        }
        taken.insert(found[layer].begin(), found[layer].end());
    }
    return found;
}

template <class Values>
auto slice(const Values& values, index_t begin, index_t end) {
    return std::vector(values.begin() + begin, values.begin() + end);
}

}  // namespace

TEST_CASE("a ring in one direction, cut in two") {
    // 0 -> 1 -> 2 -> 3 -> 0
    const Digraph ring{{0, 1, 2, 3, 4}, {1, 2, 3, 0}, {0, 0, 1, 1}};
    const GraphParts parts = built(ring, 2, {0, 1}, 1);
    CHECK(plain(parts.vertices.ids.offsets) == Ids{0, 3, 6});
    CHECK(plain(parts.vertices.ids.entries) == Ids{0, 1, 3, 2, 3, 1});
    CHECK(plain(parts.vertices.n_owned) == Ids{2, 2});
    CHECK(plain(parts.vertices.ghost_owners) == Parts{1, 0});
    CHECK(plain(parts.vertices.ghost_layers) == Parts{1, 1});
    CHECK(plain(parts.complete) == std::vector<std::uint8_t>{1, 1, 0, 1, 1, 0});
    CHECK(plain(parts.row_offsets) == Ids{0, 1, 2, 2, 0, 1, 2, 2});
    CHECK(plain(parts.edge_offsets) == Ids{0, 2, 4});
    CHECK(plain(parts.senders) == Ids{2, 0, 2, 0});
    CHECK(plain(parts.edge_ids) == Ids{3, 0, 1, 2});
    CHECK(plain(parts.vertices.plans.neighbours.entries) == Ids{1, 0});
    CHECK(plain(parts.vertices.plans.send_indices) == Ids{1, 1});
    CHECK(plain(parts.vertices.plans.receive_counts) == Ids{1, 1});
}

TEST_CASE("layers follow edges backwards, and rows of all but the last are complete") {
    Random random(1);
    for (int round = 0; round < 300; ++round) {
        const auto nparts = static_cast<part_t>(random.integer(1, 5));
        const auto layers = static_cast<std::int32_t>(random.integer(0, 4));
        const Digraph graph = random_digraph(random, nparts);
        Parts all;
        for (part_t part = 0; part < nparts; ++part) all.push_back(part);
        const GraphParts parts = built(graph, nparts, all, layers);
        index_t first_ghost = 0;
        for (part_t part = 0; part < nparts; ++part) {
            const auto expected = layers_of(graph, part, layers);
            const index_t first = parts.vertices.ids.offsets[part];
            const auto local = parts.vertices.ids.view()[part];
            const index_t n_owned = std::ssize(expected[0]);
            CHECK(parts.vertices.n_owned[part] == n_owned);
            std::vector<std::set<index_t>> found(layers + 1);
            for (index_t v = 0; v < std::ssize(local); ++v) {
                const index_t ghost = first_ghost + v - n_owned;
                const std::int32_t layer = v < n_owned ? 0 : parts.vertices.ghost_layers[ghost];
                found[layer].insert(local[v]);
                CHECK(graph.owners[local[v]] == (v < n_owned ? part : parts.vertices.ghost_owners[ghost]));
                const index_t begin = parts.row_offsets[first + part + v],
                              end = parts.row_offsets[first + part + v + 1];
                const auto into = std::ranges::count(graph.targets, local[v]);
                CHECK(end - begin == (layer < layers ? into : 0));
                for (index_t e = begin; e < end; ++e) {
                    const index_t id = parts.edge_ids[parts.edge_offsets[part] + e];
                    const index_t sender = local[parts.senders[parts.edge_offsets[part] + e]];
                    CHECK(graph.targets[id] == local[v]);
                    CHECK(graph.offsets[sender] <= id);
                    CHECK(id < graph.offsets[sender + 1]);
                }
                if (layer < layers) CHECK(parts.complete[first + v] == 1);
            }
            CHECK(found == expected);
            first_ghost += std::ssize(local) - n_owned;
        }
    }
}

TEST_CASE("some parts are the same as among all") {
    Random random(2);
    for (int round = 0; round < 300; ++round) {
        const auto layers = static_cast<std::int32_t>(random.integer(0, 4));
        const Digraph graph = random_digraph(random, 6);
        const Parts wanted{1, 4};
        const GraphParts all = built(graph, 6, {0, 1, 2, 3, 4, 5}, layers);
        const GraphParts some = built(graph, 6, wanted, layers);
        for (index_t i = 0; i < 2; ++i) {
            const part_t part = wanted[i];
            CHECK(plain(some.vertices.ids.view()[i]) == plain(all.vertices.ids.view()[part]));
            CHECK(plain(some.vertices.plans.neighbours.view()[i]) == plain(all.vertices.plans.neighbours.view()[part]));
            const index_t own = some.vertices.plans.neighbours.offsets[i],
                          end = some.vertices.plans.neighbours.offsets[i + 1];
            const index_t its = all.vertices.plans.neighbours.offsets[part];
            CHECK(slice(some.vertices.plans.receive_counts, own, end) ==
                  slice(all.vertices.plans.receive_counts, its, its + end - own));
            CHECK(slice(some.vertices.plans.send_indices, some.vertices.plans.send_offsets[own],
                        some.vertices.plans.send_offsets[end]) ==
                  slice(all.vertices.plans.send_indices, all.vertices.plans.send_offsets[its],
                        all.vertices.plans.send_offsets[its + end - own]));
        }
    }
}

TEST_CASE("a target that no vertex is throws") {
    for (const index_t wrong : {index_t{2}, index_t{-1}}) {
        CHECK_THROWS_AS(built({{0, 1, 2}, {1, wrong}, {0, 1}}, 2, {0, 1}, 1), std::out_of_range);
    }
}

TEST_CASE("vertices without an owner, and owned ones that there are not, throw") {
    const Ids offsets{0, 1, 1}, targets{1}, one{0}, wrong{0, 2};
    const Parts all{0};
    const Ids ends_of_one{0, 1}, ends_of_two{0, 2};
    CHECK_THROWS_AS(graph_parts({offsets, targets}, {ends_of_one, one}, all, 1, 1), std::invalid_argument);
    CHECK_THROWS_AS(graph_parts({offsets, targets}, {ends_of_two, wrong}, all, 1, 1), std::out_of_range);
}
