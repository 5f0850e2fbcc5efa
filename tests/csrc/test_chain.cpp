// Cuts of a chain, beside the rule of its header taken word by word.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "compare.hpp"
#include "core/chain.hpp"
#include "random.hpp"

using namespace meshpart;
using testing::plain;
using testing::Random;

namespace {

using Weights = std::vector<weight_t>;
using Cuts = std::vector<index_t>;

weight_t sum(const Weights& weights, index_t begin, index_t end) {
    return std::accumulate(weights.begin() + begin, weights.begin() + end, weight_t{0});
}

// Calls visit(cuts) with every way to cut units begin..n-1 into pieces that are not empty.
template <class Visit>
void for_each_way(index_t begin, index_t n, index_t pieces, Cuts& cuts, Visit&& visit) {
    cuts.push_back(begin);
    if (pieces == 1) {
        cuts.push_back(n);
        visit(cuts);
        cuts.pop_back();
    } else {
        for (index_t end = begin + 1; end + pieces - 1 <= n; ++end) for_each_way(end, n, pieces - 1, cuts, visit);
    }
    cuts.pop_back();
}

// The weight of the heaviest piece of units begin..n-1, cut into pieces at best.
weight_t least_heaviest(const Weights& weights, index_t begin, index_t pieces) {
    weight_t least = -1;
    Cuts cuts;
    for_each_way(begin, std::ssize(weights), pieces, cuts, [&](const Cuts& way) {
        weight_t heaviest = 0;
        for (std::size_t i = 1; i < way.size(); ++i) heaviest = std::max(heaviest, sum(weights, way[i - 1], way[i]));
        if (least < 0 || heaviest < least) least = heaviest;
    });
    return least;
}

// "Cut i is, among the positions that keep piece i within that weight and non-empty and let the rest fit, the one whose
// weight before it is nearest i * W / nparts, the earlier on a tie."
Cuts slow_cuts(const Weights& weights, index_t nparts) {
    const index_t n = std::ssize(weights);
    const weight_t limit = least_heaviest(weights, 0, nparts), total = sum(weights, 0, n);
    Cuts cuts{0};
    for (index_t i = 1; i < nparts; ++i) {
        index_t best = -1;
        weight_t best_distance = 0;
        for (index_t cut = cuts.back() + 1; n - cut >= nparts - i; ++cut) {
            if (sum(weights, cuts.back(), cut) > limit || least_heaviest(weights, cut, nparts - i) > limit) continue;
            const weight_t distance = std::abs(sum(weights, 0, cut) * nparts - i * total);
            if (best < 0 || distance < best_distance) best = cut, best_distance = distance;
        }
        cuts.push_back(best);
    }
    cuts.push_back(n);
    return cuts;
}

Cuts cut(const Weights& weights, index_t nparts) {
    return plain(cut_chain(weights, std::ssize(weights), nparts));
}

weight_t heaviest_piece(const Weights& weights, const Cuts& cuts) {
    weight_t heaviest = 0;
    for (std::size_t i = 1; i < cuts.size(); ++i) heaviest = std::max(heaviest, sum(weights, cuts[i - 1], cuts[i]));
    return heaviest;
}

// Whether units begin..n-1 fit into pieces of at most `limit`, none empty: each takes all it can, but leaves one for
// each of the others.
bool fits(const Weights& weights, index_t begin, index_t pieces, weight_t limit) {
    for (; pieces > 0; --pieces) {
        weight_t weight = 0;
        const index_t first = begin;
        while (begin + pieces - 1 < std::ssize(weights) && weight + weights[begin] <= limit) weight += weights[begin++];
        if (begin == first) return false;
    }
    return begin == std::ssize(weights);
}

Weights random_weights(Random& random, index_t n, weight_t highest, double zeros) {
    Weights weights(n);
    for (auto& w : weights) w = random.chance(zeros) ? 0 : random.integer(0, highest);
    return weights;
}

void check_that_no_piece_is_empty(const Cuts& cuts, index_t n, index_t nparts) {
    REQUIRE(std::ssize(cuts) == nparts + 1);
    REQUIRE(cuts.front() == 0);
    REQUIRE(cuts.back() == n);
    for (std::size_t i = 1; i < cuts.size(); ++i) REQUIRE(cuts[i] > cuts[i - 1]);
}

}  // namespace

