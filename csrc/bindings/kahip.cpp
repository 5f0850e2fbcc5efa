// KaHIP in a process of its own.
#include "core/kahip.hpp"

#include <functional>
#include <string>

#include "convert.hpp"

namespace meshpart::bindings {
namespace {

// Lets Python act on signals: Ctrl-C throws KeyboardInterrupt through the core.
void check_signals() {
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace

void bind_kahip(py::module_& m) {
    m.def(
        "kahip",
        [](const py::tuple& graph, part_t nparts, double imbalance, int seed, int mode, const std::string& helper) {
            const GraphArgument flat(graph);
            const KahipOptions options{nparts, imbalance, seed, mode, helper};
            return array(released([&] { return kahip(flat.view(), options, check_signals); }));
        },
        py::arg("graph"), py::arg("nparts"), py::arg("imbalance"), py::arg("seed"), py::arg("mode"), py::arg("helper"));
    m.def("require_kahip_can_number", &require_kahip_can_number, py::arg("n_vertices"), py::arg("n_entries"));
}

}  // namespace meshpart::bindings
