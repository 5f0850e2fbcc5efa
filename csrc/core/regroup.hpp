// A mesh, or the part of it around some parts, numbered by owner.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "rows.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// Cells numbered and points ranked by (owner, global id): what belongs together lies together, wherever the mesh has
// it, and ghosts in this order are in local order. Id as of Rows.
template <class Id>
struct Grouped {
    std::vector<part_t> holders;              // the parts that own something here, ascending
    Vector<index_t> cell_starts, cell_ids;    // holder h owns the cells from cell_starts[h] on; their global ids
    Vector<index_t> point_starts, point_ids;  // the same of points, by rank
    Rows<Id> rows;                            // the ranks of the points of each cell
    Rows<Id> shared_points;                   // row h: the ranks of the points that cells of h share with others

    // The cells on each point, ascending and each once; points numbered in the order in which the cells name them.
    Rows<Id> on_points;
    Vector<std::uint8_t> is_shared;  // whether cells of several holders are on a point
    Vector<Id> points_by_rank;       // the number of each

    // Where a few parts matter: of the cells on each point, those that they own or that have a point which they own.
    Rows<Id> near_on_points;

    index_t n_holders() const { return std::ssize(holders); }
    std::span<const Id> cells_on(Id rank) const { return on_points[points_by_rank[rank]]; }
    std::span<const Id> near_cells_on(Id rank) const { return near_on_points[points_by_rank[rank]]; }
};

// Whether the numbers of all cells and points fit a std::uint32_t.
inline bool has_short_ids(const MeshView& mesh) {
    return std::max(mesh.n_cells(), mesh.n_points) <= std::numeric_limits<std::uint32_t>::max();
}

// Groups a mesh by owner. A point belongs to the part that owns most of the cells on it, the lowest on a tie; to part 0
// if no cell is on it.
//
//   labels  (n_cells), each in 0..nparts-1: the owner of each cell
//   parts   strictly ascending: the parts that matter
//   layers  how many layers of ghosts will be looked for
//
// Where more than a third of the parts matter, this is the whole mesh, which takes no longer. Where fewer do, it is
// what is at most layers + 1 steps from their cells, a step leading from a cell to all that share a point with it: a
// point that a part owns is on one of its cells, and who holds it has a cell on it within `layers` steps of its own.
// Then only the owners of points on cells of those parts, and on cells within `layers` steps, are certain.
//
// Costs some looks at the mesh, one more for each step.
template <class Id>
Grouped<Id> regroup(const MeshView& mesh, std::span<const part_t> labels, part_t nparts, std::span<const part_t> parts,
                    index_t layers, int threads);

}  // namespace meshpart
