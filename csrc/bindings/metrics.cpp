#include "convert.hpp"

namespace meshpart::bindings {

void bind_metrics(py::module_&) {}

}  // namespace meshpart::bindings
