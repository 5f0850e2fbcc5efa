#include "csr.hpp"

#include <utility>

#include "checks.hpp"
#include "rows.hpp"

namespace meshpart {
namespace {

Csr checked(Rows<index_t>&& rows, index_t count, int threads) {
    require_in_range(rows.entries, count, threads);  // none was left out, because what was turned round has changed
    return {std::move(rows.offsets), std::move(rows.entries)};
}

template <class Value>
Csr positions(std::span<const Value> values, index_t count, int threads) {
    const index_t n = std::ssize(values);
    return checked(turned_round<index_t>(n, n, count, threads, [&](index_t i) { return values.subspan(i, 1); }), n,
                   threads);
}

}  // namespace

Csr invert(std::span<const index_t> values, index_t count, int threads) {
    return positions(values, count, threads);
}
Csr invert(std::span<const part_t> values, index_t count, int threads) {
    return positions(values, count, threads);
}

Csr transpose(CsrView rows, index_t count, int threads) {
    const index_t n = rows.n_rows(), n_entries = std::ssize(rows.entries);
    return checked(turned_round<index_t>(n, n_entries, count, threads, [&](index_t row) { return rows[row]; }), n,
                   threads);
}

}  // namespace meshpart
