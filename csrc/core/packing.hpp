// Packing: whole pieces of the parts that are too heavy go to parts with room.
#pragma once

#include "assignment.hpp"
#include "types.hpp"

namespace meshpart {

// Moves connected pieces of the parts that weigh more than `limit` to others, which do not come to weigh more than it;
// where no single one fits, exchanges one or two of them for one or two that weigh less. No part is emptied.
// A piece has no edge to the rest of its part, so that the cut never grows.
//
// First each lightest part gets the heaviest pieces that do not take more than is too much. Then, by trial of a few
// partners, what leaves the least above the limit, and of such exchanges that which moves least; where none leaves
// nothing, also exchanges for which a piece of the partner moves on to a third part. O(vertices + edges + pieces *
// log(pieces)), and a bounded effort for the exchanges; nothing where all parts are light enough, or of one piece each.
// Returns whether anything has moved.
bool pack(Assignment& assignment, weight_t limit);

}  // namespace meshpart
