// The graph of points joined by edges, beside sets of pairs.
#include <doctest/doctest.h>

#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "core/point_graph.hpp"
#include "meshes.hpp"

using namespace meshpart;
using namespace meshpart::testing;

namespace {

// Owns the arrays of an OutlineView: one call for each block of the mesh, in their order.
struct Edges {
    Ids pattern_offsets{0}, patterns, pattern_starts{0}, face_offsets{0}, faces, face_starts{0}, polyhedra_before;

    Edges& add(const std::vector<Ids>& of_block) {
        for (const Ids& pattern : of_block) {
            patterns.insert(patterns.end(), pattern.begin(), pattern.end());
            pattern_offsets.push_back(std::ssize(patterns));
        }
        pattern_starts.push_back(std::ssize(pattern_offsets) - 1);
        polyhedra_before.push_back(-1);
        return *this;
    }
    Edges& add_polyhedra(const std::vector<std::vector<Ids>>& cells) {
        add({});
        polyhedra_before.back() = std::ssize(face_starts) - 1;
        for (const auto& cell : cells) {
            for (const Ids& face : cell) {
                faces.insert(faces.end(), face.begin(), face.end());
                face_offsets.push_back(std::ssize(faces));
            }
            face_starts.push_back(std::ssize(face_offsets) - 1);
        }
        return *this;
    }
    OutlineView view() const {
        return {{pattern_offsets, patterns}, pattern_starts, {face_offsets, faces}, face_starts, polyhedra_before};
    }
};

using Rows = std::vector<Ids>;

Rows rows_of(const Csr& graph) {
    REQUIRE(graph.offsets.front() == 0);
    REQUIRE(graph.offsets.back() == std::ssize(graph.entries));
    Rows rows;
    for (index_t i = 0; i < graph.view().n_rows(); ++i) rows.push_back(plain(graph.view()[i]));
    return rows;
}

Rows found(const Mesh& mesh, const Edges& edges, int threads = 1) {
    return rows_of(point_graph(mesh.view(), edges.view(), threads));
}

// Walks along every edge of every cell, one after another.
Rows slow_point_graph(const Mesh& mesh, const Edges& edges) {
    std::vector<std::set<index_t>> neighbours(mesh.n_points);
    const auto join = [&](const Ids& cell, index_t from, index_t to) {
        if (cell[from] == cell[to]) return;
        neighbours[cell[from]].insert(cell[to]);
        neighbours[cell[to]].insert(cell[from]);
    };
    const auto view = edges.view();
    for (index_t c = 0; c < mesh.n_cells(); ++c) {
        const index_t block = mesh.block_of(c);
        const Ids cell = mesh.cell(c);
        if (view.polyhedra_before[block] >= 0) {
            const index_t polyhedron = view.polyhedra_before[block] + c - mesh.block_starts[block];
            for (index_t f = view.face_starts[polyhedron]; f < view.face_starts[polyhedron + 1]; ++f) {
                const auto face = view.faces[f];
                for (std::size_t i = 0; i < face.size(); ++i) join(cell, face[i], face[(i + 1) % face.size()]);
            }
        } else if (mesh.corners[block] < 0) {
            for (std::size_t i = 0; i < cell.size(); ++i) join(cell, i, (i + 1) % cell.size());
        } else {
            for (index_t p = view.pattern_starts[block]; p < view.pattern_starts[block + 1]; ++p) {
                const auto pattern = view.patterns[p];
                for (std::size_t i = 1; i < pattern.size(); ++i) join(cell, pattern[i - 1], pattern[i]);
            }
        }
    }
    Rows rows;
    for (const auto& row : neighbours) rows.emplace_back(row.begin(), row.end());
    return rows;
}

// For a mesh any edges: patterns and faces are drawn like everything else.
Edges random_edges(Random& random, const Mesh& mesh) {
    Edges edges;
    for (index_t block = 0; block < mesh.n_blocks(); ++block) {
        const auto draw = [&](index_t count, index_t width) {
            std::vector<Ids> rows(count);
            for (Ids& row : rows) {
                row.resize(random.integer(2, 5));
                for (index_t& position : row) position = random.integer(0, width - 1);
            }
            return rows;
        };
        if (mesh.corners[block] < 0 && mesh.dims[block] == 3) {
            std::vector<std::vector<Ids>> cells;
            for (index_t c = mesh.block_starts[block]; c < mesh.block_starts[block + 1]; ++c) {
                cells.push_back(draw(random.integer(0, 3), std::ssize(mesh.cell(c))));
            }
            edges.add_polyhedra(cells);
        } else {
            edges.add(mesh.corners[block] < 0 ? Rows{} : draw(random.integer(0, 4), mesh.widths[block]));
        }
    }
    return edges;
}

const Rows quad_edges{{0, 1}, {1, 2}, {3, 2}, {0, 3}};

}  // namespace

TEST_CASE("points of a square are joined along its sides, in whatever direction an edge runs") {
    //  3 - 2
    //  |   |   4
    //  0 - 1
    CHECK(found(Mesh(5).add(quad, {{0, 1, 2, 3}}), Edges().add(quad_edges)) ==
          Rows{{1, 3}, {0, 2}, {1, 3}, {0, 2}, {}});
}

TEST_CASE("a mid-side point stands between the corners") {
    //  2 - 4 - 0 - 3 - 1    two curved lines, and a straight one from 2 to 1
    const auto mesh = Mesh(5).add(line3, {{0, 1, 3}, {2, 0, 4}}).add(line, {{2, 1}});
    CHECK(found(mesh, Edges().add({{0, 2, 1}}).add({{0, 1}})) == Rows{{3, 4}, {2, 3}, {1, 4}, {0, 1}, {0, 2}});
}

