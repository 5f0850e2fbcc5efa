// Rows of ids of either width, and the turning round of such rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>
#include <vector>

#include "checks.hpp"
#include "parallel.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// Row i is entries[offsets[i]] .. entries[offsets[i + 1] - 1]. Id is index_t, or std::uint32_t where all ids fit it,
// which halves what a kernel reads.
template <class Id>
struct Rows {
    Vector<index_t> offsets;  // (n_rows + 1)
    Vector<Id> entries;

    index_t n_rows() const { return std::ssize(offsets) - 1; }
    std::span<const Id> operator[](index_t row) const {
        return std::span<const Id>(entries).subspan(offsets[row], offsets[row + 1] - offsets[row]);
    }
};

// Closes the gaps that repeated entries leave in ascending rows; few rows have any.
template <class Id>
void drop_repeated(Rows<Id>& rows, int threads) {
    std::atomic<bool> any{false};
    parallel_for(rows.n_rows(), threads, 1 << 14, [&](index_t begin, index_t end, int) {
        for (index_t v = begin; v < end; ++v) {
            const auto row = rows[v];
            if (std::ranges::adjacent_find(row) != row.end()) any.store(true, std::memory_order_relaxed);
        }
    });
    if (!any) return;
    index_t kept = 0, begin = 0;
    for (index_t v = 0; v < rows.n_rows(); ++v) {
        const index_t end = rows.offsets[v + 1];
        const auto to = rows.entries.begin() + kept;
        kept += std::unique_copy(rows.entries.begin() + begin, rows.entries.begin() + end, to) - to;
        rows.offsets[v + 1] = kept;
        begin = end;
    }
    rows.entries.resize(kept);
}

// Row v of the result lists, ascending and each once, the rows that name v.
//
//   row_at  row_at(i) is row i, of entries in 0..count-1, or std::out_of_range is thrown. Each is read twice: where the
//           rows may change meanwhile, so may entries of the result be anything
template <class Id, class RowAt>
Rows<Id> turned_round(index_t n_rows, index_t n_entries, index_t count, int threads, RowAt&& row_at) {
    // Every chunk of rows counts what it has for each v; then all know their places. Counters take less memory than
    // entries.
    const index_t chunks = std::clamp<index_t>(n_entries / (2 * count + 1), 1, threads);
    const auto for_each = [&](index_t chunk, auto&& visit) {
        for (index_t i = n_rows * chunk / chunks; i < n_rows * (chunk + 1) / chunks; ++i) {
            for (const auto v : row_at(i)) {
                require_in_range(static_cast<index_t>(v), count);
                visit(v, i);
            }
        }
    };
    std::vector<Vector<index_t>> next(chunks);
    parallel_for(chunks, threads, 1, [&](index_t chunk, index_t, int) {
        auto& own = next[chunk];
        own.assign(count, 0);
        for_each(chunk, [&](auto v, index_t) { ++own[v]; });
    });
    Rows<Id> result{Vector<index_t>(count + 1), {}};
    index_t total = 0;
    for (index_t v = 0; v < count; ++v) {
        result.offsets[v] = total;
        for (auto& own : next) total += std::exchange(own[v], total);
    }
    result.offsets[count] = total;
    result.entries.resize(total);
    parallel_for(chunks, threads, 1, [&](index_t chunk, index_t, int) {
        auto& own = next[chunk];
        for_each(chunk, [&](auto v, index_t row) {
            if (own[v] >= result.offsets[v + 1]) throw_out_of_range(static_cast<index_t>(v), count);
            result.entries[own[v]++] = static_cast<Id>(row);
        });
    });
    drop_repeated(result, threads);
    return result;
}

}  // namespace meshpart
