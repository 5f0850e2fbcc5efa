// A mesh, or the part of it around some parts, numbered by owner.
#pragma once

#include <span>
#include <vector>

#include "rows.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// Cells numbered by (owner, global id), points in the order in which those cells name them: what belongs together lies
// together, wherever the mesh has it. Id as of Rows.
template <class Id>
struct Grouped {
    std::vector<part_t> holders;         // the parts that own something here, ascending
    Vector<index_t> cell_starts;         // (n_holders + 1): holder h owns the cells from cell_starts[h] on
    Vector<index_t> cell_ids;            // global ids
    Vector<std::int32_t> cell_holders;   // which of the holders owns each
    Rows<Id> rows;                       // the points of each cell
    Rows<Id> on_points;                  // the cells on each point, ascending, each once
    Vector<std::int32_t> point_holders;  // which of the holders owns each point
    Vector<std::uint8_t> is_shared;      // whether cells of several holders are on a point
    Rows<Id> shared_points;              // row h: the points that cells of holder h share with others
    Vector<index_t> point_starts;        // as cell_starts, of the ranks of points by (owner, global id)
    Vector<index_t> point_ids;           // the global id of the point of each rank
    Vector<Id> point_ranks, points_by_rank;

    index_t n_holders() const { return std::ssize(holders); }
};

// Groups a mesh by owner. A point belongs to the part that owns most of the cells on it, the lowest on a tie; to part 0
// if no cell is on it.
//
//   labels  (n_cells), each in 0..nparts-1: the owner of each cell
//   parts   strictly ascending: the parts that matter
//   layers  how many layers of ghosts will be looked for
//
// Where all parts matter, this is the whole mesh. Where a few do, it is what is at most layers + 1 steps from their
// cells, a step leading from a cell to all that share a point with it: a point that a part owns is on one of its cells,
// and who holds it has a cell on it within `layers` steps of its own. Then only the owners of points on cells of those
// parts, and on cells within `layers` steps, are certain.
//
// Costs some looks at the mesh, one more for each step.
template <class Id>
Grouped<Id> regroup(const MeshView& mesh, std::span<const part_t> labels, part_t nparts, std::span<const part_t> parts,
                    index_t layers, int threads);

}  // namespace meshpart
