// The loop over threads.
#include <doctest/doctest.h>

#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/parallel.hpp"

using namespace meshpart;

namespace {

struct Range {
    index_t begin, end;
    int worker;
};

// The ranges that parallel_for hands out, by where they begin.
std::vector<Range> ranges_of(index_t count, int threads, index_t grain) {
    std::vector<Range> ranges;
    std::mutex guard;
    parallel_for(count, threads, grain, [&](index_t begin, index_t end, int worker) {
        const std::lock_guard lock(guard);
        ranges.push_back({begin, end, worker});
    });
    std::ranges::sort(ranges, {}, &Range::begin);
    return ranges;
}

}  // namespace

TEST_CASE("parallel_for tiles 0..count-1 with ranges of at most the grain") {
    for (const int threads : {1, 2, 5}) {
        for (const index_t grain : {1, 3, 64, 1000}) {
            for (const index_t count : {1, 2, 63, 64, 65, 500}) {
                index_t next = 0;
                for (const auto& [begin, end, worker] : ranges_of(count, threads, grain)) {
                    REQUIRE(begin == next);
                    REQUIRE(end > begin);
                    REQUIRE(end - begin <= grain);
                    REQUIRE(worker >= 0);
                    REQUIRE(worker < threads);
                    next = end;
                }
                REQUIRE(next == count);
            }
        }
    }
}

TEST_CASE("parallel_for does nothing without work, and needs no more workers than ranges") {
    for (const int threads : {1, 2, 50}) CHECK(ranges_of(0, threads, 8).empty());
    for (const auto& range : ranges_of(17, 50, 8)) CHECK(range.worker < 3);  // 8 + 8 + 1
}

TEST_CASE("worker 0 is the caller's thread, and a single thread works in order") {
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> others_elsewhere{true};
    parallel_for(1000, 3, 1, [&](index_t, index_t, int worker) {
        if ((worker == 0) != (std::this_thread::get_id() == caller)) others_elsewhere = false;
    });
    CHECK(others_elsewhere);

    std::vector<index_t> begins;
    parallel_for(10, 1, 4, [&](index_t begin, index_t, int) { begins.push_back(begin); });
    CHECK(begins == std::vector<index_t>{0, 4, 8});
}

TEST_CASE("workers do run at the same time") {
    // Each of two ranges, 0..1 and 2, waits until the other has begun.
    std::atomic<int> begun{0};
    std::atomic<bool> met{true};
    parallel_for(3, 2, 2, [&](index_t, index_t, int) {
        ++begun;
        const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (begun < 2 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
        if (begun < 2) met = false;
    });
    CHECK(met);
}

TEST_CASE("no worker is ever in two ranges at once") {
    std::vector<std::atomic<int>> busy(4);
    std::atomic<bool> alone{true};
    parallel_for(5000, 4, 1, [&](index_t, index_t, int worker) {
        if (busy[worker].fetch_add(1) != 0) alone = false;
        busy[worker].fetch_sub(1);
    });
    CHECK(alone);
}

TEST_CASE("an exception comes out when all others have ended") {
    for (const int threads : {1, 2, 5}) {
        for (const index_t thrower : {0, 7, 99}) {
            std::atomic<int> inside{0};
            std::atomic<index_t> calls{0};
            const auto loop = [&] {
                parallel_for(100, threads, 1, [&](index_t begin, index_t, int) {
                    ++inside;
                    ++calls;
                    if (begin == thrower) {
                        --inside;
                        throw std::out_of_range("range " + std::to_string(begin));
                    }
                    --inside;
                });
            };
            CHECK_THROWS_WITH_AS(loop(), ("range " + std::to_string(thrower)).c_str(), std::out_of_range);
            CHECK(inside == 0);
            if (threads == 1) CHECK(calls == thrower + 1);
        }
    }
}

TEST_CASE("an exception stops the work") {
    std::atomic<bool> thrown{false};
    std::atomic<int> calls{0};
    const auto loop = [&] {
        parallel_for(1000, 2, 1, [&](index_t begin, index_t, int) {
            ++calls;
            if (begin == 0) {
                thrown = true;
                throw std::runtime_error("no");
            }
            while (!thrown) std::this_thread::yield();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
    };
    CHECK_THROWS_AS(loop(), std::runtime_error);
    CHECK(calls < 1000);
}

TEST_CASE("of many exceptions one comes out, and the loop can be used again") {
    for (int trial = 0; trial < 50; ++trial) {
        CHECK_THROWS_AS(parallel_for(64, 4, 1, [](index_t, index_t, int) { throw std::runtime_error("no"); }),
                        std::runtime_error);
    }
    std::vector<int> seen(64);
    parallel_for(64, 4, 1, [&](index_t begin, index_t, int) { seen[begin] = 1; });
    CHECK(std::accumulate(seen.begin(), seen.end(), 0) == 64);
}

TEST_CASE("parallel_for can be called inside itself") {
    std::atomic<index_t> sum{0};
    parallel_for(8, 3, 1, [&](index_t outer, index_t, int) {
        parallel_for(10, 2, 2, [&](index_t begin, index_t end, int) {
            for (index_t inner = begin; inner < end; ++inner) sum += outer * 10 + inner;
        });
    });
    CHECK(sum == 79 * 80 / 2);
}
