// Records in buckets.
#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>

#include "compare.hpp"
#include "core/distribute.hpp"
#include "random.hpp"

using namespace meshpart;
using namespace meshpart::testing;

TEST_CASE("buckets keep the order of the items, whatever the number of threads and of items a chunk") {
    Random random(1);
    std::vector<index_t> bucket_of(10000);
    for (index_t& bucket : bucket_of) bucket = random.integer(0, 6);
    std::vector<index_t> expected, expected_offsets{0};
    for (index_t bucket = 0; bucket < 8; ++bucket) {  // nothing goes into the last one
        for (index_t i = 0; i < 10000; ++i) {
            if (bucket_of[i] == bucket) expected.push_back(2 * i), expected.push_back(2 * i + 1);
        }
        expected_offsets.push_back(std::ssize(expected));
    }
    for (const int threads : {1, 2, 5}) {
        for (const index_t grain : {1, 100, 100000}) {
            const auto found =
                distribute<index_t>(10000, grain, 8, threads, [&](index_t begin, index_t end, auto&& put) {
                    for (index_t i = begin; i < end; ++i) put(bucket_of[i], 2 * i), put(bucket_of[i], 2 * i + 1);
                });
            CHECK(plain(found.records) == expected);
            CHECK(found.offsets == expected_offsets);
        }
    }
}

TEST_CASE("nothing makes empty buckets") {
    const auto found = distribute<int>(0, 1, 3, 2, [](index_t, index_t, auto&&) {});
    CHECK(found.records.empty());
    CHECK(found.count() == 3);
}

TEST_CASE("records that differ from pass to pass are an error: more, fewer, or in another bucket") {
    for (const index_t change : {1, -1, 0}) {
        std::atomic<int> pass{0};
        const auto produce = [&](index_t, index_t, auto&& put) {
            const bool again = pass++ > 0;
            for (index_t i = 0; i < 10 + (again ? change : 0); ++i) put(again && change == 0 && i == 3 ? 1 : 0, i);
        };
        CHECK_THROWS_AS(distribute<index_t>(5, 100, 2, 1, produce), std::out_of_range);
    }
}
