// Handing what is too much in some parts straight to the lightest ones, however far they are.
#pragma once

#include "assignment.hpp"
#include "types.hpp"

namespace meshpart {

// Cuts compact pieces off the parts that weigh more than `limit` and gives them to the lightest parts, which do not
// come to weigh more than it. For where there is no way from part to part: between separate bodies, and as the last
// resort.
//
// Let W be the weight of all, h that of the heaviest vertex, n = nparts. If limit >= floor(W/n + (1 - 1/n) * h), no
// part is heavier than the limit in the end: a part that weighs L > W/n + (1 - 1/n) * h >= h has two vertices with
// weight, the lightest of the others weighs m <= (W - L)/(n - 1) < (W - h)/n, and m + h < W/n + (1 - 1/n) * h.
// O(vertices + edges + nparts * log(nparts)), and nothing where all are light enough.
void hand_over(Assignment& assignment, weight_t limit);

}  // namespace meshpart