TEST_CASE("edges between equal points are dropped, of a curved one the way to its mid-side point is left") {
    const auto mesh = Mesh(3).add(line, {{1, 1}}).add(line3, {{0, 0, 2}, {2, 2, 2}});
    CHECK(found(mesh, Edges().add({{0, 1}}).add({{0, 2, 1}})) == Rows{{2}, {}, {0}});
}

TEST_CASE("polygons are rings, and polyhedra are joined around their faces by positions in the row") {
    //  3 - 2       7
    //  | 0 |      /|\.     cell 0 = the polygon 0 1 2 3, cell 1 = the tetra of points 7 6 5 4
    //  0 - 1     4-5-6
    const auto mesh = Mesh(8).add(polyhedron, {{7, 6, 5, 4}}).add(polygon, {{0, 1, 2, 3}});
    const auto edges = Edges().add_polyhedra({{{0, 1, 2}, {2, 1, 3}}}).add({});  // two of its faces: no edge 7-4
    CHECK(found(mesh, edges) == Rows{{1, 3}, {0, 2}, {1, 3}, {0, 2}, {5, 6}, {4, 6, 7}, {4, 5, 7}, {5, 6}});
}

TEST_CASE("a mesh without points or without cells has no edges") {
    CHECK(found(Mesh(0), Edges()) == Rows{});
    CHECK(found(Mesh(2).add(quad, {}), Edges().add(quad_edges)) == Rows{{}, {}});
}

TEST_CASE("the graph is what a walk along every edge finds, for any ids and any number of threads") {
    Random random(1);
    for (int trial = 0; trial < 1500; ++trial) {
        CAPTURE(trial);
        const auto mesh = random_mesh(random, trial % 3 ? 8 : 3000, 6, 8);
        const auto edges = random_edges(random, mesh);
        const auto expected = slow_point_graph(mesh, edges);
        REQUIRE(found(mesh, edges, 1 + trial % 4) == expected);
        REQUIRE(rows_of(point_graph_in<index_t>(mesh.view(), edges.view(), 1 + trial % 3)) == expected);
    }
}

TEST_CASE("rows may be short or long, with every neighbour once or many times") {
    // Lines from point 0 to `n` others, each of them several times.
    for (const index_t n : {1, 2, 31, 63, 64, 65, 127, 128, 129, 1000}) {
        for (const int times : {1, 2, 3}) {
            CAPTURE(n);
            std::vector<Ids> lines;
            Rows expected(n + 1, Ids{0});
            expected[0].clear();
            for (index_t i = 1; i <= n; ++i) {
                for (int k = 0; k < times; ++k) lines.push_back({k % 2 ? 0 : i, k % 2 ? i : 0});
                expected[0].push_back(i);
            }
            Random(n).shuffle(lines);
            CHECK(found(Mesh(n + 1).add(line, lines), Edges().add({{0, 1}})) == expected);
        }
    }
}

TEST_CASE("points may be millions, and a large grid gives the same for any number of threads") {
    const index_t far = (index_t{1} << 21) + 12345;
    const auto sparse = point_graph(Mesh(far + 1).add(line, {{0, far}, {far - 1, far}, {0, 1000000}}).view(),
                                    Edges().add({{0, 1}}).view(), 3);
    CHECK(plain(sparse.view()[0]) == Ids{1000000, far});
    CHECK(plain(sparse.view()[1000000]) == Ids{0});
    CHECK(plain(sparse.view()[far]) == Ids{0, far - 1});
    CHECK(std::ssize(sparse.entries) == 6);

    const auto grid = quad_grid(100, 70);
    const auto edges = Edges().add(quad_edges);
    const auto rows = found(grid, edges);
    CHECK(rows == slow_point_graph(grid, edges));
    for (const int threads : {2, 3, 8}) CHECK(found(grid, edges, threads) == rows);
}

TEST_CASE("points and positions that are not there are refused") {
    for (const index_t wrong : {index_t{-1}, index_t{4}, std::numeric_limits<index_t>::max()}) {
        CAPTURE(wrong);
        for (int entry = 0; entry < 4; ++entry) {
            auto mesh = Mesh(4).add(quad, {{0, 1, 2, 3}});
            mesh.points[entry] = wrong;
            CHECK_THROWS_AS(found(mesh, Edges().add(quad_edges)), std::out_of_range);
            auto rings = Mesh(4).add(polygon, {{0, 1, 2, 3}});
            rings.points[entry] = wrong;
            CHECK_THROWS_AS(found(rings, Edges().add({})), std::out_of_range);
        }
        const auto mesh = Mesh(4).add(quad, {{0, 1, 2, 3}});
        CHECK_THROWS_AS(found(mesh, Edges().add({{0, wrong}})), std::out_of_range);
        CHECK_THROWS_AS(found(mesh, Edges().add({{wrong, 0}})), std::out_of_range);
        const auto solid = Mesh(4).add(polyhedron, {{0, 1, 2, 3}});
        CHECK_NOTHROW(found(solid, Edges().add_polyhedra({{{0, 1, 3}}})));
        CHECK_THROWS_AS(found(solid, Edges().add_polyhedra({{{0, 1, wrong}}})), std::out_of_range);
    }
}

TEST_CASE("edges of other blocks are refused") {
    const auto mesh = Mesh(4).add(quad, {{0, 1, 2, 3}});
    CHECK_THROWS_AS(found(mesh, Edges()), std::invalid_argument);
    CHECK_THROWS_AS(found(mesh, Edges().add(quad_edges).add({})), std::invalid_argument);
}
