// Hilbert keys of grid cells in one, two and three dimensions, three levels of the curve per table look-up.
//
// The curve is that of C. H. Hamilton, "Compact Hilbert Indices", Dalhousie University CS-2006-07: a sub-cube is
// entered at corner `e` and left along axis `d`; the table's states are the pairs (e, d).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace meshpart {

// Bits of a grid coordinate on each axis; a key has D times as many. All are multiples of three levels.
template <int D>
inline constexpr int hilbert_bits = D == 3   ? 21
                                    : D == 2 ? 30
                                             : 51;

namespace detail {

inline constexpr int levels = 3;  // of the curve, per look-up

template <int D>
struct HilbertStep {
    unsigned digit;  // the place of the orthant along the curve
    unsigned state;  // how the curve runs inside it
};

// One level: where orthant `orthant` (bit j = upper half of axis j) comes in a cube that the curve crosses in `state`.
template <int D>
constexpr HilbertStep<D> hilbert_step(unsigned state, unsigned orthant) {
    constexpr unsigned size = 1u << D;
    const auto turn_left = [](unsigned x, unsigned by) { return ((x << by) | (x >> (D - by))) & (size - 1); };
    const auto gray = [](unsigned w) { return w ^ (w >> 1); };
    const unsigned e = state / D, d = state % D, turn = (d + 1) % D;

    const unsigned local = turn_left(orthant ^ e, (D - turn) % D);
    unsigned digit = 0;
    while (gray(digit) != local) ++digit;

    const unsigned entry = digit == 0 ? 0 : gray((digit - 1) / 2 * 2);
    const unsigned along = digit == 0 ? 0 : std::countr_one(digit % 2 == 0 ? digit - 1 : digit) % D;
    return {digit, (e ^ turn_left(entry, turn)) * D + (d + along + 1) % D};
}

// Three levels at once: table[state << 3D | the orthants] = the digits << 5 | the next state.
template <int D>
constexpr auto hilbert_table() {
    constexpr unsigned states = (1u << D) * D, paths = 1u << (levels * D), size = 1u << D;
    std::array<std::uint16_t, states * paths> table{};
    for (unsigned start = 0; start < states; ++start) {
        for (unsigned path = 0; path < paths; ++path) {
            unsigned state = start, digits = 0;
            for (int level = levels - 1; level >= 0; --level) {
                const auto step = hilbert_step<D>(state, (path >> (level * D)) & (size - 1));
                digits = digits << D | step.digit;
                state = step.state;
            }
            table[start * paths + path] = static_cast<std::uint16_t>(digits << 5 | state);
        }
    }
    return table;
}

template <int D>
inline constexpr auto hilbert_look_up = hilbert_table<D>();

// The bits of x, D apart.
template <int D>
constexpr std::uint64_t spread(std::uint64_t x) {
    if constexpr (D == 2) {
        x = (x | x << 16) & 0x0000ffff0000ffff;
        x = (x | x << 8) & 0x00ff00ff00ff00ff;
        x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
        x = (x | x << 2) & 0x3333333333333333;
        x = (x | x << 1) & 0x5555555555555555;
    } else {
        x = (x | x << 32) & 0x001f00000000ffff;
        x = (x | x << 16) & 0x001f0000ff0000ff;
        x = (x | x << 8) & 0x100f00f00f00f00f;
        x = (x | x << 4) & 0x10c30c30c30c30c3;
        x = (x | x << 2) & 0x1249249249249249;
    }
    return x;
}

}  // namespace detail

// The place along the curve of the grid cell with these coordinates, each in 0 .. 2^hilbert_bits - 1. Cells with
// consecutive keys share a facet.
template <int D>
constexpr std::uint64_t hilbert_key(const std::array<std::uint64_t, D>& cell) {
    if constexpr (D == 1) {
        return cell[0];
    } else {
        constexpr int step = detail::levels * D;
        std::uint64_t interleaved = 0;
        for (int axis = 0; axis < D; ++axis) interleaved |= detail::spread<D>(cell[axis]) << axis;
        std::uint64_t key = 0;
        unsigned state = 0;
        for (int shift = hilbert_bits<D> * D - step; shift >= 0; shift -= step) {
            const unsigned path = (interleaved >> shift) & ((1u << step) - 1);
            const unsigned found = detail::hilbert_look_up<D>[state << step | path];
            key = key << step | found >> 5;
            state = found & 31;
        }
        return key;
    }
}

}  // namespace meshpart
