// Parts with their ghosts and plans, beside a slow construction of each from its definition.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "core/layers.hpp"
#include "core/parts.hpp"
#include "core/regroup.hpp"
#include "meshes.hpp"

using namespace meshpart;
using namespace meshpart::testing;

namespace {

using Flags = std::vector<std::uint8_t>;
using Lists = std::vector<Ids>;
using PartList = std::vector<part_t>;

// The cells or the points of one part, in local order, and its plan: by neighbour what is sent, as global ids, and how
// many are received.
struct Group {
    Ids ids;
    index_t n_owned = 0;
    PartList owners;          // of the ghosts
    std::vector<int> layers;  // the same
    Flags complete;
    std::map<part_t, std::pair<Ids, index_t>> plan;

    bool operator==(const Group&) const = default;
};

struct Part {
    Group cells, points;
    Lists block_cells, block_nodes;  // of each block

    bool operator==(const Part&) const = default;
};

using LayerOf = std::map<index_t, int>;  // of each local entity

LayerOf slow_cells(const Mesh& mesh, const Labels& labels, part_t part, index_t layers) {
    const auto cells_on = cells_on_points(mesh);
    LayerOf found;
    std::set<index_t> front;
    for (index_t cell = 0; cell < mesh.n_cells(); ++cell) {
        if (labels[cell] == part) front.insert(cell);
    }
    for (int layer = 0; layer <= layers && !front.empty(); ++layer) {
        std::set<index_t> next;
        for (const index_t cell : front) found.emplace(cell, layer);
        for (const index_t cell : front) {
            for (const index_t point : mesh.cell(cell)) {
                for (const index_t other : cells_on[point]) {
                    if (!found.contains(other)) next.insert(other);
                }
            }
        }
        front = std::move(next);
    }
    return found;
}

LayerOf slow_points(const Mesh& mesh, const LayerOf& cells, part_t part) {
    LayerOf found;
    for (const auto& [cell, layer] : cells) {
        for (const index_t point : mesh.cell(cell)) {
            const auto place = found.emplace(point, layer).first;
            place->second = std::min(place->second, layer);
        }
    }
    const auto cells_on = cells_on_points(mesh);
    for (index_t point = 0; point < mesh.n_points && part == 0; ++point) {
        if (cells_on[point].empty()) found.emplace(point, 0);
    }
    return found;
}

template <class IsComplete>
Group in_local_order(const LayerOf& found, part_t part, const PartList& owner_of, IsComplete&& is_complete) {
    std::set<std::tuple<part_t, index_t, int>> order;  // the part itself counts as -1
    for (const auto& [id, layer] : found) order.emplace(owner_of[id] == part ? -1 : owner_of[id], id, layer);
    Group result;
    for (const auto& [owner, id, layer] : order) {
        result.ids.push_back(id);
        result.complete.push_back(is_complete(id));
        if (owner < 0) {
            ++result.n_owned;
        } else {
            result.owners.push_back(owner);
            result.layers.push_back(layer);
        }
    }
    return result;
}

// Who sends what to whom: q sends to p what p holds and q owns.
void add_plans(std::vector<Part>& parts, Group Part::* kind) {
    for (part_t p = 0; p < std::ssize(parts); ++p) {
        const Group& to = parts[p].*kind;
        for (std::size_t i = 0; i < to.owners.size(); ++i) {
            auto& sent = (parts[to.owners[i]].*kind).plan[p];
            sent.first.push_back(to.ids[to.n_owned + i]);
            (parts[p].*kind).plan[to.owners[i]].second += 1;
        }
    }
}

std::vector<Part> slow_parts(const Mesh& mesh, const Labels& labels, index_t nparts, index_t layers) {
    const auto cells_on = cells_on_points(mesh);
    const auto owners = slow_owners(mesh, labels, nparts);
    std::vector<Part> parts;
    for (part_t part = 0; part < nparts; ++part) {
        const LayerOf cells = slow_cells(mesh, labels, part, layers);
        const auto is_complete = [&](index_t point) {
            return std::ranges::all_of(cells_on[point], [&](index_t cell) { return cells.contains(cell); });
        };
        Part result;
        result.cells = in_local_order(cells, part, labels,
                                      [&](index_t cell) { return std::ranges::all_of(mesh.cell(cell), is_complete); });
        result.points = in_local_order(slow_points(mesh, cells, part), part, owners, is_complete);
        for (index_t block = 0; block < mesh.n_blocks(); ++block) {
            result.block_cells.emplace_back();
            result.block_nodes.emplace_back();
            for (const index_t cell : result.cells.ids) {
                if (mesh.block_of(cell) != block) continue;
                result.block_cells.back().push_back(cell);
                for (const index_t point : mesh.cell(cell)) {
                    const auto place = std::ranges::find(result.points.ids, point) - result.points.ids.begin();
                    result.block_nodes.back().push_back(place);
                }
            }
        }
        parts.push_back(result);
    }
    add_plans(parts, &Part::cells);
    add_plans(parts, &Part::points);
    return parts;
}

// What build_parts found of part number i.
Group members_of(const Entities& found, const Vector<std::uint8_t>& complete, index_t i) {
    const auto offsets = found.ids.offsets;
    index_t first_ghost = offsets[i];
    for (index_t j = 0; j < i; ++j) first_ghost -= found.n_owned[j];
    const index_t n_ghosts = offsets[i + 1] - offsets[i] - found.n_owned[i];
    Group result{plain(found.ids.view()[i]), found.n_owned[i], {}, {}, {}, {}};
    for (index_t j = first_ghost; j < first_ghost + n_ghosts; ++j) {
        result.owners.push_back(found.ghost_owners[j]);
        result.layers.push_back(found.ghost_layers[j]);
    }
    result.complete.assign(complete.begin() + offsets[i], complete.begin() + offsets[i + 1]);
    const HaloPlans& plans = found.plans;
    for (index_t slice = plans.neighbours.offsets[i]; slice < plans.neighbours.offsets[i + 1]; ++slice) {
        auto& [sent, n_received] = result.plan[static_cast<part_t>(plans.neighbours.entries[slice])];
        for (index_t j = plans.send_offsets[slice]; j < plans.send_offsets[slice + 1]; ++j) {
            sent.push_back(result.ids[plans.send_indices[j]]);
        }
        n_received = plans.receive_counts[slice];
    }
    return result;
}

template <class Id = std::uint32_t>
std::vector<Part> parts_of(const Mesh& mesh, const Labels& labels, index_t nparts, const PartList& parts,
                           std::int32_t layers, int threads = 2) {
    const auto n = static_cast<part_t>(nparts);
    const auto found = parts.empty() ? build_parts(mesh.view(), labels, n, parts, layers, threads)
                                     : build_parts_in<Id>(mesh.view(), labels, n, parts, layers, threads);
    REQUIRE(found.block_nodes.offsets.size() == mesh.n_blocks() * parts.size() + 1);
    std::vector<Part> result(parts.size());
    for (index_t i = 0; i < std::ssize(parts); ++i) {
        result[i].cells = members_of(found.cells, found.cell_complete, i);
        result[i].points = members_of(found.points, found.point_complete, i);
        for (index_t block = 0; block < mesh.n_blocks(); ++block) {
            const index_t row = block * std::ssize(parts) + i;
            const bool alone = mesh.n_blocks() == 1;
            result[i].block_cells.push_back(alone ? result[i].cells.ids : plain(found.block_cells.view()[row]));
            result[i].block_nodes.push_back(plain(found.block_nodes.view()[row]));
        }
    }
    return result;
}

PartList all_parts(index_t nparts) {
    PartList parts;
    for (index_t part = 0; part < nparts; ++part) parts.push_back(static_cast<part_t>(part));
    return parts;
}

void check(const Mesh& mesh, const Labels& labels, index_t nparts, std::int32_t layers) {
    CAPTURE(layers);
    const auto expected = slow_parts(mesh, labels, nparts, layers);
    const auto found = parts_of(mesh, labels, nparts, all_parts(nparts), layers, 1);
    for (index_t part = 0; part < nparts; ++part) {
        CAPTURE(part);
        REQUIRE(found[part].cells.ids == expected[part].cells.ids);
        REQUIRE(found[part].points.ids == expected[part].points.ids);
        REQUIRE((found[part].cells == expected[part].cells));
        REQUIRE((found[part].points == expected[part].points));
        REQUIRE((found[part] == expected[part]));
    }
    REQUIRE((parts_of<index_t>(mesh, labels, nparts, all_parts(nparts), layers, 4) == expected));
}

void check_some(const Mesh& mesh, const Labels& labels, index_t nparts, const PartList& parts, std::int32_t layers) {
    CAPTURE(layers);
    const auto all = slow_parts(mesh, labels, nparts, layers);
    std::vector<Part> expected;
    for (const part_t part : parts) expected.push_back(all[part]);
    REQUIRE((parts_of(mesh, labels, nparts, parts, layers) == expected));
}

}  // namespace