TEST_CASE("cut_chain cuts where the pieces weigh most alike") {
    //  4 | 1 1 1 1 | 2 2      W / 3 = 4
    CHECK(cut({4, 1, 1, 1, 1, 2, 2}, 3) == Cuts{0, 1, 5, 7});
    //  1 2 | 3 | 2 1          the heaviest piece weighs 3, W / 3 = 3
    CHECK(cut({1, 2, 3, 2, 1}, 3) == Cuts{0, 2, 3, 5});
    //  9 | 1 1 | 1            piece 0 weighs 9 at least, which leaves cut 2 free: 2 * 12 / 3 = 8, nearest is 10
    CHECK(cut({9, 1, 1, 1}, 3) == Cuts{0, 1, 2, 4});
}

TEST_CASE("on a tie the earlier position is cut, and of positions of equal weight the first") {
    //  1 | 1 1    cut 1 is nearest 1.5, which 1 and 2 are alike
    CHECK(cut({1, 1, 1}, 2) == Cuts{0, 1, 3});
    //  1 | 0 0 1  the positions 1, 2 and 3 all have weight 1 before them
    CHECK(cut({1, 0, 0, 1}, 2) == Cuts{0, 1, 4});
    CHECK(cut({0, 0, 0, 0}, 2) == Cuts{0, 1, 4});
}

TEST_CASE("units of weight 0 fill pieces where there is nothing else") {
    //  0 | 0 | 5  every piece has a unit
    CHECK(cut({0, 0, 5}, 3) == Cuts{0, 1, 2, 3});
    CHECK(cut({5, 0, 0}, 3) == Cuts{0, 1, 2, 3});
}

TEST_CASE("cut_chain follows its rule for all chains of up to seven weights 0, 1, 2") {
    for (index_t n = 1; n <= 7; ++n) {
        index_t chains = 1;
        for (index_t i = 0; i < n; ++i) chains *= 3;
        for (index_t chain = 0; chain < chains; ++chain) {
            Weights weights(n);
            for (index_t i = 0, rest = chain; i < n; ++i, rest /= 3) weights[i] = rest % 3;
            for (index_t nparts = 1; nparts <= n; ++nparts) {
                if (n == 7 && (chain + nparts) % 4 > 0) continue;
                CAPTURE(weights);
                CAPTURE(nparts);
                REQUIRE(cut(weights, nparts) == slow_cuts(weights, nparts));
            }
        }
    }
}

TEST_CASE("cut_chain follows its rule for random chains of up to ten weights") {
    Random random(1);
    for (int trial = 0; trial < 400; ++trial) {
        const index_t n = random.integer(1, 10);
        const auto weights = random_weights(random, n, trial % 2 ? 5 : 100, trial % 3 ? 0.1 : 0.6);
        for (index_t nparts = 1; nparts <= n; ++nparts) {
            CAPTURE(weights);
            CAPTURE(nparts);
            REQUIRE(cut(weights, nparts) == slow_cuts(weights, nparts));
        }
    }
}

TEST_CASE("units of one weight make pieces whose sizes differ by one at most") {
    for (const index_t n : {1, 2, 7, 64, 1000}) {
        for (index_t nparts = 1; nparts <= n; nparts += 1 + nparts / 9) {
            const auto cuts = plain(cut_chain({}, n, nparts));
            check_that_no_piece_is_empty(cuts, n, nparts);
            for (std::size_t i = 1; i < cuts.size(); ++i) {
                const index_t size = cuts[i] - cuts[i - 1];
                REQUIRE(size >= n / nparts);
                REQUIRE(size <= n / nparts + (n % nparts > 0));
            }
            REQUIRE(cut(Weights(n, 1), nparts) == cuts);
            REQUIRE(cut(Weights(n, 7), nparts) == cuts);
        }
    }
}

