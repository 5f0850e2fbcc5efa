// The one place that starts threads: short-lived ones, joined before return, so that a process can fork safely.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "types.hpp"

namespace meshpart {

// Calls body(begin, end, worker) for consecutive ranges of at most `grain` that tile 0..count-1; workers are numbered
// from 0 to threads-1 and take the next range when they are free. One worker runs in the caller's thread. The first
// exception that a body throws is thrown again here, after the others have ended. Where the system gives fewer threads,
// fewer do the work.
//
// Which worker gets which range is chance: a body must not let its result depend on it.
template <class Body>
void parallel_for(index_t count, int threads, index_t grain, Body&& body) {
    std::atomic<index_t> next{0};
    std::exception_ptr error;
    std::mutex error_guard;
    const auto work = [&](int worker) {
        try {
            for (index_t begin = next.fetch_add(grain); begin < count; begin = next.fetch_add(grain)) {
                body(begin, std::min(begin + grain, count), worker);
            }
        } catch (...) {
            next.store(count);
            const std::lock_guard lock(error_guard);
            if (!error) error = std::current_exception();
        }
    };
    const auto helpers = static_cast<int>(std::min<index_t>(threads, (count + grain - 1) / grain)) - 1;
    {
        std::vector<std::jthread> pool;
        try {
            for (int worker = 1; worker <= helpers; ++worker) pool.emplace_back(work, worker);
        } catch (const std::system_error&) {
        }
        work(0);
    }
    if (error) std::rethrow_exception(error);
}

}  // namespace meshpart
