#include "csr.hpp"

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

}  // namespace meshpart
