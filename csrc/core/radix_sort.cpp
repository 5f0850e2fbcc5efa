#include "radix_sort.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "parallel.hpp"

namespace meshpart {
namespace {

constexpr int digit_bits = 11, passes = 3;
constexpr index_t radix = 1 << digit_bits;

// One stable counting pass over the digit at `shift`. Each of `chunks` equal ranges counts, then scatters to its own
// places.
void counting_pass(const std::vector<Keyed>& from, std::vector<Keyed>& to, int shift, int threads) {
    const index_t size = std::ssize(from), chunk = (size + threads - 1) / threads;
    std::vector<std::array<index_t, radix>> place(threads);
    const auto digit = [shift](const Keyed& item) { return (item.key >> shift) & (radix - 1); };
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

bool key_less(const Keyed& a, const Keyed& b) {
    return a.key < b.key;
}

// Sorts inside the runs of items that agree above `shift`.
void sort_runs(std::vector<Keyed>& items, int shift) {
    const auto size = items.size();
    for (std::size_t first = 0; first < size;) {
        std::size_t last = first + 1;
        while (last < size && items[last].key >> shift == items[first].key >> shift) ++last;
        if (last - first > 1) {
            std::stable_sort(items.begin() + first, items.begin() + last, key_less);
        }
        first = last;
    }
}

}  // namespace

void sort_by_key(std::vector<Keyed>& items, int bits, int threads) {
    constexpr std::size_t few = 1 << 12;
    const int lowest = std::max(0, bits - passes * digit_bits);
    if (items.size() < few) {
        std::stable_sort(items.begin(), items.end(), key_less);
        return;
    }
    std::vector<Keyed> other(items.size());
    for (int shift = lowest; shift < bits; shift += digit_bits) {
        counting_pass(items, other, shift, threads);
        items.swap(other);
    }
    if (lowest > 0) sort_runs(items, lowest);
}

}  // namespace meshpart
