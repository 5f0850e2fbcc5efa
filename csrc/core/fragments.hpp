// Fragments: the pieces of a part that lie apart from its largest one.
#pragma once

#include "assignment.hpp"
#include "types.hpp"

namespace meshpart {

// Gives the fragments of every part to the neighbour that they touch most, as far as no part comes to weigh more than
// `limit`, and returns how many changed their part. Of the connected pieces of a part the heaviest is no fragment; of
// equally heavy ones that with the most vertices, then that with the lowest.
//
// Fragments go in order of weight, the lightest first, and count as neighbours only once they have found their place;
// of the parts that one touches alike the lowest takes it. One that touches none with room stays.
//
// Labels of which a quarter of the weight or more lies in fragments are noise, whose balance is not worth keeping: if it
// is to be mended later anyway, `balance_follows`, they have no limit.
// O(vertices + edges), as long as few fragments have to wait for others; bounded by a multiple of it.
index_t absorb_fragments(Assignment& assignment, weight_t limit, bool balance_follows);

}  // namespace meshpart
