#include "checks.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <stdexcept>
#include <string>

#include "parallel.hpp"
#include "range_finder.hpp"

namespace meshpart {

void throw_out_of_range(index_t id, index_t count) {
    throw std::out_of_range("id " + std::to_string(id) + " is outside 0.." + std::to_string(count - 1) +
                            ": an array has changed since it was checked");
}

void require_countable(index_t count) {
    if (count > std::numeric_limits<std::int32_t>::max()) {
        throw std::length_error("a part of " + std::to_string(count) + " cells or points is too large: at most " +
                                std::to_string(std::numeric_limits<std::int32_t>::max()) +
                                " fit, so cut into more parts");
    }
}

index_t first_outside(std::span<const index_t> ids, index_t count, int threads) {
    const auto outside = [count](index_t id) {
        return static_cast<std::uint64_t>(id) >= static_cast<std::uint64_t>(count);
    };
    std::atomic<index_t> first{std::ssize(ids)};
    constexpr index_t grain = 1 << 19;  // takes a few times what it takes to start a thread
    parallel_for(std::ssize(ids), threads, grain, [&](index_t begin, index_t end, int) {
        std::uint64_t signs = 0;  // no early exit and no comparison, so that the loop runs at memory speed
        for (index_t i = begin; i < end; ++i) {
            const auto id = static_cast<std::uint64_t>(ids[i]);
            signs |= id | (static_cast<std::uint64_t>(count) - 1 - id);  // below 0, or above count - 1
        }
        if (static_cast<std::int64_t>(signs) >= 0) return;
        const auto found = std::find_if(ids.begin() + begin, ids.begin() + end, outside) - ids.begin();
        index_t known = first.load();
        while (found < known && !first.compare_exchange_weak(known, found)) {
        }
    });
    return first == std::ssize(ids) ? -1 : first.load();
}

void require_in_range(std::span<const index_t> ids, index_t count, int threads) {
    const index_t first = first_outside(ids, count, threads);
    if (first >= 0) throw_out_of_range(ids[first], count);
}

IdCounts count_ids(std::span<const index_t> ids, index_t n_owned, std::span<const index_t> starts) {
    if (starts.empty() || !std::ranges::is_sorted(starts))
        throw std::invalid_argument("ranges must begin one after another");
    if (n_owned < 0 || n_owned > std::ssize(ids)) {
        throw std::invalid_argument("of " + std::to_string(std::ssize(ids)) + " ids " + std::to_string(n_owned) +
                                    " cannot be owned");
    }
    IdCounts result{Vector<index_t>(starts.size() - 1, 0), true};
    RangeFinder range_of(starts);
    for (const index_t id : ids) {
        if (id >= starts.front() && id < starts.back()) ++result.counts[range_of(id)];
    }
    for (index_t i = 1; i < n_owned; ++i) result.ascending &= ids[i - 1] < ids[i];
    return result;
}

}  // namespace meshpart
