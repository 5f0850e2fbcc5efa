#include "radix_sort.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "parallel.hpp"

namespace meshpart {
namespace {

constexpr int passes = 3, digit_bits = radix_sorted_bits / passes;
constexpr index_t radix = 1 << digit_bits;

// One stable counting pass over the digit at `shift`: each thread counts a range, then scatters it to its own places.
void counting_pass(std::span<const std::uint64_t> from, std::span<std::uint64_t> to, int shift, int threads) {
    const index_t size = std::ssize(from), chunk = (size + threads - 1) / threads;
    std::vector<std::array<index_t, radix>> place(threads);
    const auto digit = [shift](std::uint64_t item) { return (item >> shift) & (radix - 1); };
    parallel_for(threads, threads, 1, [&](index_t t, index_t, int) {
        place[t].fill(0);
        for (index_t i = t * chunk; i < std::min(size, (t + 1) * chunk); ++i) ++place[t][digit(from[i])];
    });
    index_t next = 0;
    for (index_t d = 0; d < radix; ++d) {
        for (auto& counts : place) next += std::exchange(counts[d], next);
    }
    parallel_for(threads, threads, 1, [&](index_t t, index_t, int) {
        for (index_t i = t * chunk; i < std::min(size, (t + 1) * chunk); ++i) to[place[t][digit(from[i])]++] = from[i];
    });
}

}  // namespace

void radix_sort(std::span<std::uint64_t> items, std::span<std::uint64_t> sorted, int threads) {
    static_assert(passes % 2 == 1, "an odd number of passes ends in the other array");
    constexpr index_t worth_a_thread = 1 << 16;
    threads = static_cast<int>(std::clamp<index_t>(std::ssize(items) / worth_a_thread, 1, threads));
    for (int pass = 0; pass < passes; ++pass) {
        counting_pass(items, sorted, 64 - radix_sorted_bits + pass * digit_bits, threads);
        if (pass + 1 < passes) std::swap(items, sorted);
    }
}

}  // namespace meshpart
