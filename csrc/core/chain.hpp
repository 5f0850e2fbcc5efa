// Cutting a chain of weighted units into consecutive pieces.
#pragma once

#include <span>
#include <vector>

#include "types.hpp"

namespace meshpart {

// Where to cut a chain into `nparts` pieces, none empty, whose heaviest is as light as it can be: (nparts + 1)
// positions from 0 to n; piece i is cuts[i] .. cuts[i + 1] - 1.
//
//   weights  (n), in chain order, not negative, sum below 2^62; empty means n units of weight 1
//
// Among the positions that keep piece i within that weight and non-empty and let the rest fit, cut i is the one whose
// weight before it is nearest i * W / nparts, the earlier on a tie. nparts must be in 1..n. The least weight is found
// by bisection over a greedy probe (A. Pinar, C. Aykanat, "Fast optimal load balancing algorithms for 1D partitioning",
// J. Parallel Distrib. Comput. 64, 2004): O(n + nparts log n log W).
std::vector<index_t> cut_chain(std::span<const weight_t> weights, index_t n, index_t nparts);

}  // namespace meshpart
