// Results as plain vectors, so that they compare whatever their allocator.
#pragma once

#include <vector>

namespace meshpart::testing {

template <class Range>
auto plain(const Range& values) {
    return std::vector(values.begin(), values.end());
}

}  // namespace meshpart::testing
