// Parts with local numbers, beside a slow construction of each from its definition.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "core/parts.hpp"
#include "meshes.hpp"

using namespace meshpart;
using namespace meshpart::testing;

namespace {

using Flags = std::vector<std::uint8_t>;
using Rows = std::vector<Ids>;

// What build_parts is to find, as plain vectors.
struct Expected {
    Rows points, block_cells, block_nodes;
    Ids n_owned_points;
    std::vector<part_t> ghost_owners;
    Flags point_complete, cell_complete;

    bool operator==(const Expected&) const = default;
};

using CellsOn = std::vector<std::set<index_t>>;  // of each point

Ids slow_points(const Mesh& mesh, const CellsOn& cells_on, const Ids& cells, part_t part,
                const std::vector<part_t>& owners) {
    std::set<std::pair<part_t, index_t>> owned_first;  // the part itself counts as -1
    const auto add = [&](index_t point) { owned_first.emplace(owners[point] == part ? -1 : owners[point], point); };
    for (const index_t cell : cells) std::ranges::for_each(mesh.cell(cell), add);
    for (index_t point = 0; point < mesh.n_points && part == 0; ++point) {
        if (cells_on[point].empty()) add(point);
    }
    Ids points;
    for (const auto& [owner, point] : owned_first) points.push_back(point);
    return points;
}

Expected slow_parts(const Mesh& mesh, const std::vector<part_t>& parts, const Rows& local_cells,
                    const std::vector<part_t>& owners) {
    Expected result;
    const CellsOn cells_on = cells_on_points(mesh);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::set<index_t> local(local_cells[i].begin(), local_cells[i].end());
        const auto complete = [&](index_t point) { return std::ranges::includes(local, cells_on[point]); };
        const Ids points = slow_points(mesh, cells_on, local_cells[i], parts[i], owners);
        result.n_owned_points.push_back(std::ranges::count(points, parts[i], [&](index_t p) { return owners[p]; }));
        for (const index_t point : points) {
            if (owners[point] != parts[i]) result.ghost_owners.push_back(owners[point]);
            result.point_complete.push_back(complete(point));
        }
        for (const index_t cell : local_cells[i]) {
            result.cell_complete.push_back(std::ranges::all_of(mesh.cell(cell), complete));
        }
        result.points.push_back(points);
    }
    for (index_t block = 0; block < mesh.n_blocks(); ++block) {
        for (std::size_t i = 0; i < parts.size(); ++i) {
            Ids cells, nodes;
            for (const index_t cell : local_cells[i]) {
                if (mesh.block_of(cell) != block) continue;
                cells.push_back(cell);
                for (const index_t point : mesh.cell(cell)) {
                    nodes.push_back(std::ranges::find(result.points[i], point) - result.points[i].begin());
                }
            }
            result.block_cells.push_back(cells);
            result.block_nodes.push_back(nodes);
        }
    }
    return result;
}

template <class Values>
Rows rows_of(const Csr& csr, const Values& values) {
    Rows rows;
    for (index_t row = 0; row < csr.view().n_rows(); ++row) {
        rows.emplace_back(values.begin() + csr.offsets[row], values.begin() + csr.offsets[row + 1]);
    }
    REQUIRE(csr.offsets.back() == std::ssize(values));
    return rows;
}

Expected plain_parts(const Parts& found) {
    return {rows_of(found.points, found.points.entries),
            rows_of(found.block_cells, found.block_cells.entries),
            rows_of(found.block_nodes, found.block_nodes.entries),
            plain(found.n_owned_points),
            plain(found.ghost_owners),
            plain(found.point_complete),
            plain(found.cell_complete)};
}

Expected parts_of(const Mesh& mesh, const std::vector<part_t>& parts, const Rows& local_cells,
                  const PointOwners& owners, int threads = 2) {
    Csr local;
    for (const Ids& cells : local_cells) {
        local.entries.insert(local.entries.end(), cells.begin(), cells.end());
        local.close_row();
    }
    return plain_parts(build_parts(mesh.view(), parts, local.view(), {owners.owners, owners.cell_counts}, threads));
}

