// The stable sort by the highest bits, beside std::stable_sort.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/radix_sort.hpp"
#include "random.hpp"

using namespace meshpart;
using testing::Random;

namespace {

using Items = std::vector<std::uint64_t>;

constexpr int unseen_bits = 64 - radix_sorted_bits;

template <class Item>
Items make(index_t size, Item&& item) {
    Items items;
    for (index_t i = 0; i < size; ++i) items.push_back(item());
    return items;
}

void check_sorted(Items items, int threads) {
    Items expected = items, sorted(items.size());
    std::ranges::stable_sort(expected, {}, [](std::uint64_t item) { return item >> unseen_bits; });
    radix_sort(items, sorted, threads);
    REQUIRE(sorted == expected);
}

constexpr index_t sizes[] = {0, 1, 2, 100, 5000, 140001};  // the last is enough for two threads

}  // namespace

TEST_CASE("radix_sort sorts like a stable sort by the highest bits, whatever the number of threads") {
    Random random(1);
    for (const index_t size : sizes) {
        for (const int threads : {1, 2, 61}) check_sorted(make(size, [&] { return random.bits(); }), threads);
    }
}

TEST_CASE("radix_sort keeps the order of items that agree in the highest bits") {
    Random random(2);
    const auto low = [&] { return random.bits() >> radix_sorted_bits; };
    for (const index_t size : sizes) {
        check_sorted(make(size, low), 3);
        check_sorted(make(size, [&] { return random.bits() % 3 << 62 | low(); }), 3);
        check_sorted(make(size, [&] { return random.bits() % 3 << unseen_bits | low(); }), 3);
    }
}

TEST_CASE("each of the highest bits counts, and none of the others") {
    for (int bit = 0; bit < 64; ++bit) {
        Items items{std::uint64_t{1} << bit, 0}, sorted(2);
        radix_sort(items, sorted, 1);
        CHECK((sorted[0] == 0) == (bit >= unseen_bits));
    }
}

TEST_CASE("radix_sort sorts what ascends and what descends") {
    for (const index_t size : sizes) {
        std::uint64_t next = 0;
        check_sorted(make(size, [&] { return next++ << unseen_bits; }), 4);
        check_sorted(make(size, [&] { return --next << unseen_bits; }), 4);
    }
}
