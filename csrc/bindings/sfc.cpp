// Integer weights, the order along a Hilbert curve, and the cuts of a chain.
#include "core/sfc.hpp"

#include "convert.hpp"
#include "core/chain.hpp"
#include "core/weights.hpp"

namespace meshpart::bindings {

void bind_sfc(py::module_& m) {
    m.def(
        "integer_weights",
        [](const Array<double>& weights) {
            auto result = released([&] { return integer_weights(span(weights)); });
            return py::make_tuple(array(std::move(result.weights)), result.unit);
        },
        py::arg("weights").noconvert());
    m.def(
        "hilbert_order",
        [](const Array<double>& centroids, int threads) {
            const auto dim = static_cast<int>(centroids.shape(1));
            return array(released([&] { return hilbert_order(span(centroids), dim, threads); }));
        },
        py::arg("centroids").noconvert(), py::arg("threads"));
    m.def(
        "cut_chain",
        [](const Array<weight_t>& weights, index_t n, index_t nparts) {
            return array(released([&] { return cut_chain(span(weights), n, nparts); }));
        },
        py::arg("weights").noconvert(), py::arg("n"), py::arg("nparts"));
}

}  // namespace meshpart::bindings
