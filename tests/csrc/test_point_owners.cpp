// Owners of points, beside the rule taken word by word.
#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

#include "core/point_owners.hpp"
#include "meshes.hpp"

using namespace meshpart;
using namespace meshpart::testing;

namespace {

using Owners = std::vector<part_t>;

PointOwners owners_of(const Mesh& mesh, const Labels& labels, index_t nparts, int threads = 2) {
    return point_owners(mesh.view(), cells_of_parts(labels, nparts).view(), threads);
}

void check(const Mesh& mesh, const Labels& labels, index_t nparts) {
    const auto found = owners_of(mesh, labels, nparts);
    REQUIRE(plain(found.owners) == slow_owners(mesh, labels, nparts));
    const auto cells = cells_on_points(mesh);
    for (index_t point = 0; point < mesh.n_points; ++point) {
        REQUIRE(found.cell_counts[point] == std::ssize(cells[point]));
    }
}

}  // namespace

TEST_CASE("a point belongs to the part that owns most of the cells on it, the lowest on a tie") {
    //  6 - 7 - 8     labels   2 | 2    point 4 has a cell of part 0, one of part 1 and two of part 2,
    //  | 2 | 3 |              0 | 1    points 1 and 3 are ties of two parts, points 5 and 7 likewise: 1 and 2
    //  3 - 4 - 5
    //  | 0 | 1 |
    //  0 - 1 - 2
    const auto found = owners_of(quad_grid(2, 2), {0, 1, 2, 2}, 3);
    CHECK(plain(found.owners) == Owners{0, 0, 1, 0, 2, 1, 2, 2, 2});
    CHECK(plain(found.cell_counts) == std::vector<std::int32_t>{1, 2, 1, 2, 4, 2, 1, 2, 1});
}

TEST_CASE("points that no cell uses belong to part 0, even if it has no cells") {
    const auto found = owners_of(Mesh(4).add(line, {{1, 2}}), {5}, 7);
    CHECK(plain(found.owners) == Owners{0, 5, 5, 0});
    CHECK(plain(found.cell_counts) == std::vector<std::int32_t>{0, 1, 1, 0});
}

TEST_CASE("a cell that names a point twice counts once, two equal cells count twice") {
    // On point 0: the collapsed quad of part 0, and two lines of part 1.
    const auto mesh = Mesh(3).add(quad, {{0, 0, 1, 0}}).add(line, {{0, 2}, {0, 2}});
    const auto found = owners_of(mesh, {0, 1, 1}, 2);
    CHECK(plain(found.owners) == Owners{1, 0, 1});
    CHECK(plain(found.cell_counts) == std::vector<std::int32_t>{3, 1, 2});
}

TEST_CASE("cells of all dimensions and all of their points count") {
    // The triangle is of part 1; three vertices and lines of part 0 outnumber it on points 0 and 3, its mid-side point.
    const auto mesh = Mesh(6).add(triangle6, {{0, 1, 2, 3, 4, 5}}).add(vertex, {{0}, {0}}).add(line, {{3, 1}, {3, 0}});
    CHECK(plain(owners_of(mesh, {1, 0, 0, 0, 0}, 2).owners) == Owners{0, 0, 1, 0, 1, 1});
}

TEST_CASE("the owners are what the rule says, for random meshes and labels") {
    Random random(1);
    for (int trial = 0; trial < 1000; ++trial) {
        CAPTURE(trial);
        const auto mesh = random_mesh(random, trial % 2 ? 6 : 40, 6, 8);
        const index_t nparts = random.integer(1, trial % 3 ? 4 : 30);
        check(mesh, random_labels(random, mesh, nparts), nparts);
    }
}

TEST_CASE("the owners on a checkerboard are what the rule says") {
    const auto mesh = quad_grid(9, 7);
    Labels labels;
    for (index_t c = 0; c < mesh.n_cells(); ++c) labels.push_back(static_cast<part_t>((c % 9 + c / 9) % 2));
    check(mesh, labels, 2);
    for (part_t& label : labels) label = 1 - label;
    check(mesh, labels, 2);
}

TEST_CASE("every cell in a part of its own") {
    const auto mesh = quad_grid(20, 20);
    Labels labels;
    for (index_t c = 0; c < mesh.n_cells(); ++c) labels.push_back(static_cast<part_t>(mesh.n_cells() - 1 - c));
    check(mesh, labels, mesh.n_cells());
}

TEST_CASE("the owners do not depend on the number of threads") {
    Random random(2);
    const auto mesh = quad_grid(100, 100);
    for (const index_t nparts : {1, 2, 300}) {
        const auto labels = random_labels(random, mesh, nparts);
        const auto expected = owners_of(mesh, labels, nparts, 1);
        for (const int threads : {2, 4, 7}) {
            const auto found = owners_of(mesh, labels, nparts, threads);
            CHECK(plain(found.owners) == plain(expected.owners));
            CHECK(plain(found.cell_counts) == plain(expected.cell_counts));
        }
    }
}

TEST_CASE("points far apart in number, and very many on one cell, are all found") {
    // Strides of powers of two and of eight times a Fibonacci number, the worst that a table of points may meet.
    for (const index_t stride : {1, 8, 64, 4096, 8 * 377, 8 * 610, 8 * 987}) {
        Ids cell;
        for (index_t i = 0; i < 600; ++i) cell.push_back(i * stride);
        const auto mesh = Mesh(600 * stride).add(polygon, {cell, cell, {0, stride, 2 * stride}});
        const auto found = owners_of(mesh, {0, 1, 1}, 2);
        for (index_t i = 0; i < 600; ++i) {
            REQUIRE(found.owners[i * stride] == (i < 3 ? 1 : 0));
            REQUIRE(found.cell_counts[i * stride] == (i < 3 ? 3 : 2));
        }
    }
}

TEST_CASE("no points, no cells, no parts") {
    CHECK(owners_of(Mesh(0), {}, 3).owners.empty());
    CHECK(plain(owners_of(Mesh(2), {}, 1).owners) == Owners{0, 0});
    CHECK(plain(owners_of(Mesh(2).add(tetra, {}), {}, 2).owners) == Owners{0, 0});
}

TEST_CASE("point_owners refuses points and cells that are not there") {
    for (const index_t wrong : {index_t{-1}, index_t{9}, std::numeric_limits<index_t>::max()}) {
        for (const int threads : {1, 3}) {
            auto mesh = quad_grid(2, 2);
            mesh.points[13] = wrong;
            CHECK_THROWS_AS(owners_of(mesh, {0, 1, 2, 2}, 3, threads), std::out_of_range);

            const auto whole = quad_grid(2, 2);
            auto cells = cells_of_parts({0, 1, 2, 2}, 3);
            cells.entries[2] = wrong;
            CHECK_THROWS_AS(point_owners(whole.view(), cells.view(), threads), std::out_of_range);
        }
    }
}
