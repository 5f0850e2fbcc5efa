// Who owns a point, and the parts of a mesh with local numbers, all of them in one pass.
#pragma once

#include <span>
#include <vector>

#include "csr.hpp"
#include "types.hpp"

namespace meshpart {

struct PointOwners {
    std::vector<part_t> owners;             // (n_points)
    std::vector<std::int32_t> cell_counts;  // (n_points): how many cells use the point
};

// A point belongs to the part that owns most of the cells on it, the lowest on a tie; to part 0 if no cell uses it.
//
//   owned_cells  row p: the cells of part p; together every cell once
PointOwners point_owners(const MeshView& mesh, CsrView owned_cells, int threads);

struct PointOwnersView {
    std::span<const part_t> owners;
    std::span<const std::int32_t> cell_counts;
};

// Several parts, one after another. Row i is parts[i]'s; of a block, row block * n_parts + i.
struct Parts {
    Csr points;                                // global ids in local order: owned ascending, then ghosts by (owner, id)
    std::vector<index_t> n_owned_points;       // (n_parts)
    std::vector<part_t> ghost_owners;          // of the ghost points of all parts, one after another
    std::vector<std::uint8_t> point_complete;  // as points.entries
    std::vector<std::uint8_t> cell_complete;   // as the local cells
    Csr block_cells;                           // global ids of a block's rows, in local order
    std::vector<index_t> block_rows;           // as block_cells.entries: their local ids
    Csr block_nodes;                           // the local point ids of those rows, one after another
};

// Builds parts from their local cells.
//
//   parts        (n_parts): which parts
//   local_cells  row i: the cells of parts[i] in local order
//
// Costs the local cells and points, and O(n_points) memory for each thread.
Parts build_parts(const MeshView& mesh, std::span<const part_t> parts, CsrView local_cells,
                  const PointOwnersView& owners, int threads);

}  // namespace meshpart
