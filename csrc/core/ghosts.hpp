// Which cells become ghosts of which parts: those that share a point with a cell of the part and are owned elsewhere.
#pragma once

#include <span>

#include "csr.hpp"
#include "types.hpp"

namespace meshpart {

// Row i: the parts that the cells on point i lie in, ascending, or nothing where that is one part or none.
//
//   owned_cells  row p: the cells of part p; together every cell once
Csr parts_on_shared_points(const MeshView& mesh, CsrView owned_cells);

// Row c: the parts that have cell c as a ghost in their first layer, ascending: those that meet it on a point, but for
// its owner.
//
//   labels            (n_cells): the owner of each cell
//   on_shared_points  as of parts_on_shared_points
//
// Costs the mesh and, for each ghost, the points of its cell.
Csr parts_with_ghost(const MeshView& mesh, std::span<const part_t> labels, CsrView on_shared_points, int threads);

}  // namespace meshpart
