// The repair of labels.
#include "core/balance.hpp"

#include "convert.hpp"

namespace meshpart::bindings {

void bind_balance(py::module_& m) {
    m.def(
        "repair",
        [](const py::tuple& flat, const Array<part_t>& labels, part_t nparts, weight_t sought, weight_t guaranteed,
           bool absorb_fragments) {
            const GraphArgument graph(flat);
            auto repaired = released(
                [&] { return repair(graph.view(), span(labels), nparts, sought, guaranteed, absorb_fragments); });
            return py::make_tuple(array(std::move(repaired.labels)), repaired.filled, repaired.moved,
                                  repaired.absorbed);
        },
        py::arg("graph"), py::arg("labels").noconvert(), py::arg("nparts"), py::arg("sought"), py::arg("guaranteed"),
        py::arg("absorb_fragments"));
}

}  // namespace meshpart::bindings
