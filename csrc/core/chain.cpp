#include "chain.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "vector.hpp"

namespace meshpart {
namespace {

__extension__ using wide_t = __int128;

// The weight before each position of the chain, with the searches that the cuts are made of.
class Chain {
  public:
    Chain(std::span<const weight_t> weights, index_t n, index_t nparts) : before_(n + 1, 0), nparts_(nparts) {
        for (index_t i = 0; i < n; ++i) before_[i + 1] = before_[i] + (weights.empty() ? 1 : weights[i]);
    }

    std::vector<index_t> cuts() const {
        const weight_t limit = least_limit();
        const std::vector<index_t> earliest = earliest_cuts(limit);
        std::vector<index_t> cuts(nparts_ + 1, 0);
        cuts[nparts_] = size();
        for (index_t i = 1; i < nparts_; ++i) {
            const index_t low = std::max(earliest[i], cuts[i - 1] + 1);
            const index_t high = latest_cut(cuts[i - 1], i, limit);
            cuts[i] = nearest(i, low, high);
        }
        return cuts;
    }

  private:
    Vector<weight_t> before_;
    index_t nparts_;

    index_t size() const { return std::ssize(before_) - 1; }
    weight_t total() const { return before_.back(); }

    // The last position at which piece i - 1, begun at `start`, may end within `limit`, one unit left for each piece
    // after.
    index_t latest_cut(index_t start, index_t i, weight_t limit) const {
        const index_t last = size() - (nparts_ - i);
        // Doubling steps first, so that many short pieces cost the logarithm of their length.
        index_t step = 1;
        while (start + step < last && before_[start + step] - before_[start] <= limit) step *= 2;
        const auto from = before_.begin() + start + step / 2;
        const auto to = before_.begin() + std::min(start + step, last) + 1;
        return std::upper_bound(from, to, before_[start] + limit) - before_.begin() - 1;
    }

    // Whether the chain fits into nparts pieces of at most `limit`, which no unit exceeds.
    bool fits(weight_t limit) const {
        index_t start = 0;
        for (index_t i = 1; i <= nparts_; ++i) start = latest_cut(start, i, limit);
        return start == size();
    }

    // The least weight that the heaviest piece can have.
    weight_t least_limit() const {
        weight_t heaviest = 0;
        for (index_t i = 0; i < size(); ++i) heaviest = std::max(heaviest, before_[i + 1] - before_[i]);
        const weight_t mean = total() / nparts_ + (total() % nparts_ != 0);
        weight_t low = std::max(heaviest, mean), high = std::min(mean + heaviest, total());
        while (low < high) {
            const weight_t middle = low + (high - low) / 2;
            if (fits(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    // For each cut the earliest position from which the rest of the chain fits.
    std::vector<index_t> earliest_cuts(weight_t limit) const {
        std::vector<index_t> earliest(nparts_ + 1, size());
        for (index_t i = nparts_ - 1; i >= 0; --i) {
            const auto end = before_.begin() + earliest[i + 1];
            const index_t first = std::lower_bound(before_.begin(), end, *end - limit) - before_.begin();
            earliest[i] = std::clamp(first, i, earliest[i + 1] - 1);
        }
        return earliest;
    }

    // The position in low..high whose weight before it is nearest i * W / nparts, the earlier on a tie.
    index_t nearest(index_t i, index_t low, index_t high) const {
        const wide_t ideal = static_cast<wide_t>(i) * total();
        const auto at = [&](index_t position) { return static_cast<wide_t>(before_[position]) * nparts_; };
        index_t from = low, to = high;  // the first position in low..high that is not before the ideal, or high
        while (from < to) {
            const index_t middle = from + (to - from) / 2;
            if (at(middle) < ideal) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        index_t best = from;
        if (from > low && ideal - at(from - 1) <= std::max(at(from) - ideal, ideal - at(from))) best = from - 1;
        // Units of weight 0 make positions of equal weight: the first of them.
        return std::lower_bound(before_.begin() + low, before_.begin() + best, before_[best]) - before_.begin();
    }
};

}  // namespace

std::vector<index_t> cut_chain(std::span<const weight_t> weights, index_t n, index_t nparts) {
    if (nparts < 1 || nparts > n) {
        throw std::invalid_argument("a chain of " + std::to_string(n) + " units cannot be cut into " +
                                    std::to_string(nparts) + " pieces");
    }
    return Chain(weights, n, nparts).cuts();
}

}  // namespace meshpart
