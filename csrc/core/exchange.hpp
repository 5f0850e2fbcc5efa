// Exchanges of two vertices between neighbouring parts, which shift less weight than either vertex has.
#pragma once

#include <vector>

#include "assignment.hpp"
#include "types.hpp"

namespace meshpart {

// A vertex on the way to another part, and what that costs in cut.
struct Candidate {
    weight_t cost;
    index_t vertex;
    weight_t weight;

    friend auto operator<=>(const Candidate&, const Candidate&) = default;
};

// Keeps the few of least cost, in order.
void keep_cheapest(std::vector<Candidate>& candidates);

// The weight of the edge between two vertices, 0 if there is none.
weight_t edge_between(const GraphView& graph, index_t a, index_t b);

// Of one part's candidates for the other part and of the other's for it, the two to exchange; vertices of -1 if none
// shifts between 1 and `most`. Those that shift `enough` come first, by cost; of the others, that of least cost for
// what it shifts. Each list is cut to the few of least cost, which keeps this quick.
struct Exchange {
    index_t out = -1, back = -1;
    weight_t shifted = 0;
};
Exchange best_exchange(const GraphView& graph, std::vector<Candidate>& out, std::vector<Candidate>& back,
                       weight_t enough, weight_t most);

}  // namespace meshpart
