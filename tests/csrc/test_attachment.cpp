// Kinds of cells and their parents, beside a look at every pair of cells.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

#include "core/attachment.hpp"
#include "meshes.hpp"

using namespace meshpart;
using namespace meshpart::testing;

namespace {

using Kinds = std::vector<std::uint8_t>;

std::set<index_t> as_set(const Ids& ids) {
    return {ids.begin(), ids.end()};
}

struct SlowAttachment {
    Kinds kinds;
    Ids cells;                  // the attached ones
    std::vector<Ids> parents;   // of each of them
    index_t n_corner_sets = 0;  // of them, counted for each dimension
};

SlowAttachment slow_attachment(const Mesh& mesh) {
    SlowAttachment result;
    int highest = -1;
    for (index_t c = 0; c < mesh.n_cells(); ++c) highest = std::max(highest, mesh.dim_of(c));
    result.kinds.assign(mesh.n_cells(), top);
    for (int dim = highest - 1; dim >= 0; --dim) {
        std::set<std::set<index_t>> corner_sets;
        for (index_t c = 0; c < mesh.n_cells(); ++c) {
            if (mesh.dim_of(c) != dim) continue;
            Ids in_attached, in_others;
            for (index_t holder = 0; holder < mesh.n_cells(); ++holder) {
                if (mesh.dim_of(holder) <= dim) continue;
                if (!std::ranges::includes(as_set(mesh.cell(holder)), as_set(mesh.corners_of(c)))) continue;
                (result.kinds[holder] == attached ? in_attached : in_others).push_back(holder);
            }
            const Ids& parents = in_others.empty() ? in_attached : in_others;
            result.kinds[c] = parents.empty() ? free_cell : attached;
            if (parents.empty()) continue;
            result.cells.push_back(c);
            result.parents.push_back(parents);
            corner_sets.insert(as_set(mesh.corners_of(c)));
        }
        result.n_corner_sets += std::ssize(corner_sets);
    }
    return result;
}

Ids parents_of(const Attachment& found, std::size_t i) {
    const auto row = found.parents.view()[found.rows[i]];
    return {row.begin(), row.end()};
}

std::vector<part_t> labelled(const Attachment& found, std::vector<part_t> labels) {
    label_attached(found.cells, found.rows, found.parents.view(), labels);
    return labels;
}

void check(const Mesh& mesh) {
    const auto found = attachment(mesh.view());
    const auto expected = slow_attachment(mesh);
    REQUIRE(plain(found.kinds) == expected.kinds);
    REQUIRE(plain(found.cells) == expected.cells);
    REQUIRE(found.rows.size() == found.cells.size());
    for (std::size_t i = 0; i < found.cells.size(); ++i) REQUIRE(parents_of(found, i) == expected.parents[i]);
    REQUIRE(found.parents.view().n_rows() == expected.n_corner_sets);
    REQUIRE(found.parents.offsets.back() == std::ssize(found.parents.entries));
}

}  // namespace

TEST_CASE("sides of a triangle are attached to it, a line that leaves it is free") {
    //  2          cells: 0 triangle 0 1 2, then the lines 1: 0-1, 2: 1-2, 3: 1-3, then the vertices 4: 0, 5: 3
    //  | \.
    //  0 - 1 - 3
    const auto mesh = Mesh(4).add(triangle, {{0, 1, 2}}).add(line, {{0, 1}, {1, 2}, {1, 3}}).add(vertex, {{0}, {3}});
    const auto found = attachment(mesh.view());
    CHECK(plain(found.kinds) == Kinds{top, attached, attached, free_cell, attached, attached});
    CHECK(plain(found.cells) == Ids{1, 2, 4, 5});
    CHECK(parents_of(found, 0) == Ids{0});
    CHECK(parents_of(found, 2) == Ids{0});  // the lines at vertex 0 are attached themselves
    CHECK(parents_of(found, 3) == Ids{3});  // a free line is a parent
}

TEST_CASE("a line between two triangles has both as parents, in any order of blocks, and its twin shares them") {
    //  2 - 3      cells: the lines 0: 1-2 and 1: 2-1, then the triangles 2: 0 1 2 and 3: 1 3 2
    //  | \ |
    //  0 - 1
    const auto mesh = Mesh(4).add(line, {{1, 2}, {2, 1}}).add(triangle, {{0, 1, 2}, {1, 3, 2}});
    const auto found = attachment(mesh.view());
    CHECK(plain(found.kinds) == Kinds{attached, attached, top, top});
    CHECK(plain(found.rows) == Ids{0, 0});
    CHECK(plain(found.parents.entries) == Ids{2, 3});
}

TEST_CASE("a vertex on the mid-side point of an attached line hangs on that line, which alone has the point") {
    // A linear tetra, a curved line on its side 0-1, and a vertex on the line's mid-side point 4.
    const auto mesh = Mesh(5).add(tetra, {{0, 1, 2, 3}}).add(line3, {{0, 1, 4}}).add(vertex, {{4}});
    const auto found = attachment(mesh.view());
    CHECK(plain(found.kinds) == Kinds{top, attached, attached});
    CHECK(parents_of(found, 1) == Ids{1});
    CHECK(labelled(found, {6, 0, 0}) == std::vector<part_t>{6, 6, 6});
}

