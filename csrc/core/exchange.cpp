#include "exchange.hpp"

namespace meshpart {

void exchange(Assignment&, weight_t) {}

}  // namespace meshpart
