#include "breadth_first.hpp"

#include <algorithm>

namespace meshpart {

void BreadthFirst::sort(std::span<index_t> vertices) {
    const index_t waiting = ++searches_, probed = ++searches_, done = ++searches_;
    for (const index_t v : vertices) mark_[v] = waiting;
    order_.clear();
    for (const index_t v : vertices) {
        if (mark_[v] == done) continue;
        const auto begin = order_.size();
        grow(v, waiting, probed);
        const index_t far_out = order_.back();
        order_.resize(begin);
        grow(far_out, probed, done);
    }
    std::ranges::copy(order_, vertices.begin());
}

// Appends what can be reached through vertices marked `from`, marking them `to`.
void BreadthFirst::grow(index_t start, index_t from, index_t to) {
    mark_[start] = to;
    auto next = order_.size();
    order_.push_back(start);
    for (; next < order_.size(); ++next) {
        for (const index_t u : graph_.rows[order_[next]]) {
            if (mark_[u] != from) continue;
            mark_[u] = to;
            order_.push_back(u);
        }
    }
}

}  // namespace meshpart
