#include "convert.hpp"

namespace meshpart::bindings {

void bind_graph(py::module_&) {}

}  // namespace meshpart::bindings
