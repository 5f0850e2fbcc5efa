// The rows of a graph in another numbering of its vertices.
#pragma once

#include <span>

#include "csr.hpp"
#include "types.hpp"

namespace meshpart {

// The same graph whose vertex v is called numbers[v]; each row ascending.
//
//   rows     over the vertices 0..n-1; entries outside throw std::out_of_range
//   numbers  (n), a permutation of 0..n-1; numbers outside throw std::out_of_range
Csr renumbered(CsrView rows, std::span<const index_t> numbers, int threads);

}  // namespace meshpart
