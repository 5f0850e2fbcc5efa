// Where cells are: the mean of their corner points.
#pragma once

#include <span>

#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// The mean of the corner points of every cell: (n_cells, dim), row by row. A corner named twice counts twice.
//
//   points  (mesh.n_points, dim), row by row
//
// Throws std::out_of_range if a cell names a point that is not there.
Vector<double> centroids(const MeshView& mesh, std::span<const double> points, int dim, int threads);

}  // namespace meshpart