TEST_CASE("two quads in two parts: local numbers, owners and what is complete") {
    //  3 - 4 - 5     part 0 owns cell 0 and the points 0 1 3 4, part 1 owns cell 1 and the points 2 5
    //  | 0 | 1 |     the points 1 and 4 are ghosts of part 1; no cell is complete, both share points
    //  0 - 1 - 2
    const auto found = parts_of(quad_grid(2, 1), {0, 1}, 2, {0, 1}, 0);
    CHECK((found[0].points == Group{{0, 1, 3, 4}, 4, {}, {}, {1, 0, 1, 0}, {{1, {{1, 4}, 0}}}}));
    CHECK((found[1].points == Group{{2, 5, 1, 4}, 2, {0, 0}, {0, 0}, {1, 1, 0, 0}, {{0, {{}, 2}}}}));
    CHECK((found[0].cells == Group{{0}, 1, {}, {}, {0}, {}}));
    CHECK(found[0].block_nodes == Lists{{0, 1, 3, 2}});  // the points 0 1 4 3
    CHECK(found[1].block_nodes == Lists{{2, 0, 1, 3}});  // the points 1 2 5 4
}

TEST_CASE("with one layer each has the other's quad as a ghost, and all is complete") {
    const auto found = parts_of(quad_grid(2, 1), {0, 1}, 2, {0, 1}, 1);
    CHECK((found[0].cells == Group{{0, 1}, 1, {1}, {1}, {1, 1}, {{1, {{0}, 1}}}}));
    CHECK((found[1].cells == Group{{1, 0}, 1, {0}, {1}, {1, 1}, {{0, {{1}, 1}}}}));
    CHECK((found[0].points == Group{{0, 1, 3, 4, 2, 5}, 4, {1, 1}, {1, 1}, Flags(6, 1), {{1, {{0, 1, 3, 4}, 2}}}}));
}

