// The edges of a part, in the order of message passing.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>

#include "compare.hpp"
#include "core/local_graph.hpp"
#include "random.hpp"

using namespace meshpart;
using testing::plain;
using testing::Random;

namespace {

using Ids = std::vector<index_t>;
using Flags = std::vector<std::uint8_t>;

struct Part {
    Ids offsets{0}, senders, global_ids, row_starts, edge_ids;
    index_t n_owned = 0;

    PartGraph view() const { return {{offsets, senders}, n_owned, global_ids, row_starts, edge_ids}; }
    void add_row(const Ids& row) {
        senders.insert(senders.end(), row.begin(), row.end());
        offsets.push_back(std::ssize(senders));
    }
};

// A path 0 - 1 - 2 - 3 - 4 - 5 of which the part owns 3 and 4, and has 2, 5 and 1 as ghosts, whose owners are such that
// they stand in this order.
//
//   global  0 - 1 - 2 - 3 - 4 - 5
//   local       4 - 2 - 0 - 1 - 3       the row of local 4, which also hears from 0, is not whole
Part path() {
    Part part;
    part.global_ids = {3, 4, 2, 5, 1};
    part.n_owned = 2;
    for (const Ids& row : {Ids{1, 2}, Ids{0, 3}, Ids{0, 4}, Ids{1}, Ids{2}}) part.add_row(row);
    part.row_starts = {5, 7, 3, 9, 1};
    return part;
}

}  // namespace

TEST_CASE("one step walks the edges to owned entities, by the global id of the sender") {
    const auto edges = edges_within(path().view(), 1, 1);
    CHECK(plain(edges.offsets) == Ids{0, 0, 4});         // each of 3 and 4 has a ghost beside it
    CHECK(plain(edges.receivers()) == Ids{0, 0, 1, 1});  // that is 3 3 4 4
    CHECK(plain(edges.senders()) == Ids{2, 1, 0, 3});    // that is 2 4 3 5
    CHECK(plain(edges.ids) == Ids{5, 6, 7, 8});
}

TEST_CASE("further steps walk the edges to ghosts too, by their distance") {
    const auto two = edges_within(path().view(), 2, 1);
    CHECK(plain(two.offsets) == Ids{0, 0, 4, 7});
    CHECK(plain(two.receivers()) == Ids{0, 0, 1, 1, 2, 2, 3});  // 2 2 5
    CHECK(plain(two.senders()) == Ids{2, 1, 0, 3, 4, 0, 1});    // 1 3 4
    CHECK(plain(two.ids) == Ids{5, 6, 7, 8, 3, 4, 9});
    const auto three = edges_within(path().view(), 3, 1);
    CHECK(plain(three.offsets) == Ids{0, 0, 4, 7, 8});
    CHECK(plain(edges_within(path().view(), index_t{1} << 40, 1).offsets) == Ids{0, 0, 4, 7, 8});  // and no further
}

TEST_CASE("edges to entities that hear from owned ones only come first") {
    Part part;  // 0 - 1 - 2 with the ghost 2
    part.global_ids = {0, 1, 2};
    part.n_owned = 2;
    for (const Ids& row : {Ids{1}, Ids{0, 2}, Ids{1}}) part.add_row(row);
    const auto edges = edges_within(part.view(), 1, 1);
    CHECK(plain(edges.offsets) == Ids{0, 1, 3});
    CHECK(edges.ids.empty());
}

TEST_CASE("parallel edges and loops stay, in the order of their row") {
    Part part;
    part.global_ids = {7, 3};
    part.n_owned = 1;
    part.add_row({0, 1, 0, 1});
    part.add_row({});
    part.row_starts = {20, 30};
    const auto edges = edges_within(part.view(), 2, 1);
    CHECK(plain(edges.senders()) == Ids{1, 1, 0, 0});
    CHECK(plain(edges.ids) == Ids{20, 21, 22, 23});
    CHECK(plain(edges.offsets) == Ids{0, 0, 4, 4});
}

TEST_CASE("ids that are given go with their edges, through the sorting and the choosing") {
    auto part = path();
    part.row_starts = {};
    part.edge_ids = {90, 80, 70, 60, 50, 40, 30, 20};
    const auto edges = edges_within(part.view(), 2, 1);
    CHECK(plain(edges.senders()) == Ids{2, 1, 0, 3, 4, 0, 1});
    CHECK(plain(edges.ids) == Ids{80, 90, 70, 60, 40, 50, 30});
    CHECK(plain(chosen_edges(part.view(), Flags{1, 0, 0, 1, 1, 0, 0, 0}, 1).ids) == Ids{90, 60, 50});
    part.edge_ids.pop_back();
    CHECK_THROWS_AS(edges_within(part.view(), 2, 1), std::invalid_argument);
}

TEST_CASE("edges that are not chosen still count in the ranks of others") {
    const Flags chosen{1, 0, 0, 1, 1, 0, 0, 0};  // 4 -> 3, 5 -> 4, 3 -> 2
    const auto edges = chosen_edges(path().view(), chosen, 1);
    CHECK(plain(edges.offsets) == Ids{0, 1, 2, 3});  // 3 hears from 4, which is owned; 4 from the ghost 5
    CHECK(plain(edges.receivers()) == Ids{0, 1, 2});
    CHECK(plain(edges.senders()) == Ids{1, 3, 0});
    CHECK(plain(edges.ids) == Ids{6, 8, 4});
}

