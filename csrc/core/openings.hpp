// Where words may stand in a text: at the beginning of its lines, or of its tags.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "types.hpp"

namespace meshpart {

// The positions of each `opener` in `text` after which, spaces and tabs aside, one of the bytes `firsts` comes,
// ascending. Openers that are rare are found at the speed of memory.
std::vector<index_t> openings(std::span<const std::uint8_t> text, std::uint8_t opener,
                              std::span<const std::uint8_t> firsts);

}  // namespace meshpart
