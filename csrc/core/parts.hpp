// The cells of parts with local point numbers.
#pragma once

#include "csr.hpp"
#include "members.hpp"
#include "types.hpp"

namespace meshpart {

// The rows of several parts, one after another: of a block, row block * n_parts + i is parts[i]'s.
struct PartRows {
    Csr block_cells;  // global ids of a block's cells, in local order; empty where there is one block
    Csr block_nodes;  // the local point ids of those cells, one after another
    Vector<std::uint8_t> cell_complete;  // as members.cells.ids.entries: whether all cells around a cell are local
};

// Numbers the points of the cells of parts. A cell is complete if all of its points are.
//
// Costs what the parts hold, and for each thread an array as long as the points of the mesh.
PartRows part_rows(const MeshView& mesh, const Members& members, int threads);

}  // namespace meshpart
