// From pairs of vertices to the rows of a symmetric graph.
#pragma once

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "csr.hpp"
#include "distribute.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace meshpart {

template <class Id>
struct Pair {
    Id first, second;
};

template <class Id>
using PairLists = std::vector<std::vector<Pair<Id>>>;

// Rows 0..n_rows-1: row v lists, ascending and each once, the vertices that some pair joins v with. The pairs may come
// in any order and direction, and several times; none joins a vertex with itself.
template <class Id>
Csr rows_of_pairs(const PairLists<Id>& lists, index_t n_rows, int threads) {
    index_t n_pairs = 0;
    for (const auto& list : lists) n_pairs += std::ssize(list);
    const int row_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n_rows)));
    const int shift = std::max(0, row_bits - bucket_bits(2 * n_pairs));
    const index_t n_blocks = (n_rows >> shift) + 1;
    const auto entries =
        distribute<Pair<Id>>(std::ssize(lists), 1, n_blocks, threads, [&](index_t begin, index_t end, auto&& put) {
            for (index_t i = begin; i < end; ++i) {
                for (const auto [a, b] : lists[i]) {
                    put(static_cast<index_t>(a >> shift), {a, b});
                    put(static_cast<index_t>(b >> shift), {b, a});
                }
            }
        });

    Csr rows{Vector<index_t>(n_rows + 1, 0), Vector<index_t>(entries.records.size())};
    std::vector<index_t> lengths(n_blocks);  // of what each block keeps
    std::vector<std::vector<index_t>> scratch(threads);
    parallel_for(n_blocks, threads, 1, [&](index_t block, index_t, int worker) {
        const index_t first = block << shift, last = std::min(n_rows, (block + 1) << shift);
        auto& next = scratch[worker];
        next.assign(std::max<index_t>(0, last - first) + 1, 0);
        for (const auto& entry : entries[block]) ++next[entry.first - first + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        const auto out = rows.entries.begin() + entries.offsets[block];
        for (const auto& entry : entries[block]) out[next[entry.first - first]++] = entry.second;
        index_t kept = 0;
        for (index_t row = first, begin = 0; row < last; ++row) {
            const index_t end = next[row - first];
            std::sort(out + begin, out + end);
            const auto unique_end = std::unique(out + begin, out + end);
            const index_t length = unique_end - (out + begin);
            if (kept < begin) std::move(out + begin, unique_end, out + kept);
            kept += length;
            rows.offsets[row + 1] = length;
            begin = end;
        }
        lengths[block] = kept;
    });

    std::partial_sum(rows.offsets.begin(), rows.offsets.end(), rows.offsets.begin());
    index_t kept = 0;
    for (index_t block = 0; block < n_blocks; ++block) {
        const auto from = rows.entries.begin() + entries.offsets[block];
        if (kept < entries.offsets[block]) std::move(from, from + lengths[block], rows.entries.begin() + kept);
        kept += lengths[block];
    }
    rows.entries.resize(kept);
    return rows;
}

}  // namespace meshpart