TEST_CASE("of random graphs the edges are those that sets and sorting find, with any number of threads") {
    Random random(5);
    for (int trial = 0; trial < 40; ++trial) {
        const index_t n = random.integer(1, 25) + (trial == 0 ? 9000 : 0);
        const index_t steps = random.integer(1, 4);
        Part part;
        part.n_owned = random.integer(0, n);
        Flags chosen;
        for (index_t v = 0; v < n; ++v) part.global_ids.push_back(3 * v);
        random.shuffle(part.global_ids);
        for (index_t v = 0; v < n; ++v) {
            std::set<index_t> row;
            for (index_t i = random.integer(0, 4); i > 0; --i) row.insert(random.integer(0, n - 1));
            part.add_row({row.begin(), row.end()});
            part.row_starts.push_back(100 * v);
        }
        for (std::size_t i = 0; i < part.senders.size(); ++i) chosen.push_back(random.chance(0.5));

        const auto senders = [&](index_t v) { return part.view().rows[v]; };
        const auto is_ghost = [&](index_t v) { return v >= part.n_owned; };
        std::vector<index_t> hop(n, -1);
        for (index_t v = 0; v < part.n_owned; ++v) hop[v] = std::ranges::any_of(senders(v), is_ghost);
        for (index_t h = 2; h <= steps; ++h) {
            for (index_t v = 0; v < n; ++v) {
                if (h == 2 ? hop[v] != 0 && hop[v] != 1 : hop[v] != h - 1) continue;
                for (const index_t sender : senders(v)) {
                    if (hop[sender] < 0) hop[sender] = h;
                }
            }
        }
        std::vector<index_t> group_of_chosen(n, 2);
        for (index_t v = 0; v < part.n_owned; ++v) {
            group_of_chosen[v] = 0;
            for (index_t e = part.offsets[v]; e < part.offsets[v + 1]; ++e) {
                if (chosen[e] && is_ghost(part.senders[e])) group_of_chosen[v] = 1;
            }
        }

        using Edge = std::tuple<index_t, index_t, index_t, index_t, index_t>;  // group, receiver, id, sender's ids
        const auto expected = [&](const std::vector<index_t>& group, const Flags& wanted) {
            std::vector<Edge> edges;
            for (index_t v = 0; v < n; ++v) {
                for (index_t e = part.offsets[v]; group[v] >= 0 && e < part.offsets[v + 1]; ++e) {
                    if (!wanted[e]) continue;
                    const index_t id = part.global_ids[part.senders[e]];
                    const auto rank =
                        std::ranges::count_if(senders(v), [&](index_t other) { return part.global_ids[other] < id; });
                    edges.emplace_back(group[v], v, part.row_starts[v] + rank, id, part.senders[e]);
                }
            }
            std::sort(edges.begin(), edges.end());
            return edges;
        };
        const auto found = [&](const LocalEdges& edges) {
            std::vector<Edge> result;
            for (index_t g = 0; g + 1 < std::ssize(edges.offsets); ++g) {
                for (index_t e = edges.offsets[g]; e < edges.offsets[g + 1]; ++e) {
                    const index_t sender = edges.senders()[e];
                    result.emplace_back(g, edges.receivers()[e], edges.ids[e], part.global_ids[sender], sender);
                }
            }
            return result;
        };
        for (const int threads : {1, 3}) {
            CHECK(found(edges_within(part.view(), steps, threads)) == expected(hop, Flags(chosen.size(), 1)));
            CHECK(found(chosen_edges(part.view(), chosen, threads)) == expected(group_of_chosen, chosen));
        }
    }
}

TEST_CASE("edges of own alone are those that own rows have and lower ones have not") {
    const Ids offsets{0, 3, 4}, targets{1, 2, 5, 0}, own_offsets{0, 2, 2}, own{1, 5}, lower_offsets{0, 2, 3},
        lower{2, 5, 0};
    const auto chosen = edges_of_own_alone({offsets, targets}, {own_offsets, own}, {lower_offsets, lower}, 1);
    CHECK(plain(chosen) == Flags{1, 0, 0, 0});
}

TEST_CASE("what is no graph of a part is refused") {
    auto part = path();
    part.senders[3] = 5;
    CHECK_THROWS_AS(edges_within(part.view(), 1, 1), std::out_of_range);
    part.senders[3] = -1;
    CHECK_THROWS_AS(chosen_edges(part.view(), Flags(8, 1), 1), std::out_of_range);
    part = path();
    CHECK_THROWS_AS(chosen_edges(part.view(), Flags(7, 1), 1), std::invalid_argument);
    part.row_starts.pop_back();
    CHECK_THROWS_AS(edges_within(part.view(), 1, 1), std::invalid_argument);
    part = path();
    part.n_owned = 6;
    CHECK_THROWS_AS(edges_within(part.view(), 1, 1), std::invalid_argument);
    part = path();
    part.global_ids.pop_back();
    CHECK_THROWS_AS(edges_within(part.view(), 1, 1), std::invalid_argument);
    CHECK_THROWS_AS(edges_of_own_alone(path().view().rows, {Ids{0}, {}}, path().view().rows, 1), std::invalid_argument);
}
