// A mesh, or the part of it around some parts, numbered by owner.
#pragma once

#include <span>
#include <vector>

#include "rows.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// Cells and points, each numbered by (owner, global id), so that what belongs together lies together and an order by
// number is the order of ghosts. Id as of Rows.
template <class Id>
struct Grouped {
    std::vector<part_t> holders;                       // the parts that own something here, ascending
    Vector<index_t> cell_starts, point_starts;         // (n_holders + 1): holder h owns those from starts[h] on
    Vector<index_t> cell_ids, point_ids;               // global ids
    Vector<std::int32_t> cell_holders, point_holders;  // which of the holders owns each
    Rows<Id> rows;                                     // the points of each cell
    Rows<Id> on_points;                                // the cells on each point, ascending, each once

    index_t n_holders() const { return std::ssize(holders); }
    bool is_shared(index_t point) const {  // whether cells of several parts are on it
        const auto cells = on_points[point];
        return !cells.empty() && cell_holders[cells.front()] != cell_holders[cells.back()];
    }
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
