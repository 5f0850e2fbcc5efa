// Cells that share points and points that share cells, beside sets.
#include <doctest/doctest.h>

#include <stdexcept>

#include "core/adjacency.hpp"
#include "core/attachment.hpp"
#include "meshes.hpp"

using namespace meshpart;
using namespace meshpart::testing;

namespace {

std::set<index_t> points_of(const Mesh& mesh, index_t cell) {
    const Ids points = mesh.cell(cell);
    return {points.begin(), points.end()};
}

}  // namespace

TEST_CASE("cells that share a point are neighbours, attached cells are none") {
    Random random(1);
    for (int round = 0; round < 300; ++round) {
        const Mesh mesh = random_mesh(random, 12, 4, 5);
        const auto kinds = attachment(mesh.view()).kinds;
        const Csr one = cells_sharing_points(mesh.view(), kinds, 1),
                  several = cells_sharing_points(mesh.view(), kinds, 3);
        CHECK(plain(one.entries) == plain(several.entries));
        const auto on_point = cells_on_points(mesh);
        for (index_t c = 0; c < mesh.n_cells(); ++c) {
            std::set<index_t> expected;
            if (kinds[c] != attached) {
                for (const index_t point : points_of(mesh, c))
                    expected.insert(on_point[point].begin(), on_point[point].end());
                expected.erase(c);
                std::erase_if(expected, [&](index_t other) { return kinds[other] == attached; });
            }
            CHECK(plain(one.view()[c]) == Ids(expected.begin(), expected.end()));
        }
    }
}

TEST_CASE("points that share a cell are neighbours") {
    Random random(2);
    for (int round = 0; round < 300; ++round) {
        const Mesh mesh = random_mesh(random, 12, 4, 5);
        const Csr one = points_sharing_cells(mesh.view(), 1), several = points_sharing_cells(mesh.view(), 3);
        CHECK(plain(one.entries) == plain(several.entries));
        const auto on_point = cells_on_points(mesh);
        for (index_t p = 0; p < mesh.n_points; ++p) {
            std::set<index_t> expected;
            for (const index_t cell : on_point[p]) expected.merge(points_of(mesh, cell));
            expected.erase(p);
            CHECK(plain(one.view()[p]) == Ids(expected.begin(), expected.end()));
        }
    }
}

TEST_CASE("shared points are counted once, however often a cell names them") {
    Mesh mesh(6);
    mesh.add(quad, {{0, 1, 2, 3}, {1, 1, 2, 4}, {4, 4, 4, 4}, {5, 5, 5, 5}});
    const Ids offsets{0, 3, 4, 4, 4}, targets{1, 2, 3, 2};
    CHECK(plain(shared_point_counts(mesh.view(), {offsets, targets}, 2)) == Ids{2, 0, 0, 1});
    mesh.points[0] = 6;
    CHECK_THROWS_AS(shared_point_counts(mesh.view(), {offsets, targets}, 2), std::out_of_range);
}

TEST_CASE("rows that are turned round twice come back ascending and without repetition") {
    Random random(3);
    for (int round = 0; round < 200; ++round) {
        const Mesh mesh = random_mesh(random, 9, 3, 5);
        const Csr there = transpose(mesh.view().cells, mesh.n_points, 2);
        const Csr back = transpose(there.view(), mesh.n_cells(), 2);
        for (index_t c = 0; c < mesh.n_cells(); ++c) {
            const auto points = points_of(mesh, c);
            CHECK(plain(back.view()[c]) == Ids(points.begin(), points.end()));
        }
    }
    const Ids offsets{0, 2}, outside{0, 3};
    CHECK_THROWS_AS(transpose({offsets, outside}, 3, 2), std::out_of_range);
}
