// Balance by exchanges: a heavy vertex of a part that is too heavy for a lighter one of another part.
#pragma once

#include "assignment.hpp"
#include "types.hpp"

namespace meshpart {

void exchange(Assignment& assignment, weight_t limit);

}  // namespace meshpart
