// Which of consecutive ranges a number lies in.
#pragma once

#include <algorithm>
#include <span>

#include "types.hpp"

namespace meshpart {

// Asked for numbers of one range one after another, it looks at that range only.
class RangeFinder {
  public:
    //   starts  (n_ranges + 1): range r holds the numbers from starts[r] to starts[r + 1] - 1
    explicit RangeFinder(std::span<const index_t> starts) : starts_(starts) {}

    index_t operator()(index_t number) {
        if (number < starts_[range_] || number >= starts_[range_ + 1]) {
            range_ = std::ranges::upper_bound(starts_, number) - starts_.begin() - 1;
        }
        return range_;
    }
    index_t end(index_t range) const { return starts_[range + 1]; }

  private:
    std::span<const index_t> starts_;
    index_t range_ = 0;
};

}  // namespace meshpart
