// Packing: whole pieces of the parts that are too heavy go to parts with room.
#pragma once

#include "assignment.hpp"
#include "types.hpp"

namespace meshpart {

// Moves connected pieces of the parts that weigh more than `limit` to others, which do not come to weigh more than it,
// and exchanges one or two of them for as many or fewer that weigh less where no single one fits. No part is emptied.
// A piece has no edge to the rest of its part, so that the cut never grows.
//
// First the heaviest pieces that do not take more than is too much, each to the lightest part; then, by trial of few
// partners, what leaves the least above the limit, and of such steps that which moves least. O(vertices + edges) and
// a bounded effort for the exchanges; nothing where all parts are light enough, or of one piece each. Returns whether
// anything has moved.
bool pack(Assignment& assignment, weight_t limit);

}  // namespace meshpart
