// Metrics of decompositions, beside their definitions taken word by word.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <stdexcept>

#include "core/attachment.hpp"
#include "core/metrics.hpp"
#include "meshes.hpp"

using namespace meshpart;
using namespace meshpart::testing;

namespace {

// A graph that owns its arrays.
struct Graph {
    Csr rows;
    std::vector<weight_t> edge_weights;

    GraphView view() const { return {rows.view(), {}, edge_weights}; }
};

using Edges = std::map<std::pair<index_t, index_t>, weight_t>;

Graph graph_of(index_t n_vertices, const Edges& edges) {
    std::vector<std::map<index_t, weight_t>> rows(n_vertices);
    for (const auto& [ends, weight] : edges) {
        rows[ends.first][ends.second] = weight;
        rows[ends.second][ends.first] = weight;
    }
    Graph graph;
    for (const auto& row : rows) {
        for (const auto& [target, weight] : row) {
            graph.rows.entries.push_back(target);
            graph.edge_weights.push_back(weight);
        }
        graph.rows.close_row();
    }
    return graph;
}

CutMetrics cut_of(const Graph& graph, const std::vector<std::uint8_t>& kinds, const Labels& labels, index_t nparts) {
    return cut_metrics(graph.view(), kinds, labels, cells_of_parts(labels, nparts).view());
}

HaloMetrics halo_of(const Mesh& mesh, const Labels& labels, index_t nparts, int threads = 2) {
    return halo_metrics(mesh.view(), labels, static_cast<part_t>(nparts), threads);
}

bool same(const HaloMetrics& a, const HaloMetrics& b) {
    return a.shared_points == b.shared_points && a.points == b.points && a.ghosts == b.ghosts &&
           a.neighbours == b.neighbours;
}

// Compares with the definitions, for several numbers of threads and for long and short ids.
void check_halo(const Mesh& mesh, const Labels& labels, index_t nparts) {
    index_t shared = 0;
    std::set<std::pair<part_t, index_t>> ghosts;  // a part, and a cell
    std::set<std::pair<part_t, part_t>> neighbours;
    for (const auto& cells : cells_on_points(mesh)) {
        std::set<part_t> parts;
        for (const index_t cell : cells) parts.insert(labels[cell]);
        shared += parts.size() > 1;
        for (const part_t part : parts) {
            for (const index_t cell : cells) {
                if (labels[cell] == part) continue;
                ghosts.insert({part, cell});
                neighbours.insert({part, labels[cell]});
            }
        }
    }
    const auto owners = slow_owners(mesh, labels, nparts);
    const auto count = [](const auto& pairs, part_t part) {
        return std::ranges::count_if(pairs, [part](const auto& pair) { return pair.first == part; });
    };
    const auto found = halo_of(mesh, labels, nparts);
    REQUIRE(found.shared_points == shared);
    for (part_t part = 0; part < nparts; ++part) {
        REQUIRE(found.points[part] == std::ranges::count(owners, part));
        REQUIRE(found.ghosts[part] == count(ghosts, part));
        REQUIRE(found.neighbours[part] == count(neighbours, part));
    }
    for (const int threads : {1, 5}) REQUIRE(same(halo_of(mesh, labels, nparts, threads), found));
    REQUIRE(same(halo_metrics_in<index_t>(mesh.view(), labels, static_cast<part_t>(nparts), 2), found));
}

// How many pieces the vertices of a part fall into, found by walking from each.
index_t pieces_of(const Edges& edges, const std::vector<std::uint8_t>& kinds, const Labels& labels, part_t part) {
    std::set<index_t> left;
    for (index_t v = 0; v < std::ssize(labels); ++v) {
        if (labels[v] == part && kinds[v] != attached) left.insert(v);
    }
    index_t count = 0;
    while (!left.empty()) {
        ++count;
        std::set<index_t> piece{*left.begin()};
        for (std::size_t before = 0; before < piece.size();) {
            before = piece.size();
            for (const auto& [ends, weight] : edges) {
                if (left.count(ends.first) && left.count(ends.second) &&
                    (piece.count(ends.first) || piece.count(ends.second))) {
                    piece.insert({ends.first, ends.second});
                }
            }
        }
        for (const index_t v : piece) left.erase(v);
    }
    return count;
}

}  // namespace

