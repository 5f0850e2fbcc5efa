// In how many unions of sets each element lies, counted without listing the unions.
#pragma once

#include "csr.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// For each of 0..n_elements-1, how many unions it lies in.
//
//   sets    row s: elements, each once, in 0..n_elements-1, or throws std::out_of_range
//   unions  row u: the sets that it unites, strictly ascending, each a row of `sets`
//
// Unions that begin with the same sets are counted together. Costs the sets and the unions, a sort of these, and for
// each beginning that differs from all others the elements of its last set. So the largest sets should come first: many
// unions of one large set and few small ones cost no more than the small ones. Where no two unions begin alike and all
// of their sets are large, it costs these.
Vector<index_t> union_counts(CsrView sets, CsrView unions, index_t n_elements, int threads);

}  // namespace meshpart
