// The means of corner points.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/centroids.hpp"
#include "meshes.hpp"

using namespace meshpart;
using namespace meshpart::testing;

namespace {

using Coordinates = std::vector<double>;

Coordinates centroids_of(const Mesh& mesh, const Coordinates& points, int dim, int threads = 2) {
    return plain(centroids(mesh.view(), points, dim, threads));
}

// Multiples of 60, so that the means of up to six corners are exact.
Coordinates random_points(Random& random, const Mesh& mesh, int dim) {
    Coordinates points(mesh.n_points * dim);
    for (double& x : points) x = static_cast<double>(60 * random.integer(-1000, 1000));
    return points;
}

Coordinates slow_centroids(const Mesh& mesh, const Coordinates& points, int dim) {
    Coordinates result;
    for (index_t c = 0; c < mesh.n_cells(); ++c) {
        const Ids corners = mesh.corners_of(c);
        for (int axis = 0; axis < dim; ++axis) {
            double sum = 0;
            for (const index_t point : corners) sum += points[point * dim + axis];
            result.push_back(sum / static_cast<double>(corners.size()));
        }
    }
    return result;
}

}  // namespace

TEST_CASE("a centroid is the mean of the corners, mid-side points have no part in it") {
    //  2 (0, 3)
    //  | \.            (0 + 3 + 0) / 3 = 1, (0 + 0 + 3) / 3 = 1; the line with its far mid-side point 3: (1.5, 0)
    //  0 - 1 (3, 0)    the line that names 1 twice: (3 + 3) / 2
    const auto mesh = Mesh(4).add(triangle, {{0, 1, 2}}).add(line3, {{0, 1, 3}}).add(line, {{1, 1}}).add(vertex, {{2}});
    CHECK(centroids_of(mesh, {0, 0, 3, 0, 0, 3, 100, 100}, 2) == Coordinates{1, 1, 1.5, 0, 3, 0, 0, 3});
}

TEST_CASE("a corner named twice counts twice") {
    const auto mesh = Mesh(3).add(quad, {{0, 1, 2, 2}});
    CHECK(centroids_of(mesh, {0, 4, 8}, 1) == Coordinates{5});  // (0 + 4 + 8 + 8) / 4
}

TEST_CASE("centroids are those of a loop over all cells, in one, two and three dimensions, with any threads") {
    Random random(1);
    for (int trial = 0; trial < 300; ++trial) {
        const auto mesh = random_mesh(random, 20, 6, 6);
        for (int dim = 1; dim <= 3; ++dim) {
            const auto points = random_points(random, mesh, dim);
            const auto expected = slow_centroids(mesh, points, dim);
            REQUIRE(centroids_of(mesh, points, dim, 1) == expected);
            REQUIRE(centroids_of(mesh, points, dim, 3) == expected);
        }
    }
}

TEST_CASE("a block longer than what one thread takes at once has all its centroids") {
    Random random(2);
    const auto mesh = quad_grid(211, 200);
    const auto points = random_points(random, mesh, 2);
    for (const int threads : {1, 4}) CHECK(centroids_of(mesh, points, 2, threads) == slow_centroids(mesh, points, 2));
}

TEST_CASE("meshes without cells, without points and with empty blocks have as many centroids as cells") {
    CHECK(centroids_of(Mesh(0), {}, 3).empty());
    CHECK(centroids_of(Mesh(2), {1, 2}, 1).empty());
    CHECK(centroids_of(Mesh(2).add(tetra, {}).add(line, {{0, 1}}).add(quad, {}), {1, 2}, 1) == Coordinates{1.5});
}

TEST_CASE("the centroid of huge coordinates is as huge, though their sum is no number") {
    const auto mesh = Mesh(3).add(triangle, {{0, 1, 2}}).add(line, {{0, 1}, {0, 2}});
    const auto found = centroids_of(mesh, {1e308, 1e308, -1e308}, 1);
    CHECK(found[0] == doctest::Approx(1e308 / 3));
    CHECK(found[1] == doctest::Approx(1e308));
    CHECK(found[2] == 0);
}

TEST_CASE("the centroid of the highest doubles is finite, though their shares of the mean add up to more") {
    constexpr double highest = std::numeric_limits<double>::max();
    const auto mesh = Mesh(3).add(triangle, {{0, 1, 2}}).add(line, {{0, 1}});
    for (const double x : {highest, -highest}) {
        for (const double mean : centroids_of(mesh, {x, x, x}, 1)) CHECK(mean == doctest::Approx(x));
    }
}

TEST_CASE("the centroid of points that are no numbers or infinite is no finite number, and other cells do not mind") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto mesh = Mesh(3).add(line, {{0, 1}, {1, 2}});
    for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}) {
        const auto found = centroids_of(mesh, {wrong, 5, 1, 7, 2, 9}, 2);
        CHECK(!std::isfinite(found[0]));
        CHECK(found[1] == 6);
        CHECK(found[2] == 1.5);
        CHECK(found[3] == 8);
    }
}

TEST_CASE("centroids refuse points that are not there") {
    for (const index_t wrong : {index_t{-1}, index_t{3}, std::numeric_limits<index_t>::max()}) {
        for (int entry = 0; entry < 5; ++entry) {
            auto mesh = Mesh(3).add(line, {{0, 1}}).add(triangle, {{0, 1, 2}});
            mesh.points[entry] = wrong;
            for (const int threads : {1, 3}) {
                CHECK_THROWS_AS(centroids_of(mesh, {1, 2, 3}, 1, threads), std::out_of_range);
            }
        }
    }
}
