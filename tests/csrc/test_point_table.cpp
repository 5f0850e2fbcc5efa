// The numbers that a part's points get.
#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <set>
#include <stdexcept>

#include "core/point_table.hpp"
#include "meshes.hpp"

using namespace meshpart;
using namespace meshpart::testing;

namespace {

using Numbers = std::vector<std::int32_t>;

void check(PointTable& table, const Mesh& mesh, const Ids& cells) {
    Ids points;
    std::map<index_t, std::int32_t> number;
    Numbers rows, cell_counts;
    for (const index_t cell : cells) {
        std::set<index_t> counted;
        for (const index_t point : mesh.cell(cell)) {
            if (!number.contains(point)) {
                number[point] = static_cast<std::int32_t>(points.size());
                points.push_back(point);
                cell_counts.push_back(0);
            }
            if (counted.insert(point).second) ++cell_counts[number[point]];
            rows.push_back(number[point]);
        }
    }
    table.read(mesh.view(), cells);
    REQUIRE(plain(table.points()) == points);
    REQUIRE(plain(table.cell_counts()) == cell_counts);
    REQUIRE(plain(table.rows()) == rows);
}

}  // namespace

TEST_CASE("points are numbered in the order in which the cells name them") {
    const auto mesh = Mesh(90).add(triangle, {{80, 7, 3}, {7, 80, 7}, {1, 2, 3}});
    PointTable table;
    table.read(mesh.view(), Ids{1, 0});
    CHECK(plain(table.points()) == Ids{7, 80, 3});
    CHECK(plain(table.rows()) == Numbers{0, 1, 0, 1, 0, 2});
    CHECK(plain(table.cell_counts()) == Numbers{2, 2, 1});
}

TEST_CASE("a table that has read other cells knows nothing of them") {
    Random random(1);
    PointTable table;
    for (int trial = 0; trial < 500; ++trial) {
        CAPTURE(trial);
        const auto mesh = random_mesh(random, trial % 3 ? 30 : 1000, 5, trial % 7 ? 6 : 60);
        Ids cells;
        for (index_t cell = 0; cell < mesh.n_cells(); ++cell) {
            if (random.chance(0.6)) cells.push_back(cell);
        }
        random.shuffle(cells);
        check(table, mesh, cells);
        check(table, mesh, cells);
    }
    check(table, Mesh(3), {});
}

TEST_CASE("a cell of very many points makes the table grow, however far apart their numbers are") {
    // Strides of powers of two and of eight times a Fibonacci number, which the table's hash scatters worst.
    for (const index_t stride : {1, 8, 64, 4096, 8 * 377, 8 * 610, 8 * 987}) {
        Ids cell;
        for (index_t i = 0; i < 2000; ++i) cell.push_back((i * 7 % 2000) * stride);
        PointTable table;
        check(table, Mesh(2000 * stride).add(polygon, {cell, cell, {0, stride, 2 * stride}}), {0, 2, 1});
    }
}

TEST_CASE("numbers of points may need more than 32 bits") {
    constexpr index_t far = index_t{1} << 40;
    PointTable table;
    check(table, Mesh(2 * far).add(line, {{far, 0}, {0, far + 1}, {2 * far - 1, far}}), {0, 1, 2});
}

TEST_CASE("a table refuses points that are not there") {
    for (const index_t wrong : {index_t{-1}, index_t{9}, std::numeric_limits<index_t>::max()}) {
        auto mesh = quad_grid(2, 2);
        mesh.points[13] = wrong;
        PointTable table;
        CHECK_THROWS_AS(table.read(mesh.view(), Ids{0, 1, 2, 3}), std::out_of_range);
        CHECK_NOTHROW(table.read(mesh.view(), Ids{0, 1, 2}));
    }
}
