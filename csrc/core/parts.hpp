// The parts of a mesh with local numbers, all of them in one pass.
#pragma once

#include <span>
#include <vector>

#include "csr.hpp"
#include "point_owners.hpp"
#include "types.hpp"

namespace meshpart {

// Several parts, one after another. Row i is parts[i]'s; of a block, row block * n_parts + i.
struct Parts {
    Csr points;                                // global ids in local order: owned ascending, then ghosts by (owner, id)
    std::vector<index_t> n_owned_points;       // (n_parts)
    std::vector<part_t> ghost_owners;          // of the ghost points of all parts, one after another
    std::vector<std::uint8_t> point_complete;  // as points.entries
    Vector<std::uint8_t> cell_complete;        // as the local cells
    Csr block_cells;                           // global ids of a block's rows, in local order
    Csr block_nodes;                           // the local point ids of those rows, one after another
};

// Builds parts from their local cells.
//
//   parts        (n_parts): which parts
//   local_cells  row i: the cells of parts[i] in local order
//
// Costs the local cells and points, and one look at every point of the mesh.
Parts build_parts(const MeshView& mesh, std::span<const part_t> parts, CsrView local_cells,
                  const PointOwnersView& owners, int threads);

}  // namespace meshpart
