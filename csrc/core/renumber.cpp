#include "renumber.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "checks.hpp"
#include "parallel.hpp"

namespace meshpart {

Csr renumbered(CsrView rows, std::span<const index_t> numbers, int threads) {
    const index_t n = rows.n_rows();
    if (std::ssize(numbers) != n) {
        throw std::invalid_argument(std::to_string(numbers.size()) + " numbers for " + std::to_string(n) + " rows");
    }
    Csr result{Vector<index_t>(n + 1, 0), {}};
    Vector<index_t> before(n, 0);  // of each new number, the old one
    for (index_t v = 0; v < n; ++v) {
        require_in_range(numbers[v], n);
        before[numbers[v]] = v;
    }
    for (index_t v = 0; v < n; ++v) result.offsets[v + 1] = result.offsets[v] + std::ssize(rows[before[v]]);
    result.entries.resize(result.offsets[n]);
    parallel_for(n, threads, 4096, [&](index_t begin, index_t end, int) {
        for (index_t v = begin; v < end; ++v) {
            const auto first = result.entries.begin() + result.offsets[v];
            auto next = first;
            for (const index_t target : rows[before[v]]) {
                require_in_range(target, n);
                *next++ = numbers[target];
            }
            std::sort(first, next);
        }
    });
    return result;
}

}  // namespace meshpart
