// Rows of different lengths that own their memory, and the turning round of such rows.
#pragma once

#include <span>

#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

struct Csr {
    Vector<index_t> offsets{0};
    Vector<index_t> entries;

    CsrView view() const { return {offsets, entries}; }
    void close_row() { offsets.push_back(std::ssize(entries)); }
};

// Row v lists, ascending, the positions i at which values[i] == v.
//
//   values  (n), each in 0..count-1, or throws std::out_of_range
Csr invert(std::span<const index_t> values, index_t count);
Csr invert(std::span<const part_t> values, index_t count);

// Row v lists, ascending and each once, the rows that name v.
//
//   rows    entries in 0..count-1, or throws std::out_of_range
//   chosen  the rows that count, ascending; all of them otherwise
Csr transpose(CsrView rows, index_t count, int threads);
Csr transpose(CsrView rows, std::span<const index_t> chosen, index_t count, int threads);

}  // namespace meshpart
