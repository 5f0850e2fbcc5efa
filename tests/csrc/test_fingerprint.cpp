// A fingerprint tells arrays apart, and does not depend on threads.
#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "core/fingerprint.hpp"

using meshpart::fingerprint;
using Bytes = std::vector<std::uint8_t>;

TEST_CASE("changing, moving, adding or taking away any byte changes the fingerprint") {
    std::set<std::uint64_t> seen;
    Bytes bytes(37);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i + 1);
    seen.insert(fingerprint(bytes, 1));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        Bytes changed = bytes, shorter = bytes, swapped = bytes;
        changed[i] ^= 1;
        shorter.resize(i);
        std::swap(swapped[i], swapped[(i + 11) % bytes.size()]);
        seen.insert({fingerprint(changed, 1), fingerprint(shorter, 1), fingerprint(swapped, 1)});
    }
    CHECK(seen.size() == 1 + 3 * bytes.size());
}

TEST_CASE("zeros of different number differ") {
    CHECK(fingerprint(Bytes(8), 1) != fingerprint(Bytes(16), 1));
}

TEST_CASE("threads do not change the fingerprint") {
    Bytes bytes(3'000'001);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * i >> 3);
    CHECK(fingerprint(bytes, 1) == fingerprint(bytes, 5));
}
