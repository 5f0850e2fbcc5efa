// The parts of a decomposition: their members, their plans, and their cells with local point numbers.
#pragma once

#include <span>

#include "csr.hpp"
#include "members.hpp"
#include "types.hpp"

namespace meshpart {

// Several parts, one after another. Of a block, row block * n_parts + i is parts[i]'s.
struct Parts {
    Entities cells, points;
    Vector<std::uint8_t> cell_complete, point_complete;  // as their ids: whether all cells around are local
    Csr block_cells;  // global ids of a block's cells, in local order; no entries where there is one block
    Csr block_nodes;  // the local point ids of those cells, one after another
};

// Builds parts with their ghosts.
//
//   labels  (n_cells), each in 0..nparts-1: the owner of each cell
//   parts   (n_parts), strictly ascending: which parts
//   layers  how many layers of ghosts
//
// All parts together cost the mesh and what they hold, a few of them some looks at the mesh and what they and the parts
// around them hold. The result is the same for any number of threads.
Parts build_parts(const MeshView& mesh, std::span<const part_t> labels, part_t nparts, std::span<const part_t> parts,
                  std::int32_t layers, int threads);

// The same, where the numbers of all cells and points fit an Id: std::uint32_t or index_t.
template <class Id>
Parts build_parts_in(const MeshView& mesh, std::span<const part_t> labels, part_t nparts, std::span<const part_t> parts,
                     std::int32_t layers, int threads);

}  // namespace meshpart
