// Parts that meet on points, and the ghosts that follow from them, beside the rule taken word by word.
#include <doctest/doctest.h>

#include <set>
#include <stdexcept>

#include "core/ghosts.hpp"
#include "meshes.hpp"

using namespace meshpart;
using namespace meshpart::testing;

namespace {

Csr on_shared_points(const Mesh& mesh, const Labels& labels, index_t nparts) {
    return parts_on_shared_points(mesh.view(), cells_of_parts(labels, nparts).view());
}

Csr with_ghost(const Mesh& mesh, const Labels& labels, index_t nparts, int threads = 2) {
    return parts_with_ghost(mesh.view(), labels, on_shared_points(mesh, labels, nparts).view(), threads);
}

void check(const Mesh& mesh, const Labels& labels, index_t nparts) {
    const auto cells_on = cells_on_points(mesh);
    const Csr on_points = on_shared_points(mesh, labels, nparts);
    REQUIRE(on_points.view().n_rows() == mesh.n_points);
    for (index_t point = 0; point < mesh.n_points; ++point) {
        std::set<index_t> parts;
        for (const index_t cell : cells_on[point]) parts.insert(labels[cell]);
        if (parts.size() < 2) parts.clear();
        REQUIRE(plain(on_points.view()[point]) == plain(parts));
    }
    const Csr ghosts = with_ghost(mesh, labels, nparts);
    REQUIRE(ghosts.view().n_rows() == mesh.n_cells());
    for (index_t cell = 0; cell < mesh.n_cells(); ++cell) {
        std::set<index_t> parts;
        for (const index_t point : mesh.cell(cell)) {
            for (const index_t other : cells_on[point]) parts.insert(labels[other]);
        }
        parts.erase(labels[cell]);
        REQUIRE(plain(ghosts.view()[cell]) == plain(parts));
    }
}

}  // namespace

TEST_CASE("parts meet on the points between them, and have the cells there as ghosts") {
    //  8 - 9 - 10- 11    labels  2 | 2 | 2    points 5 and 6 have cells of all parts, 1 and 2 those of parts 0 and 1,
    //  | 3 | 4 | 5 |             0 | 1 | 0    4 and 7 those of parts 0 and 2
    //  4 - 5 - 6 - 7
    //  | 0 | 1 | 2 |
    //  0 - 1 - 2 - 3
    const auto mesh = quad_grid(3, 2);
    const Labels labels{0, 1, 0, 2, 2, 2};
    const Csr on_points = on_shared_points(mesh, labels, 3);
    CHECK(plain(on_points.offsets) == Ids{0, 0, 2, 4, 4, 6, 9, 12, 14, 14, 14, 14, 14});
    CHECK(plain(on_points.entries) == Ids{0, 1, 0, 1, 0, 2, 0, 1, 2, 0, 1, 2, 0, 2});
    const Csr ghosts = with_ghost(mesh, labels, 3);
    CHECK(plain(ghosts.offsets) == Ids{0, 2, 4, 6, 8, 10, 12});
    CHECK(plain(ghosts.entries) == Ids{1, 2, 0, 2, 1, 2, 0, 1, 0, 1, 0, 1});
}

TEST_CASE("mid-side points make ghosts, and so do cells of any dimension") {
    // Two curved lines share their middle, point 2; the vertex lies on it. The quad shares no point with them.
    const auto mesh = Mesh(9).add(line3, {{0, 1, 2}, {3, 4, 2}}).add(vertex, {{2}}).add(quad, {{5, 6, 7, 8}});
    const Csr ghosts = with_ghost(mesh, {0, 1, 3, 2}, 4);
    CHECK(plain(ghosts.offsets) == Ids{0, 2, 4, 6, 6});
    CHECK(plain(ghosts.entries) == Ids{1, 3, 0, 3, 0, 1});
}

TEST_CASE("one part has no ghosts, and neither has a mesh without cells") {
    const auto mesh = quad_grid(2, 2);
    CHECK(on_shared_points(mesh, {0, 0, 0, 0}, 1).entries.empty());
    CHECK(with_ghost(mesh, {0, 0, 0, 0}, 1).entries.empty());
    CHECK(plain(with_ghost(Mesh(2), {}, 3).offsets) == Ids{0});
}

TEST_CASE("parts and ghosts are what the rule says, for random meshes and labels") {
    Random random(7);
    for (int trial = 0; trial < 1000; ++trial) {
        CAPTURE(trial);
        const auto mesh = random_mesh(random, trial % 2 ? 6 : 40, 6, 8);
        const index_t nparts = random.integer(1, trial % 3 ? 4 : 30);
        check(mesh, random_labels(random, mesh, nparts), nparts);
    }
}

TEST_CASE("ghosts do not depend on the number of threads") {
    Random random(8);
    const auto mesh = quad_grid(200, 150);  // four ranges of cells
    const auto labels = random_labels(random, mesh, 50);
    const Csr one = with_ghost(mesh, labels, 50, 1);
    for (const int threads : {2, 5}) {
        const Csr many = with_ghost(mesh, labels, 50, threads);
        CHECK(many.offsets == one.offsets);
        CHECK(many.entries == one.entries);
    }
    check(mesh, labels, 50);
}

TEST_CASE("ids out of range are refused") {
    auto mesh = quad_grid(2, 1);
    const auto owned = cells_of_parts({0, 1}, 2);
    const Csr on_points = parts_on_shared_points(mesh.view(), owned.view());
    const Labels labels{0, 1};
    for (const index_t wrong : {index_t{6}, index_t{-1}}) {
        mesh.points[5] = wrong;
        CHECK_THROWS_AS(parts_on_shared_points(mesh.view(), owned.view()), std::out_of_range);
        CHECK_THROWS_AS(parts_with_ghost(mesh.view(), labels, on_points.view(), 1), std::out_of_range);
    }
    mesh = quad_grid(2, 1);
    Csr beyond = owned;
    beyond.entries[0] = 2;
    CHECK_THROWS_AS(parts_on_shared_points(mesh.view(), beyond.view()), std::out_of_range);
}
