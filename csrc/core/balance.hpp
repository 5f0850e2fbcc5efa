// The repair of labels: no part empty, none too heavy, no fragment lying in another part.
#pragma once

#include <span>

#include "graph.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

struct Repaired {
    Vector<part_t> labels;  // (n_vertices)
    index_t filled = 0;     // parts that were empty
    index_t moved = 0;      // vertices that changed their part, for balance or to fill an empty one
    index_t absorbed = 0;   // fragments given to a neighbour
};

Repaired repair(GraphView graph, std::span<const part_t> labels, part_t nparts, weight_t sought, weight_t guaranteed,
                bool absorb_fragments);

}  // namespace meshpart