TEST_CASE("corners may lie on mid-side points, mid-side points need not lie on anything") {
    // The line 1-3 joins a corner with a mid-side point of the triangle; the curved line's own mid-side point 6 is
    // free.
    const auto mesh = Mesh(7).add(triangle6, {{0, 1, 2, 3, 4, 5}}).add(line, {{1, 3}}).add(line3, {{0, 1, 6}});
    CHECK(plain(attachment(mesh.view()).kinds) == Kinds{top, attached, attached});
}

TEST_CASE("a shell beside a solid is free, and holds its own sides") {
    // A tetra 0 1 2 3, a triangle 3 4 5 that shares one point with it, a line 4-5.
    const auto mesh = Mesh(6).add(tetra, {{0, 1, 2, 3}}).add(triangle, {{3, 4, 5}}).add(line, {{4, 5}});
    const auto found = attachment(mesh.view());
    CHECK(plain(found.kinds) == Kinds{top, free_cell, attached});
    CHECK(parents_of(found, 0) == Ids{1});
}

TEST_CASE("a mesh of one dimension has top cells only, and no parents") {
    for (const auto& mesh : {Mesh(0), Mesh(5), Mesh(3).add(vertex, {{0}, {2}, {2}}), quad_grid(3, 2),
                             Mesh(3).add(tetra, {}).add(triangle, {{0, 1, 2}}).add(line, {})}) {
        const auto found = attachment(mesh.view());
        CHECK(plain(found.kinds) == Kinds(mesh.n_cells(), top));
        CHECK(found.cells.empty());
        CHECK(plain(found.parents.offsets) == Ids{0});
    }
}

TEST_CASE("an empty block does not raise the highest dimension") {
    const auto mesh = Mesh(3).add(tetra, {}).add(line, {{0, 1}}).add(triangle, {{0, 1, 2}});
    CHECK(plain(attachment(mesh.view()).kinds) == Kinds{attached, top});
}

TEST_CASE("attachment is what a look at every pair of cells finds") {
    Random random(1);
    for (int trial = 0; trial < 1500; ++trial) {
        CAPTURE(trial);
        check(random_mesh(random, trial % 2 ? 6 : 20, 6, 6));
    }
}

TEST_CASE("many cells on one hub share one row of parents") {
    // A fan of triangles around point 0 with their spokes as lines, and as many vertices on the hub again.
    constexpr index_t n = 20000, n_vertices = 2000;
    std::vector<Ids> triangles, spokes;
    for (index_t i = 0; i < n; ++i) {
        triangles.push_back({0, 1 + i, 1 + (i + 1) % n});
        spokes.push_back({1 + i, 0});
    }
    const auto mesh =
        Mesh(n + 1).add(vertex, std::vector<Ids>(n_vertices, Ids{0})).add(line, spokes).add(triangle, triangles);
    const auto found = attachment(mesh.view());
    CHECK(std::ranges::count(found.kinds, attached) == n + n_vertices);
    CHECK(std::ssize(found.parents.entries) == n + 2 * n);  // one row for the hub, two triangles on each spoke
    CHECK(found.parents.view().n_rows() == 1 + n);
    CHECK(found.rows.back() == found.rows[n]);
}

TEST_CASE("an attached cell has the lowest label among its parents, whatever it had before") {
    Random random(2);
    for (int trial = 0; trial < 300; ++trial) {
        CAPTURE(trial);
        const auto mesh = random_mesh(random, 8, 6, 6);
        const auto expected = slow_attachment(mesh);
        std::vector<part_t> labels(mesh.n_cells());
        for (auto& label : labels) label = static_cast<part_t>(random.integer(0, 3));
        auto by_hand = labels;
        for (std::size_t i = 0; i < expected.cells.size(); ++i) {
            part_t lowest = std::numeric_limits<part_t>::max();
            for (const index_t parent : expected.parents[i]) lowest = std::min(lowest, by_hand[parent]);
            by_hand[expected.cells[i]] = lowest;
        }
        REQUIRE(labelled(attachment(mesh.view()), labels) == by_hand);
    }
}

TEST_CASE("attachment refuses points that are not there, of lower and of higher cells") {
    for (const index_t wrong : {index_t{-1}, index_t{4}, std::numeric_limits<index_t>::max()}) {
        for (int entry = 0; entry < 8; ++entry) {
            auto mesh = Mesh(4).add(line3, {{0, 1, 3}}).add(triangle, {{0, 1, 2}}).add(line, {{0, 1}});
            mesh.points[entry] = wrong;
            CHECK_THROWS_AS(attachment(mesh.view()), std::out_of_range);
        }
    }
}

TEST_CASE("label_attached refuses cells, rows and parents that are not there") {
    const auto label = [](const Ids& cells, const Ids& rows, const Ids& offsets, const Ids& parents) {
        std::vector<part_t> labels(3, 0);
        label_attached(cells, rows, {offsets, parents}, labels);
    };
    CHECK_NOTHROW(label({1, 2}, {0, 0}, {0, 1}, {0}));
    for (const index_t wrong : {index_t{-1}, index_t{3}, std::numeric_limits<index_t>::max()}) {
        CHECK_THROWS_AS(label({1, wrong}, {0, 0}, {0, 1}, {0}), std::out_of_range);
        CHECK_THROWS_AS(label({1, 2}, {0, wrong}, {0, 1}, {0}), std::out_of_range);
        CHECK_THROWS_AS(label({1, 2}, {0, 0}, {0, 1}, {wrong}), std::out_of_range);
    }
}
