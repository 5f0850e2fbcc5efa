// Balance by diffusion: what is too much flows from part to part to where there is room.
#pragma once

#include "assignment.hpp"
#include "types.hpp"

namespace meshpart {

// Moves vertices out of the parts that weigh more than `limit`, over the parts between, to the nearest parts with room,
// until none is too heavy or no more can be reached. No part is emptied, and the weight above the limit, summed over
// the parts, never grows.
//
// In each round a breadth-first search over the parts, from all that are too heavy, shares out the room; then each part
// passes on what is due, outward from where it began, always the vertex of least cost in cut for its weight.
// The effort is bounded by a multiple of (vertices + edges + parts).
void diffuse(Assignment& assignment, weight_t limit);

}  // namespace meshpart
