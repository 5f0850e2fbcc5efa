#include "csr.hpp"

#include <algorithm>
#include <utility>

#include "checks.hpp"

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

Csr transpose(CsrView rows, index_t count) {
    // A row that names v twice does so before any other row is read: `last` knows.
    Csr result{Vector<index_t>(count + 1, 0), {}};
    Vector<index_t> last(count, -1);
    const auto for_each_new = [&](auto&& visit) {
        for (index_t row = 0; row < rows.n_rows(); ++row) {
            for (const index_t v : rows[row]) {
                require_in_range(v, count);
                if (std::exchange(last[v], row) != row) visit(v, row);
            }
        }
    };
    for_each_new([&](index_t v, index_t) { ++result.offsets[v + 1]; });
    for (index_t v = 0; v < count; ++v) result.offsets[v + 1] += result.offsets[v];
    result.entries.resize(result.offsets[count]);
    std::fill(last.begin(), last.end(), -1);
    Vector<index_t> next(result.offsets.begin(), result.offsets.end() - 1);
    for_each_new([&](index_t v, index_t row) {
        if (next[v] == result.offsets[v + 1]) throw_out_of_range(v, count);  // the rows have changed between the passes
        result.entries[next[v]++] = row;
    });
    return result;
}

}  // namespace meshpart
