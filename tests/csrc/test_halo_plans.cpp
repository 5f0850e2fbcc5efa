// Exchange plans: against every pair of parts looked at by hand.
#include <doctest/doctest.h>

#include <stdexcept>

#include "compare.hpp"
#include "core/halo_plans.hpp"
#include "random.hpp"

using namespace meshpart;
using namespace meshpart::testing;

namespace {

using Ids = std::vector<index_t>;
using Parts = std::vector<part_t>;
using Ranks = std::vector<std::int32_t>;

// Entities with owners, and what each of some parts holds of the others.
struct Holding {
    Parts owners;
    Parts holders;
    std::vector<Ids> held;  // as holders, by (owner, id)
};

struct FlatHeld {
    Csr ids;
    Parts owners;

    explicit FlatHeld(const Holding& holding) {
        for (const Ids& row : holding.held) {
            for (const index_t id : row) {
                ids.entries.push_back(id);
                owners.push_back(holding.owners[id]);
            }
            ids.close_row();
        }
    }
};

Ranks ranks_of(const Parts& owners) {
    Ranks ranks;
    std::vector<std::int32_t> next(10, 0);
    for (const part_t owner : owners) ranks.push_back(next[owner]++);
    return ranks;
}

HaloPlans plans_of(const Parts& parts, const Holding& holding) {
    const FlatHeld held(holding);
    return halo_plans(parts, {holding.holders, held.ids.view(), held.owners}, ranks_of(holding.owners));
}

// The ids of `held` that a part owns.
Ids owned_by(part_t part, const Ids& held, const Parts& owners) {
    Ids result;
    for (const index_t id : held) {
        if (owners[id] == part) result.push_back(id);
    }
    return result;
}

HaloPlans expected_plans(const Parts& parts, const Holding& holding) {
    const Ranks ranks = ranks_of(holding.owners);
    HaloPlans result;
    const auto held_by = [&](part_t part) {
        for (index_t i = 0; i < std::ssize(holding.holders); ++i) {
            if (holding.holders[i] == part) return holding.held[i];
        }
        return Ids{};
    };
    for (const part_t part : parts) {
        for (part_t other = 0; other < 10; ++other) {
            if (other == part) continue;
            const Ids sent = owned_by(part, held_by(other), holding.owners);
            const Ids received = owned_by(other, held_by(part), holding.owners);
            if (sent.empty() && received.empty()) continue;
            result.neighbours.entries.push_back(other);
            for (const index_t id : sent) result.send_indices.push_back(ranks[id]);
            result.send_offsets.push_back(std::ssize(result.send_indices));
            result.receive_counts.push_back(std::ssize(received));
        }
        result.neighbours.close_row();
    }
    return result;
}

void check_same(const HaloPlans& a, const HaloPlans& b) {
    CHECK(plain(a.neighbours.offsets) == plain(b.neighbours.offsets));
    CHECK(plain(a.neighbours.entries) == plain(b.neighbours.entries));
    CHECK(plain(a.send_offsets) == plain(b.send_offsets));
    CHECK(plain(a.send_indices) == plain(b.send_indices));
    CHECK(plain(a.receive_counts) == plain(b.receive_counts));
}

Holding random_holding(Random& random, part_t nparts) {
    Holding result;
    for (index_t i = random.integer(0, 30); i > 0; --i) {
        result.owners.push_back(static_cast<part_t>(random.integer(0, nparts - 1)));
    }
    const double share = random.unit();
    for (part_t part = 0; part < nparts; ++part) {
        result.holders.push_back(part);
        Ids& held = result.held.emplace_back();
        for (part_t owner = 0; owner < nparts; ++owner) {
            for (index_t id = 0; id < std::ssize(result.owners); ++id) {
                if (owner != part && result.owners[id] == owner && random.chance(share)) held.push_back(id);
            }
        }
    }
    return result;
}

}  // namespace