TEST_CASE("the metrics of four quads in a row, cut after the first") {
    //  5 - 6 - 7 - 8 - 9
    //  | 0 | 1 | 2 | 3 |     one edge is cut, which each of two cells sees; points 1 and 6 are shared
    //  0 - 1 - 2 - 3 - 4
    const Labels labels{0, 1, 1, 1};
    const auto cut = cut_of(graph_of(4, {{{0, 1}, 1}, {{1, 2}, 1}, {{2, 3}, 1}}), {0, 0, 0, 0}, labels, 2);
    CHECK(cut.edge_cut == 1);
    CHECK(cut.communication_volume == 2);
    CHECK(plain(cut.components) == Ids{1, 1});
    CHECK(plain(cut.quotient.offsets) == Ids{0, 1, 2});
    CHECK(plain(cut.quotient.entries) == Ids{1, 0});
    CHECK(plain(cut.quotient_weights) == Ids{1, 1});
    const auto halo = halo_of(quad_grid(4, 1), labels, 2);
    CHECK(halo.shared_points == 2);
    CHECK(plain(halo.ghosts) == Ids{1, 1});
    CHECK(plain(halo.neighbours) == Ids{1, 1});
}

TEST_CASE("edges weigh what they weigh, and a cell counts a part among its neighbours once") {
    // A star: vertex 0 of part 0 in the middle, 1 and 2 of part 1, 3 of part 3, 4 of part 0; part 2 is empty.
    const Labels labels{0, 1, 1, 3, 0};
    const auto cut =
        cut_of(graph_of(5, {{{0, 1}, 5}, {{0, 2}, 7}, {{0, 3}, 11}, {{0, 4}, 100}}), {0, 0, 0, 0, 0}, labels, 4);
    CHECK(cut.edge_cut == 5 + 7 + 11);
    CHECK(cut.communication_volume == 2 + 1 + 1 + 1);  // vertices 0, 1, 2, 3
    CHECK(plain(cut.components) == Ids{1, 2, 0, 1});   // 1 and 2 are joined through 0 alone
    CHECK(plain(cut.quotient.offsets) == Ids{0, 2, 3, 3, 4});
    CHECK(plain(cut.quotient.entries) == Ids{1, 3, 0, 0});
    CHECK(plain(cut.quotient_weights) == Ids{12, 11, 12, 11});
}

TEST_CASE("attached cells are no components of their own") {
    const Labels labels{0, 0, 0, 1};
    const std::vector<std::uint8_t> kinds{top, free_cell, attached, attached};
    CHECK(plain(cut_of(graph_of(4, {}), kinds, labels, 2).components) == Ids{2, 0});
}

TEST_CASE("nothing is cut in one part, nor of nothing") {
    const auto one = cut_of(graph_of(3, {{{0, 1}, 1}}), {0, 0, 0}, {0, 0, 0}, 1);
    CHECK(one.edge_cut == 0);
    CHECK(plain(one.components) == Ids{2});
    CHECK(plain(one.quotient.offsets) == Ids{0, 0});
    const auto none = cut_of(graph_of(0, {}), {}, {}, 3);
    CHECK(plain(none.components) == Ids{0, 0, 0});
    CHECK(plain(none.quotient.offsets) == Ids{0, 0, 0, 0});
    CHECK(plain(halo_of(Mesh(4), {}, 3).ghosts) == Ids{0, 0, 0});
}

TEST_CASE("cuts are what their definitions say, for random graphs and labels") {
    Random random(5);
    for (int trial = 0; trial < 500; ++trial) {
        CAPTURE(trial);
        const index_t n = random.integer(1, 12), nparts = random.integer(1, trial % 3 ? 4 : 20);
        Edges edges;
        for (index_t count = random.integer(0, 2 * n); count > 0 && n > 1; --count) {
            const index_t a = random.integer(0, n - 2);
            edges[{a, random.integer(a + 1, n - 1)}] = random.integer(0, 9);
        }
        Labels labels(n);
        std::vector<std::uint8_t> kinds(n, top);
        for (part_t& label : labels) label = static_cast<part_t>(random.integer(0, nparts - 1));
        for (index_t v = 0; v < n; ++v) {
            const bool alone =
                std::ranges::none_of(edges, [v](const auto& e) { return e.first.first == v || e.first.second == v; });
            if (alone && random.chance(0.5)) kinds[v] = attached;
        }

        weight_t edge_cut = 0;
        std::set<std::pair<index_t, part_t>> seen;  // a cell, and another part among its neighbours
        std::vector<std::map<index_t, weight_t>> between(nparts);
        for (const auto& [ends, weight] : edges) {
            const part_t a = labels[ends.first], b = labels[ends.second];
            if (a == b) continue;
            edge_cut += weight;
            seen.insert({ends.first, b});
            seen.insert({ends.second, a});
            between[a][b] += weight;
            between[b][a] += weight;
        }
        const auto found = cut_of(graph_of(n, edges), kinds, labels, nparts);
        REQUIRE(found.edge_cut == edge_cut);
        REQUIRE(found.communication_volume == std::ssize(seen));
        for (part_t part = 0; part < nparts; ++part) {
            REQUIRE(found.components[part] == pieces_of(edges, kinds, labels, part));
            Ids others, weights;
            for (const auto& [other, weight] : between[part]) {
                others.push_back(other);
                weights.push_back(weight);
            }
            const index_t first = found.quotient.offsets[part], last = found.quotient.offsets[part + 1];
            REQUIRE(plain(found.quotient.view()[part]) == others);
            REQUIRE(Ids(found.quotient_weights.begin() + first, found.quotient_weights.begin() + last) == weights);
        }
    }
}