TEST_CASE("rows of several blocks are in local order, and blocks without cells are there") {
    //  3 - 4 - 5     blocks: a line 0: 2-5, none, quads 1 and 2 as drawn with 0 and 1, a line 3: 0-3
    //  | 0 | 1 |
    //  0 - 1 - 2
    const auto mesh =
        Mesh(6).add(line, {{2, 5}}).add(tetra, {}).add(quad, {{0, 1, 4, 3}, {1, 2, 5, 4}}).add(line, {{0, 3}});
    // Part 0 owns the line 0 and the quad 2, part 1 the quad 1 and the line 3; points 1 and 4 are ties.
    const auto found = parts_of(mesh, {0, 1, 0, 1}, 2, {0}, 9);
    CHECK(found[0].cells.ids == Ids{0, 2, 1, 3});
    CHECK(found[0].cells.layers == std::vector{1, 2});
    CHECK(found[0].points.ids == Ids{1, 2, 4, 5, 0, 3});
    CHECK(found[0].block_cells == Lists{{0}, {}, {2, 1}, {3}});
    CHECK(found[0].block_nodes == Lists{{1, 3}, {}, {0, 1, 3, 2, 4, 0, 2, 5}, {4, 5}});
}

TEST_CASE("the owner of a point has most of the cells on it, a cell that names it twice counted once") {
    // On point 0: the collapsed quad of part 0, and two lines of part 1; on points 1 and 2 one part alone.
    const auto mesh = Mesh(3).add(quad, {{0, 0, 1, 0}}).add(line, {{0, 2}, {0, 2}});
    const auto found = parts_of(mesh, {0, 1, 1}, 2, {0, 1}, 0);
    CHECK(found[0].points.ids == Ids{1, 0});
    CHECK(found[1].points.ids == Ids{0, 2});
    CHECK(found[0].block_nodes == Lists{{1, 1, 0, 1}, {}});
}

