// Where words may stand in a text.
#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/openings.hpp"

using namespace meshpart;

namespace {

std::span<const std::uint8_t> bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

TEST_CASE("lines are found by their first byte, blanks aside") {
    const std::string_view text = "$a\n$b\n  \t$c\nd $\n\n$\n ";
    CHECK(openings(bytes(text), '\n', bytes("$")) == std::vector<index_t>{2, 5, 16});
    CHECK(openings(bytes(text), '\n', bytes("d$")) == std::vector<index_t>{2, 5, 11, 16});
}

TEST_CASE("tags are found by their first byte") {
    CHECK(openings(bytes("<a><Piece></Piece><P"), '<', bytes("P")) == std::vector<index_t>{3, 18});
}

TEST_CASE("a text with nothing in it has no openings") {
    CHECK(openings({}, '\n', bytes("$")).empty());
    CHECK(openings(bytes("\n\n \n"), '\n', bytes("$")).empty());
    CHECK(openings(bytes("\n$"), '\n', {}).empty());
}