PointOwners owners_of(const Mesh& mesh, const Labels& labels, index_t nparts) {
    return point_owners(mesh.view(), cells_of_parts(labels, nparts).view(), 2);
}

Rows owned_cells(const Labels& labels, const std::vector<part_t>& parts) {
    Rows rows(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        for (index_t cell = 0; cell < std::ssize(labels); ++cell) {
            if (labels[cell] == parts[i]) rows[i].push_back(cell);
        }
    }
    return rows;
}

// The owned cells, then some of the others by (owner, id).
Rows with_ghosts(Random& random, const Labels& labels, const std::vector<part_t>& parts) {
    Rows rows = owned_cells(labels, parts);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        std::vector<std::pair<part_t, index_t>> ghosts;
        for (index_t cell = 0; cell < std::ssize(labels); ++cell) {
            if (labels[cell] != parts[i] && random.chance(0.4)) ghosts.emplace_back(labels[cell], cell);
        }
        std::ranges::sort(ghosts);
        for (const auto& [owner, cell] : ghosts) rows[i].push_back(cell);
    }
    return rows;
}

std::vector<part_t> all_parts(index_t nparts) {
    std::vector<part_t> parts;
    for (index_t part = 0; part < nparts; ++part) parts.push_back(static_cast<part_t>(part));
    return parts;
}

void check(const Mesh& mesh, const Labels& labels, index_t nparts, const std::vector<part_t>& parts,
           const Rows& local_cells) {
    const auto owners = owners_of(mesh, labels, nparts);
    const auto expected = slow_parts(mesh, parts, local_cells, slow_owners(mesh, labels, nparts));
    const auto found = parts_of(mesh, parts, local_cells, owners, 1);
    REQUIRE(found.points == expected.points);
    REQUIRE(found.n_owned_points == expected.n_owned_points);
    REQUIRE(found.ghost_owners == expected.ghost_owners);
    REQUIRE(found.point_complete == expected.point_complete);
    REQUIRE(found.cell_complete == expected.cell_complete);
    REQUIRE(found.block_cells == expected.block_cells);
    REQUIRE(found.block_nodes == expected.block_nodes);
    REQUIRE(parts_of(mesh, parts, local_cells, owners, 4) == found);
}

}  // namespace

TEST_CASE("two quads in two parts: local numbers, owners and what is complete") {
    //  3 - 4 - 5     part 0 owns cell 0 and the points 0 1 3 4, part 1 owns cell 1 and the points 2 5
    //  | 0 | 1 |     the points 1 and 4 are ghosts of part 1; no cell is complete, both share points
    //  0 - 1 - 2
    const auto mesh = quad_grid(2, 1);
    const auto found = parts_of(mesh, {0, 1}, {{0}, {1}}, owners_of(mesh, {0, 1}, 2));
    CHECK(found.points == Rows{{0, 1, 3, 4}, {2, 5, 1, 4}});
    CHECK(found.n_owned_points == Ids{4, 2});
    CHECK(found.ghost_owners == std::vector<part_t>{0, 0});
    CHECK(found.point_complete == Flags{1, 0, 1, 0, 1, 1, 0, 0});
    CHECK(found.cell_complete == Flags{0, 0});
    CHECK(found.block_cells == Rows{{0}, {1}});
    CHECK(found.block_nodes == Rows{{0, 1, 3, 2}, {2, 0, 1, 3}});  // of cell 0 the points 0 1 4 3, of cell 1: 1 2 5 4
}

