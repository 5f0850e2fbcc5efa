#include "csr.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "checks.hpp"
#include "parallel.hpp"

namespace meshpart {
namespace {

template <class Value>
Csr counting_sort(std::span<const Value> values, index_t count) {
    Csr rows{Vector<index_t>(count + 1, 0), Vector<index_t>(values.size())};
    for (const Value value : values) {
        require_in_range(value, count);
        ++rows.offsets[value + 1];
    }
    for (index_t v = 0; v < count; ++v) rows.offsets[v + 1] += rows.offsets[v];
    Vector<index_t> next(rows.offsets.begin(), rows.offsets.end() - 1);
    for (index_t i = 0; i < std::ssize(values); ++i) rows.entries[next[values[i]]++] = i;
    return rows;
}

}  // namespace

Csr invert(std::span<const index_t> values, index_t count) {
    return counting_sort(values, count);
}
Csr invert(std::span<const part_t> values, index_t count) {
    return counting_sort(values, count);
}

namespace {

// Closes the gaps that repeated entries leave in ascending rows; few rows have any.
void drop_repeated(Csr& rows, int threads) {
    const index_t n = std::ssize(rows.offsets) - 1;
    std::atomic<bool> any{false};
    parallel_for(n, threads, 1 << 14, [&](index_t begin, index_t end, int) {
        for (index_t v = begin; v < end; ++v) {
            const auto row = rows.view()[v];
            if (std::ranges::adjacent_find(row) != row.end()) any.store(true, std::memory_order_relaxed);
        }
    });
    if (!any) return;
    index_t kept = 0;
    for (index_t v = 0, begin = 0; v < n; ++v) {
        const auto first = rows.entries.begin() + begin;
        begin = rows.offsets[v + 1];
        kept =
            std::unique_copy(first, rows.entries.begin() + begin, rows.entries.begin() + kept) - rows.entries.begin();
        rows.offsets[v + 1] = kept;
    }
    rows.entries.resize(kept);
}

// Turns round the rows row_at(0), row_at(1), ..., which ascend: each chunk of them counts, then all know their places.
template <class RowAt>
Csr turned_round(CsrView rows, index_t n_rows, RowAt row_at, index_t count, int threads) {
    const index_t most = std::ssize(rows.entries) / (2 * count + 1);  // counters take less memory than entries
    const index_t chunks = std::clamp<index_t>(most, 1, threads);
    const auto begin_of = [&](index_t chunk) { return n_rows * chunk / chunks; };
    const auto for_each = [&](index_t chunk, auto&& visit) {
        for (index_t i = begin_of(chunk); i < begin_of(chunk + 1); ++i) {
            for (const index_t v : rows[row_at(i)]) {
                require_in_range(v, count);
                visit(v, row_at(i));
            }
        }
    };
    std::vector<Vector<index_t>> next(chunks);
    parallel_for(chunks, threads, 1, [&](index_t chunk, index_t, int) {
        auto& own = next[chunk];
        own.assign(count, 0);
        for_each(chunk, [&](index_t v, index_t) { ++own[v]; });
    });
    Csr result{Vector<index_t>(count + 1), {}};
    index_t total = 0;
    for (index_t v = 0; v < count; ++v) {
        result.offsets[v] = total;
        for (auto& own : next) total += std::exchange(own[v], total);
    }
    result.offsets[count] = total;
    result.entries.resize(total);
    parallel_for(chunks, threads, 1, [&](index_t chunk, index_t, int) {
        auto& own = next[chunk];
        for_each(chunk, [&](index_t v, index_t row) {
            if (own[v] >= result.offsets[v + 1]) throw_out_of_range(v, count);  // the rows have changed meanwhile
            result.entries[own[v]++] = row;
        });
    });
    require_in_range(result.entries, rows.n_rows(), threads);  // nothing was left out, for the same reason
    drop_repeated(result, threads);
    return result;
}

}  // namespace

Csr transpose(CsrView rows, index_t count, int threads) {
    return turned_round(rows, rows.n_rows(), std::identity{}, count, threads);
}

Csr transpose(CsrView rows, std::span<const index_t> chosen, index_t count, int threads) {
    return turned_round(rows, std::ssize(chosen), [&](index_t i) { return chosen[i]; }, count, threads);
}

}  // namespace meshpart
