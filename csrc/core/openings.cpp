#include "openings.hpp"

#include <array>
#include <cstring>

namespace meshpart {

std::vector<index_t> openings(std::span<const std::uint8_t> text, std::uint8_t opener,
                              std::span<const std::uint8_t> firsts) {
    std::array<bool, 256> wanted{};
    for (const std::uint8_t first : firsts) wanted[first] = true;

    std::vector<index_t> found;
    const std::uint8_t* const end = text.data() + text.size();
    const auto next = [&](const std::uint8_t* from) {
        const auto left = static_cast<std::size_t>(end - from);
        return left == 0 ? nullptr : static_cast<const std::uint8_t*>(std::memchr(from, opener, left));
    };
    for (const std::uint8_t* at = next(text.data()); at != nullptr; at = next(at + 1)) {
        const std::uint8_t* first = at + 1;
        while (first != end && (*first == ' ' || *first == '\t')) ++first;
        if (first != end && wanted[*first]) found.push_back(at - text.data());
    }
    return found;
}

}  // namespace meshpart