TEST_CASE("points that no cell uses come to part 0 in their place, and are complete") {
    const auto mesh = Mesh(5).add(line, {{1, 3}, {3, 4}});
    const auto found = parts_of(mesh, {0, 1}, 3, {0, 1, 2}, 0);
    CHECK(found[0].points.ids == Ids{0, 1, 2, 3});
    CHECK(found[0].points.complete == Flags{1, 1, 1, 0});
    CHECK(found[1].points.ids == Ids{4, 3});
    CHECK(found[2].points.ids.empty());
    CHECK(parts_of(mesh, {1, 1}, 2, {0}, 0)[0].points.ids == Ids{0, 2});  // a part without cells
}

TEST_CASE("the parts are what their definition says, for random meshes and labels") {
    Random random(1);
    for (int trial = 0; trial < 200; ++trial) {
        CAPTURE(trial);
        const auto mesh = random_mesh(random, trial % 2 ? 6 : 60, 6, 6);
        const index_t nparts = random.integer(1, trial % 3 ? 4 : 20);  // with 20 many are empty
        const auto labels = random_labels(random, mesh, nparts);
        for (const std::int32_t layers : {0, 1, 2, 50}) check(mesh, labels, nparts, layers);
    }
}

TEST_CASE("some of the parts are what they are among all") {
    Random random(2);
    for (int trial = 0; trial < 200; ++trial) {
        CAPTURE(trial);
        const auto mesh = trial % 2 ? random_mesh(random, 60, 6, 6) : quad_grid(12, 2);
        const index_t nparts = random.integer(1, 9);
        auto labels = random_labels(random, mesh, nparts);
        if (trial % 4 == 0) std::ranges::sort(labels);  // so that most are far from each other
        PartList parts;
        for (const part_t part : all_parts(nparts)) {
            if (random.chance(0.3)) parts.push_back(part);
        }
        for (const std::int32_t layers : {0, 1, 2, 3, 4, 50}) check_some(mesh, labels, nparts, parts, layers);
    }
}

TEST_CASE("one part or two are what they are among all, near a point with many cells and far from it") {
    Random random(4);
    for (int trial = 0; trial < 60; ++trial) {
        CAPTURE(trial);
        const index_t length = random.integer(0, 12), rim = random.integer(3, 12);
        Mesh mesh(length + rim + 2);  // lines in a row, which end in a fan of triangles
        std::vector<Ids> lines, triangles;
        for (index_t i = 0; i < length; ++i) lines.push_back({i, i + 1});
        for (index_t i = 0; i < rim; ++i) triangles.push_back({length, length + 1 + i, length + 1 + (i + 1) % rim});
        mesh.add(line, lines).add(triangle, triangles);
        const index_t nparts = random.integer(2, 6);
        auto labels = random_labels(random, mesh, nparts);
        if (trial % 2) std::ranges::sort(labels);
        for (const std::int32_t layers : {0, 1, 2, 5, 50}) {
            for (const part_t part : all_parts(nparts)) {
                check_some(mesh, labels, nparts, {part}, layers);
                if (part > 0) check_some(mesh, labels, nparts, {0, part}, layers);
            }
        }
    }
}

TEST_CASE("who surely has all cells of a part is near enough to the farthest of them") {
    // Quads in a row, two a part. From the points between part 1 and one of its neighbours, its cells are 0 and 1 steps
    // away, as that neighbour's are, and the other neighbour 2. So 2 layers surely bring the one all of part 1, and 4
    // the other, which has all of it in 2 as well.
    const auto mesh = quad_grid(6, 1);
    const Labels labels{0, 0, 1, 1, 2, 2};
    const PartList parts = all_parts(3);
    const auto grouped = regroup<std::uint32_t>(mesh.view(), labels, 3, parts, 9, 1);
    CHECK(surely_have_all_of(grouped, 1, 0) == Flags{0, 0, 0});
    CHECK(surely_have_all_of(grouped, 1, 1) == Flags{0, 0, 0});
    LayerSearch<std::uint32_t> search(grouped);
    for (const index_t holder : {0, 2}) {
        for (const std::int32_t layers : {2, 3, 4, 9}) {
            search.run(holder, layers, true);
            const auto found =
                std::ranges::count_if(search.cells(), [](const auto& ghost) { return ghost.number / 2 == 1; });
            CHECK(found == 2);
        }
    }
    const auto two = surely_have_all_of(grouped, 1, 2), four = surely_have_all_of(grouped, 1, 4);
    CHECK(two[0] + two[1] + two[2] == 1);
    CHECK(four == Flags{1, 0, 1});
}