TEST_CASE("with its neighbour as a ghost a cell is complete, and local cells may go back and forth between blocks") {
    //  3 - 4 - 5     blocks: a line 0: 2-5, none, quads 1 and 2 as drawn with 0 and 1, a line 3: 0-3
    //  | 0 | 1 |
    //  0 - 1 - 2
    const auto mesh =
        Mesh(6).add(line, {{2, 5}}).add(tetra, {}).add(quad, {{0, 1, 4, 3}, {1, 2, 5, 4}}).add(line, {{0, 3}});
    // Part 0 owns the line 0 and the quad 2, part 1 the quad 1 and the line 3; part 0 has both of these as ghosts.
    const auto found = parts_of(mesh, {0}, {{0, 2, 1, 3}}, owners_of(mesh, {0, 1, 0, 1}, 2));
    CHECK(found.points == Rows{{1, 2, 4, 5, 0, 3}});
    CHECK(found.ghost_owners == std::vector<part_t>{1, 1});
    CHECK(found.cell_complete == Flags{1, 1, 1, 1});
    CHECK(found.block_cells == Rows{{0}, {}, {2, 1}, {3}});
    CHECK(found.block_nodes == Rows{{1, 3}, {}, {0, 1, 3, 2, 4, 0, 2, 5}, {4, 5}});
}

TEST_CASE("points that no cell uses come to part 0 in their place, and are complete") {
    const auto mesh = Mesh(5).add(line, {{1, 3}, {3, 4}});
    const auto found = parts_of(mesh, {1, 0, 2}, {{1}, {0}, {}}, owners_of(mesh, {0, 1}, 3));
    CHECK(found.points == Rows{{4, 3}, {0, 1, 2, 3}, {}});
    CHECK(found.n_owned_points == Ids{1, 4, 0});
    CHECK(found.point_complete == Flags{1, 0, 1, 1, 1, 0});
}

TEST_CASE("a part 0 without cells has the points that no cell uses") {
    const auto found =
        parts_of(Mesh(4).add(line, {{2, 1}}), {0, 3}, {{}, {0}}, owners_of(Mesh(4).add(line, {{2, 1}}), {3}, 4));
    CHECK(found.points == Rows{{0, 3}, {1, 2}});
    CHECK(found.block_nodes == Rows{{}, {1, 0}});
}

TEST_CASE("the parts are what their definition says, for random meshes and labels") {
    Random random(1);
    for (int trial = 0; trial < 300; ++trial) {
        CAPTURE(trial);
        const auto mesh = random_mesh(random, trial % 2 ? 6 : 25, 6, 6);
        const index_t nparts = random.integer(1, trial % 3 ? 4 : 20);  // with 20 many are empty
        const auto labels = random_labels(random, mesh, nparts);
        const auto parts = all_parts(nparts);
        check(mesh, labels, nparts, parts, owned_cells(labels, parts));
        check(mesh, labels, nparts, parts, with_ghosts(random, labels, parts));
    }
}

TEST_CASE("some of the parts, in any order and more than once, are what they are among all") {
    Random random(2);
    for (int trial = 0; trial < 150; ++trial) {
        CAPTURE(trial);
        const auto mesh = random_mesh(random, 20, 6, 6);
        const index_t nparts = random.integer(1, 6);
        const auto labels = random_labels(random, mesh, nparts);
        std::vector<part_t> parts(random.integer(0, 8));
        for (part_t& part : parts) part = static_cast<part_t>(random.integer(0, nparts - 1));
        check(mesh, labels, nparts, parts, owned_cells(labels, parts));
        check(mesh, labels, nparts, parts, with_ghosts(random, labels, parts));
    }
}

