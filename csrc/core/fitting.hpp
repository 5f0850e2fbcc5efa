// Fitting: moves and exchanges between any two parts, for where few vertices are all that a part has.
#pragma once

#include "assignment.hpp"
#include "types.hpp"

namespace meshpart {

// Lowers the heaviest part, by moving one vertex to a light part or exchanging it for a lighter one of that part, until
// no part weighs more than `limit` or no step helps. Such steps leave fragments behind, so they are taken back unless
// they reach the limit, or come half the way to it from well above. The effort is bounded by a multiple of
// (vertices + edges + parts).
void fit(Assignment& assignment, weight_t limit);

}  // namespace meshpart