TEST_CASE("on a checkerboard no cell is complete without ghosts, and every one is with a layer") {
    const auto mesh = quad_grid(7, 6);
    Labels labels;
    for (index_t c = 0; c < mesh.n_cells(); ++c) labels.push_back(static_cast<part_t>((c % 7 + c / 7) % 2));
    for (const std::int32_t layers : {0, 1, 2}) check(mesh, labels, 2, layers);
    CHECK(std::ranges::count(parts_of(mesh, labels, 2, {0}, 0)[0].cells.complete, 1) == 0);
    CHECK(std::ranges::count(parts_of(mesh, labels, 2, {0}, 1)[0].cells.complete, 1) == mesh.n_cells());
}

TEST_CASE("every cell in a part of its own") {
    const auto mesh = quad_grid(9, 9);
    Labels labels;
    for (index_t c = 0; c < mesh.n_cells(); ++c) labels.push_back(static_cast<part_t>(mesh.n_cells() - 1 - c));
    check(mesh, labels, mesh.n_cells(), 1);
}

TEST_CASE("the parts of a larger mesh do not depend on the number of threads or the width of ids") {
    Random random(3);
    const auto mesh = quad_grid(80, 70);
    for (const index_t nparts : {1, 3, 500}) {
        const auto labels = random_labels(random, mesh, nparts);
        const auto parts = all_parts(nparts);
        const auto expected = parts_of(mesh, labels, nparts, parts, 1, 1);
        for (const int threads : {2, 4, 7}) CHECK((parts_of(mesh, labels, nparts, parts, 1, threads) == expected));
        CHECK((parts_of<index_t>(mesh, labels, nparts, parts, 1) == expected));
    }
}

TEST_CASE("no points, no cells, no blocks and no parts") {
    CHECK(parts_of(Mesh(0), {}, 2, {0, 1}, 1)[1].points.ids.empty());
    const auto alone = parts_of(Mesh(2), {}, 2, {0, 1}, 1);
    CHECK(alone[0].points.ids == Ids{0, 1});
    CHECK(alone[1].points.ids.empty());
    CHECK(parts_of(quad_grid(2, 1), {0, 1}, 2, {}, 1).empty());
    CHECK(parts_of(Mesh(2).add(tetra, {}), {}, 1, {0}, 1)[0].block_cells == Lists{{}});
}

TEST_CASE("parts of numbers without measure cost no memory for those that are not there") {
    const auto far = std::numeric_limits<part_t>::max() - 1;
    const auto found = parts_of(quad_grid(2, 1), {0, far}, std::numeric_limits<part_t>::max(), {far}, 1);
    CHECK((found[0].cells == Group{{1, 0}, 1, {0}, {1}, {1, 1}, {{0, {{1}, 1}}}}));
}

TEST_CASE("build_parts refuses points and labels that are not there") {
    for (const index_t wrong : {index_t{-1}, index_t{9}, std::numeric_limits<index_t>::max()}) {
        for (const int threads : {1, 3}) {
            auto mesh = quad_grid(2, 2);
            mesh.points[13] = wrong;
            CHECK_THROWS_AS(parts_of(mesh, {0, 1, 2, 2}, 3, {0, 1, 2}, 1, threads), std::out_of_range);
            CHECK_THROWS_AS(parts_of(mesh, {0, 1, 2, 2}, 3, {0}, 1, threads), std::out_of_range);
        }
    }
    for (const part_t wrong : {-1, 3, std::numeric_limits<part_t>::max()}) {
        CHECK_THROWS_AS(parts_of(quad_grid(2, 2), {0, 1, wrong, 2}, 3, {0, 1, 2}, 1), std::out_of_range);
    }
}