TEST_CASE("the heaviest piece is within the mean and the heaviest unit's share") {
    Random random(2);
    for (int trial = 0; trial < 300; ++trial) {
        const index_t n = random.integer(1, 200), nparts = random.integer(1, n);
        const auto weights = random_weights(random, n, trial % 2 ? 9 : 100000, 0.3);
        const auto cuts = cut(weights, nparts);
        check_that_no_piece_is_empty(cuts, n, nparts);
        // nparts * heaviest piece <= W + (nparts - 1) * heaviest unit
        REQUIRE(nparts * heaviest_piece(weights, cuts) <=
                sum(weights, 0, n) + (nparts - 1) * std::ranges::max(weights));
    }
}

TEST_CASE("as many parts as units have one each, one part has all") {
    Random random(3);
    for (const index_t n : {1, 2, 50}) {
        const auto weights = random_weights(random, n, 9, 0.5);
        Cuts each(n + 1);
        std::iota(each.begin(), each.end(), 0);
        CHECK(cut(weights, n) == each);
        CHECK(plain(cut_chain({}, n, n)) == each);
        CHECK(cut(weights, 1) == Cuts{0, n});
    }
}

TEST_CASE("weights whose sum is just below 2^62 are cut as light ones are") {
    constexpr weight_t most = (weight_t{1} << 62) - 1;
    CHECK(cut({most}, 1) == Cuts{0, 1});
    CHECK(cut({most, 0}, 2) == Cuts{0, 1, 2});
    CHECK(cut({0, most}, 2) == Cuts{0, 1, 2});
    CHECK(cut({1, most - 1}, 2) == Cuts{0, 1, 2});
    CHECK(cut({most - 1, 1}, 2) == Cuts{0, 1, 2});
    CHECK(cut({1, most - 2, 1}, 2) == Cuts{0, 1, 3});
    CHECK(cut({1, 1, most - 3, 1}, 3) == Cuts{0, 2, 3, 4});

    // The product of a sum and the number of parts needs more than 64 bits.
    Random random(4);
    for (int trial = 0; trial < 100; ++trial) {
        const index_t n = random.integer(1, 8);
        const auto light = random_weights(random, n, 9, 0.2);
        const weight_t total = sum(light, 0, n);
        if (total == 0) continue;
        auto heavy = light;
        for (auto& w : heavy) w *= most / total;
        for (index_t nparts = 1; nparts <= n; ++nparts) REQUIRE(cut(heavy, nparts) == cut(light, nparts));
    }
}

TEST_CASE("cut_chain follows its rule for chains of hundreds of weights") {
    // What fits is found by filling pieces, instead of by trying all ways to cut.
    Random random(5);
    for (int trial = 0; trial < 60; ++trial) {
        const index_t n = random.integer(50, 400), nparts = random.integer(2, 50);
        const auto weights = random_weights(random, n, trial % 2 ? 9 : 1000, trial % 3 ? 0.1 : 0.7);
        const auto cuts = cut(weights, nparts);
        check_that_no_piece_is_empty(cuts, n, nparts);
        const weight_t limit = heaviest_piece(weights, cuts), total = sum(weights, 0, n);
        CHECK(fits(weights, 0, nparts, limit));
        CHECK(!fits(weights, 0, nparts, limit - 1));
        for (index_t i = 1; i < nparts; ++i) {
            index_t best = -1;
            weight_t best_distance = 0;
            for (index_t at = cuts[i - 1] + 1; sum(weights, cuts[i - 1], at) <= limit && n - at >= nparts - i; ++at) {
                if (!fits(weights, at, nparts - i, limit)) continue;
                const weight_t distance = std::abs(sum(weights, 0, at) * nparts - i * total);
                if (best < 0 || distance < best_distance) best = at, best_distance = distance;
            }
            REQUIRE(cuts[i] == best);
        }
    }
}

TEST_CASE("cut_chain refuses no parts and more parts than units") {
    CHECK_THROWS_AS(cut({1, 2}, 0), std::invalid_argument);
    CHECK_THROWS_AS(cut({1, 2}, -1), std::invalid_argument);
    CHECK_THROWS_WITH_AS(cut({1, 2}, 3), doctest::Contains("2 units cannot be cut into 3 pieces"),
                         std::invalid_argument);
    CHECK_THROWS_AS(cut_chain({}, 0, 1), std::invalid_argument);
}
