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
Csr invert(std::span<const index_t> values, index_t count, int threads = 1);
Csr invert(std::span<const part_t> values, index_t count, int threads = 1);

// Row v lists, ascending and each once, the rows that name v.
//
//   rows  entries in 0..count-1, or throws std::out_of_range
Csr transpose(CsrView rows, index_t count, int threads);

}  // namespace meshpart
