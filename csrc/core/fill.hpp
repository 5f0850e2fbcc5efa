// Filling empty parts, by cutting others in pieces.
#pragma once

#include "assignment.hpp"

namespace meshpart {

// Gives every empty part vertices of others, none of which is left empty: nparts must be at most the number of
// vertices. The parts that weigh most are cut, into as many pieces as make all most alike, by recursive bisection:
// across a breadth-first order from a vertex far out, so that the pieces are compact.
// O((vertices + edges) * log(pieces)) over the parts that are cut.
void fill_empty_parts(Assignment& assignment);

}  // namespace meshpart
