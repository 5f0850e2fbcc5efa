#include "fingerprint.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "parallel.hpp"

namespace meshpart {
namespace {

constexpr index_t word = sizeof(std::uint64_t);

std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

}  // namespace

std::uint64_t fingerprint(std::span<const std::uint8_t> bytes, int threads) {
    const index_t size = std::ssize(bytes), words = (size + word - 1) / word;
    std::atomic<std::uint64_t> sum{mix(static_cast<std::uint64_t>(size))};
    parallel_for(words, threads, 1 << 16, [&](index_t begin, index_t end, int) {
        std::uint64_t own = 0;
        for (index_t i = begin; i < end; ++i) {
            std::uint64_t value = 0;
            std::memcpy(&value, bytes.data() + i * word, static_cast<std::size_t>(std::min(word, size - i * word)));
            own += mix(value + static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15);
        }
        sum += own;
    });
    return mix(sum);
}

}  // namespace meshpart
