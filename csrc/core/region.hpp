// The cells around some parts of a mesh.
#pragma once

#include <span>

#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// The cells, ascending, within so many steps of those that `parts` own; a step leads from a cell to all that share a
// point with it.
//
//   labels  (n_cells)
//   parts   ascending
//
// Costs a look at the mesh for each of the first steps, and what is walked over after them.
Vector<index_t> cells_around(const MeshView& mesh, std::span<const part_t> labels, std::span<const part_t> parts,
                             index_t steps, int threads);

}  // namespace meshpart
