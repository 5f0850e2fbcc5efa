// Cells that share a point, points that share a cell, and how much neighbours share.
#pragma once

#include <cstdint>
#include <span>

#include "csr.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// The top and free cells that share a point, of any kind, with each top or free cell: ascending, each once.
//
//   kinds  (n_cells), as of an Attachment
Csr cells_sharing_points(const MeshView& mesh, std::span<const std::uint8_t> kinds, int threads);

// The points that share a cell, of any dimension, with each point: ascending, each once.
Csr points_sharing_cells(const MeshView& mesh, int threads);

// How many points the two cells of each entry share.
//
//   rows  neighbours of each cell
Vector<weight_t> shared_point_counts(const MeshView& mesh, CsrView rows, int threads);

}  // namespace meshpart