TEST_CASE("two parts that hold of each other, and one that only sends") {
    // Part 0 owns 0, 1, 4; part 1 owns 2, 3; part 2 owns 5. Part 0 holds 3 and 5, part 1 holds 0 and 4.
    const Holding holding{{0, 0, 1, 1, 0, 2}, {0, 1, 2}, {{3, 5}, {0, 4}, {}}};
    const HaloPlans plans = plans_of({0, 1, 2}, holding);
    CHECK(plain(plans.neighbours.offsets) == Ids{0, 2, 3, 4});
    CHECK(plain(plans.neighbours.entries) == Ids{1, 2, 0, 0});
    CHECK(plain(plans.send_offsets) == Ids{0, 2, 2, 3, 4});
    CHECK(plain(plans.send_indices) == Ids{0, 2, 1, 0});  // 0 and 4; nothing; 3; 5
    CHECK(plain(plans.receive_counts) == Ids{1, 1, 2, 0});
}

TEST_CASE("the plans are those of looking at every pair of parts") {
    Random random(1);
    for (int round = 0; round < 300; ++round) {
        const auto nparts = static_cast<part_t>(random.integer(1, 6));
        const Holding holding = random_holding(random, nparts);
        Parts parts;
        for (part_t part = 0; part < nparts; ++part) {
            if (round % 2 == 0 || random.chance(0.5)) parts.push_back(part);
        }
        check_same(plans_of(parts, holding), expected_plans(parts, holding));
    }
}

TEST_CASE("of other holders only what the parts own is read") {
    Random random(2);
    for (int round = 0; round < 200; ++round) {
        Holding holding = random_holding(random, 5);
        const HaloPlans expected = plans_of({1, 3}, holding);
        // Left out: what the others hold of each other, and holders that then hold nothing.
        Holding less{holding.owners, {}, {}};
        for (part_t part = 0; part < 5; ++part) {
            Ids kept = holding.held[part];
            if (part != 1 && part != 3) {
                std::erase_if(kept, [&](index_t id) { return holding.owners[id] != 1 && holding.owners[id] != 3; });
                if (kept.empty()) continue;
            }
            less.holders.push_back(part);
            less.held.push_back(kept);
        }
        check_same(plans_of({1, 3}, less), expected);
    }
}

TEST_CASE("no parts have no plans, and parts that hold nothing have empty ones") {
    const HaloPlans none = plans_of({}, {{0, 1}, {0, 1}, {{1}, {0}}});
    CHECK(none.neighbours.view().n_rows() == 0);
    CHECK(plain(none.send_offsets) == Ids{0});
    const HaloPlans alone = plans_of({0, 1}, {{0, 1}, {0, 1}, {{}, {}}});
    CHECK(plain(alone.neighbours.offsets) == Ids{0, 0, 0});
    CHECK(plain(alone.send_offsets) == Ids{0});
}

TEST_CASE("the highest part numbers are numbers like others") {
    constexpr part_t highest = 2147483646;
    const Ids offsets{0, 1, 2}, ids{1, 0};
    const Parts holders{0, highest}, owners{highest, 0};
    const Ranks ranks{0, 0};
    const HaloPlans plans = halo_plans(holders, {holders, {offsets, ids}, owners}, ranks);
    CHECK(plain(plans.neighbours.entries) == Ids{highest, 0});
    CHECK(plain(plans.send_indices) == Ids{0, 0});
    CHECK(plain(plans.receive_counts) == Ids{1, 1});
}

TEST_CASE("an id that no entity has throws") {
    for (const index_t wrong : {index_t{2}, index_t{-1}}) {
        const Ids offsets{0, 0, 1}, ids{wrong};
        const Parts holders{0, 1}, owners{0};
        const Ranks ranks{0, 0};
        CHECK_THROWS_AS(halo_plans(holders, {holders, {offsets, ids}, owners}, ranks), std::out_of_range);
    }
}
