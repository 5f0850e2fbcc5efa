// Order along a Hilbert curve.
#pragma once

#include <span>

#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// The rows of `centroids` in the order in which a Hilbert curve meets them.
//
//   centroids  (n, dim) row by row, dim 1..3, finite
//
// The curve has as many dimensions as the rows spread in: three, two if they lie in a plane, one if on a line (to
// 1e-6 of their extent). A plane is projected along the axis nearest its normal, a line onto the axis nearest
// to it. The scale is the same on all axes. Rows with equal keys are keyed again in their own bounding box; equal rows
// keep their order.
Vector<index_t> hilbert_order(std::span<const double> centroids, int dim, int threads);

}  // namespace meshpart
