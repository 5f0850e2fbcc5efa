#include "fingerprint.hpp"

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

std::uint64_t mixed_word(const std::uint8_t* bytes, index_t count, index_t place) {
    std::uint64_t value = 0;
    if (count > 0) std::memcpy(&value, bytes, static_cast<std::size_t>(count));
    return mix(value + static_cast<std::uint64_t>(place + 1) * 0x9e3779b97f4a7c15);
}

}  // namespace

std::uint64_t fingerprint(std::span<const std::uint8_t> bytes, int threads) {
    const index_t size = std::ssize(bytes), words = size / word;
    std::atomic<std::uint64_t> sum{mix(static_cast<std::uint64_t>(size))};
    parallel_for(words, threads, 1 << 16, [&](index_t begin, index_t end, int) {
        std::uint64_t own = 0;
        for (index_t i = begin; i < end; ++i) own += mixed_word(bytes.data() + i * word, word, i);
        sum += own;
    });
    sum += mixed_word(bytes.data() + words * word, size % word, words);
    return mix(sum);
}

}  // namespace meshpart
