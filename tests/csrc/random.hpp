// Random numbers that are the same everywhere: the standard's distributions differ between libraries.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace meshpart::testing {

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    // splitmix64
    std::uint64_t bits() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }

    // In low..high, both included.
    index_t integer(index_t low, index_t high) {
        return low + static_cast<index_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
    }

    // In [0, 1), a multiple of 2^-53.
    double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

    bool chance(double probability) { return unit() < probability; }

    template <class T>
    void shuffle(std::vector<T>& values) {
        for (index_t i = std::ssize(values) - 1; i > 0; --i) std::swap(values[i], values[integer(0, i)]);
    }

  private:
    std::uint64_t state_;
};

}  // namespace meshpart::testing
