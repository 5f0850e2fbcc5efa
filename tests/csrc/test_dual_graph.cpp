// The dual graph, beside a look at every pair of cells.
#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

#include "core/attachment.hpp"
#include "core/dual_graph.hpp"
#include "outlines.hpp"

using namespace meshpart;
using namespace meshpart::testing;

namespace {

using Rows = std::vector<Ids>;

Rows rows_of(const Csr& rows) {
    Rows result;
    for (index_t row = 0; row < rows.view().n_rows(); ++row) result.push_back(plain(rows.view()[row]));
    return result;
}

Rows slow_dual_graph(const Mesh& mesh, const Facets& facets, const std::vector<std::uint8_t>& kinds) {
    Rows rows(mesh.n_cells());
    std::vector<std::vector<std::set<index_t>>> sides;
    for (index_t c = 0; c < mesh.n_cells(); ++c) sides.push_back(facets.of(mesh, c));
    for (index_t a = 0; a < mesh.n_cells(); ++a) {
        for (index_t b = 0; b < mesh.n_cells(); ++b) {
            if (a == b || kinds[a] == attached || kinds[b] == attached) continue;
            const index_t low = mesh.dim_of(a) <= mesh.dim_of(b) ? a : b, high = low == a ? b : a;
            const Ids corners = mesh.corners_of(high);
            const std::set<index_t> held(corners.begin(), corners.end());
            const bool joined = std::ranges::any_of(sides[low], [&](const auto& side) {
                if (mesh.dim_of(low) == mesh.dim_of(high)) return std::ranges::count(sides[high], side) > 0;
                return std::ranges::includes(held, side);
            });
            if (joined) rows[a].push_back(b);
        }
    }
    return rows;
}

}  // namespace

TEST_CASE("the dual graph of random meshes is that of comparing all pairs of cells, for any number of threads") {
    Random random(1);
    int with_edges = 0;
    for (int round = 0; round < 600; ++round) {
        const Mesh mesh = random_mesh(random, 12, 5, 6);
        const Facets facets(mesh, random);
        const auto kinds = attachment(mesh.view()).kinds;
        const Rows expected = slow_dual_graph(mesh, facets, kinds);
        for (const int threads : {1, 3}) {
            CHECK(rows_of(dual_graph(mesh.view(), facets.view(), kinds, threads).rows) == expected);
        }
        with_edges += std::ranges::any_of(expected, [](const Ids& row) { return !row.empty(); });
    }
    CHECK(with_edges > 200);
}

TEST_CASE("a grid of many buckets has its inner sides as edges") {
    Random random(2);
    const Mesh mesh = quad_grid(200, 150);
    const Facets facets(mesh, random);
    const std::vector<std::uint8_t> kinds(mesh.n_cells(), top);
    const DualGraph one = dual_graph(mesh.view(), facets.view(), kinds, 1);
    const DualGraph several = dual_graph(mesh.view(), facets.view(), kinds, 4);
    CHECK(std::ssize(one.rows.entries) == 2 * (199 * 150 + 200 * 149));
    CHECK(plain(one.rows.entries) == plain(several.rows.entries));
    CHECK(plain(one.rows.offsets) == plain(several.rows.offsets));
    CHECK(plain(one.rows.view()[201]) == Ids{1, 200, 202, 401});
}

TEST_CASE("up to 64 cells on a facet are all joined, more in a chain") {
    for (const index_t pages : {2, 64, 65, 300}) {
        Mesh mesh(pages + 2);
        std::vector<Ids> cells;
        for (index_t page = 0; page < pages; ++page) cells.push_back({0, page + 2, 1});
        mesh.add(triangle, cells);
        Random random(3);
        const Facets facets(mesh, random);
        const std::vector<std::uint8_t> kinds(pages, top);
        const DualGraph graph = dual_graph(mesh.view(), facets.view(), kinds, 2);
        CHECK(graph.n_chained == (pages > 64));
        CHECK(std::ssize(graph.rows.entries) == (pages > 64 ? 2 * (pages - 1) : pages * (pages - 1)));
    }
}

TEST_CASE("a point outside the mesh is an error") {
    Random random(4);
    Mesh mesh = quad_grid(3, 3);
    const Facets facets(mesh, random);
    const std::vector<std::uint8_t> kinds(mesh.n_cells(), top);
    for (const index_t wrong : {index_t{-1}, mesh.n_points, index_t{1} << 40}) {
        mesh.points[7] = wrong;
        CHECK_THROWS_AS(dual_graph(mesh.view(), facets.view(), kinds, 2), std::out_of_range);
    }
}
