// Fragments: the pieces of a part that lie apart from its largest one.
#pragma once

#include "assignment.hpp"
#include "types.hpp"

namespace meshpart {

struct Absorbed {
    index_t count = 0;   // fragments that changed their part
    weight_t apart = 0;  // the weight of all fragments, before
};

// Gives the fragments of every part to the neighbour that they touch most, as far as no part comes to weigh more than
// `limit`. Of the connected pieces of a part the heaviest is no fragment; of equally heavy ones that with the most
// vertices, then that with the lowest.
//
// The last in this order go first, and fragments count as neighbours only once they have found their place; of the
// parts that one touches alike the lowest takes it. One that touches none with room stays.
// O(vertices + edges), as long as few fragments have to wait for others; bounded by a multiple of it.
Absorbed absorb_fragments(Assignment& assignment, weight_t limit);

}  // namespace meshpart
