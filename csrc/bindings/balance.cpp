#include "convert.hpp"

namespace meshpart::bindings {

void bind_balance(py::module_&) {}

}  // namespace meshpart::bindings
