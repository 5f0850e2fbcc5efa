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
    index_t moved = 0;      // vertices that changed their part, for balance or to fill an empty one; if twice, two
    index_t absorbed = 0;   // fragments given to a neighbour
};

// Labels that keep what is promised, at as little edge cut as can be: every part has a vertex, none weighs more than
// `guaranteed`, and none more than `sought` if bounded effort finds a way. What already holds is left alone.
//
// The labels are repaired vertex by vertex, and also, where parts that are too heavy have several connected pieces,
// such as separate bodies, with whole pieces first. That result is taken where only it keeps within `sought`, or where
// it has no more cut and no heavier part than the other.
//
//   graph             symmetric, no loops, rows ascending; vertex weights >= 0, not all 0, their sum below 2^62; edge
//                     weights >= 0, their sum below 2^62
//   labels            (n_vertices), each in 0..nparts-1, or throws std::out_of_range
//   nparts            1..n_vertices, or throws std::invalid_argument
//   sought            at least the mean weight of a part, rounded up
//   guaranteed        at least `sought` and W/nparts + (1 - 1/nparts) * heaviest vertex, rounded down
//   absorb_fragments  whether the connected pieces of a part other than its largest go to a neighbour, where that keeps
//                     within `sought`
//
// A pass over the graph where little is wrong, at most a bounded number of them.
Repaired repair(GraphView graph, std::span<const part_t> labels, part_t nparts, weight_t sought, weight_t guaranteed,
                bool absorb_fragments);

}  // namespace meshpart
