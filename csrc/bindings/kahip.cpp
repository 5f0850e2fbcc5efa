#include "convert.hpp"

namespace meshpart::bindings {

void bind_kahip(py::module_&) {}

}  // namespace meshpart::bindings