TEST_CASE("halos are what their definitions say, for random meshes and labels") {
    Random random(6);
    for (int trial = 0; trial < 500; ++trial) {
        CAPTURE(trial);
        const auto mesh = random_mesh(random, trial % 2 ? 6 : 40, 6, 8);
        const index_t nparts = random.integer(1, trial % 3 ? 4 : 20);
        check_halo(mesh, random_labels(random, mesh, nparts), nparts);
    }
}

TEST_CASE("halos are what their definitions say where many parts meet on several points") {
    Random random(9);
    for (int trial = 0; trial < 50; ++trial) {
        CAPTURE(trial);
        const index_t hubs = random.integer(1, 6), rim = random.integer(1, 40);
        std::vector<Ids> lines, tets;  // between any two hubs, and around them
        for (index_t a = 0; a < hubs; ++a) {
            for (index_t b = 0; b < a; ++b) lines.push_back({a, b});
        }
        for (index_t i = 0; i < rim; ++i) {
            const index_t a = random.integer(0, hubs - 1), b = random.integer(0, hubs - 1);
            tets.push_back({a, b, hubs + i, hubs + (i + 1) % rim});
        }
        const auto mesh = Mesh(hubs + rim + 1).add(tetra, tets).add(line, lines);
        const index_t nparts = random.integer(1, 50);
        check_halo(mesh, random_labels(random, mesh, nparts), nparts);
    }
}

TEST_CASE("all parts meet on the points of one cell") {
    // a polygon of part 0, and on each of its points a vertex of another part
    const auto mesh = Mesh(7).add(polygon, {{0, 1, 2, 3, 4}}).add(vertex, {{0}, {1}, {2}, {3}, {4}, {6}});
    const auto halo = halo_of(mesh, {0, 1, 2, 3, 4, 5, 6}, 8);
    CHECK(halo.shared_points == 5);
    CHECK(plain(halo.points) == Ids{6, 0, 0, 0, 0, 0, 1, 0});  // ties, and point 5, which no cell uses
    CHECK(plain(halo.ghosts) == Ids{5, 1, 1, 1, 1, 1, 0, 0});
    CHECK(plain(halo.neighbours) == Ids{5, 1, 1, 1, 1, 1, 0, 0});
}

TEST_CASE("ids out of range are refused") {
    const Labels labels{0, 1};
    auto graph = graph_of(2, {{{0, 1}, 1}});
    graph.rows.entries[1] = 2;
    CHECK_THROWS_AS(cut_of(graph, {0, 0}, labels, 2), std::out_of_range);
    graph.rows.entries[1] = 0;
    Csr owned = cells_of_parts(labels, 2);
    owned.entries[0] = -1;
    const std::vector<std::uint8_t> kinds{0, 0};
    CHECK_THROWS_AS(cut_metrics(graph.view(), kinds, labels, owned.view()), std::out_of_range);
    const Labels beyond{0, 2};
    CHECK_THROWS_AS(cut_metrics(graph.view(), kinds, beyond, cells_of_parts(labels, 2).view()), std::out_of_range);
    CHECK_THROWS_AS(halo_of(quad_grid(2, 1), beyond, 2), std::out_of_range);
    for (const index_t wrong : {index_t{6}, index_t{-1}}) {
        auto mesh = quad_grid(2, 1);
        mesh.points[5] = wrong;
        CHECK_THROWS_AS(halo_of(mesh, labels, 2), std::out_of_range);
    }
}
