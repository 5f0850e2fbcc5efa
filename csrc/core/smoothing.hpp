// Smoothing: vertices go where they touch more, around those that were moved.
#pragma once

#include <span>

#include "assignment.hpp"
#include "types.hpp"

namespace meshpart {

// Moves vertices to the part that they touch most if that lowers the cut and leaves no part empty or heavier than
// `limit`, and exchanges two where there is no room for one; beginning with those whose label is not `before` and their
// neighbours, and on from whatever moves.
// The cut falls with every move; the effort is bounded by a multiple of (vertices + edges).
void smooth(Assignment& assignment, std::span<const part_t> before, weight_t limit);

}  // namespace meshpart