TEST_CASE("on a checkerboard no cell is complete but with all others") {
    const auto mesh = quad_grid(7, 6);
    Labels labels;
    for (index_t c = 0; c < mesh.n_cells(); ++c) labels.push_back(static_cast<part_t>((c % 7 + c / 7) % 2));
    check(mesh, labels, 2, {0, 1}, owned_cells(labels, {0, 1}));
    check(mesh, labels, 2, {1, 0, 1}, owned_cells(labels, {1, 0, 1}));

    const auto owners = owners_of(mesh, labels, 2);
    CHECK(std::ranges::count(parts_of(mesh, {0, 1}, owned_cells(labels, {0, 1}), owners).cell_complete, 1) == 0);
    const Ids everything = plain(cells_of_parts(Labels(mesh.n_cells(), 0), 1).entries);
    const auto whole = parts_of(mesh, {0}, {everything}, owners);
    CHECK(std::ranges::count(whole.cell_complete, 1) == mesh.n_cells());
    CHECK(std::ranges::count(whole.point_complete, 1) == mesh.n_points);
}

TEST_CASE("the parts of a larger mesh do not depend on the number of threads") {
    Random random(3);
    const auto mesh = quad_grid(80, 70);
    for (const index_t nparts : {1, 3, 500}) {
        const auto labels = random_labels(random, mesh, nparts);
        const auto parts = all_parts(nparts);
        const auto owners = owners_of(mesh, labels, nparts);
        const auto cells = owned_cells(labels, parts);
        const auto expected = parts_of(mesh, parts, cells, owners, 1);
        for (const int threads : {2, 4, 7}) CHECK((parts_of(mesh, parts, cells, owners, threads) == expected));
    }
}

TEST_CASE("no points, no cells, no blocks and no parts") {
    const auto empty = parts_of(Mesh(0), {0, 1}, {{}, {}}, owners_of(Mesh(0), {}, 2));
    CHECK(empty.points == Rows{{}, {}});
    CHECK(empty.block_cells.empty());
    const auto alone = parts_of(Mesh(2), {1, 0}, {{}, {}}, owners_of(Mesh(2), {}, 2));
    CHECK(alone.points == Rows{{}, {0, 1}});
    const auto none = parts_of(quad_grid(2, 1), {}, {}, owners_of(quad_grid(2, 1), {0, 1}, 2));
    CHECK(none.points.empty());
    CHECK(none.block_cells.empty());
}

TEST_CASE("build_parts refuses points and cells that are not there") {
    const auto whole = quad_grid(2, 2);
    const auto owners = owners_of(whole, {0, 1, 2, 2}, 3);
    for (const index_t wrong : {index_t{-1}, index_t{9}, std::numeric_limits<index_t>::max()}) {
        for (const int threads : {1, 3}) {
            auto mesh = whole;
            mesh.points[13] = wrong;
            CHECK_THROWS_AS(parts_of(mesh, {0, 1, 2}, {{0}, {1}, {2, 3}}, owners, threads), std::out_of_range);
            CHECK_THROWS_AS(parts_of(whole, {0, 1}, {{0}, {wrong}}, owners, threads), std::out_of_range);
            CHECK_THROWS_AS(parts_of(whole, {0}, {{0, 1, 2, 3, wrong, 0, 1}}, owners, threads), std::out_of_range);
        }
    }
}

TEST_CASE("a mesh that has changed since its owners were found makes wrong parts, but none that point nowhere") {
    Random random(4);
    for (int trial = 0; trial < 300; ++trial) {
        CAPTURE(trial);
        auto mesh = random_mesh(random, 12, 6, 6);
        const index_t nparts = random.integer(1, 4);
        const auto labels = random_labels(random, mesh, nparts);
        const auto owners = owners_of(mesh, labels, nparts);
        for (index_t& point : mesh.points) {
            if (random.chance(0.5)) point = random.integer(0, mesh.n_points - 1);
        }
        const auto parts = all_parts(nparts);
        const auto found = parts_of(mesh, parts, owned_cells(labels, parts), owners);
        for (std::size_t row = 0; row < found.block_nodes.size(); ++row) {
            const auto n_local = std::ssize(found.points[row % nparts]);
            REQUIRE(std::ranges::all_of(found.block_nodes[row], [&](index_t id) { return 0 <= id && id < n_local; }));
        }
    }
}
