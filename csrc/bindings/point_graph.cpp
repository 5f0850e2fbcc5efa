#include "convert.hpp"

namespace meshpart::bindings {

void bind_point_graph(py::module_&) {}

}  // namespace meshpart::bindings
