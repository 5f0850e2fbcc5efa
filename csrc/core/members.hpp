// Who is in each part of a decomposition, in local order, and who sends what to whom.
#pragma once

#include <span>

#include "csr.hpp"
#include "halo_plans.hpp"
#include "types.hpp"

namespace meshpart {

// The cells or the points of several parts, one part after another.
struct Entities {
    Csr ids;                            // row i: those of parts[i], owned ascending, then ghosts by (owner, id)
    Vector<index_t> n_owned;            // (n_parts)
    Vector<part_t> ghost_owners;        // of the ghosts of all parts
    Vector<std::int32_t> ghost_layers;  // as ghost_owners
    HaloPlans plans;
};

struct Members {
    Entities cells, points;
    Vector<std::uint8_t> point_complete;  // as points.ids.entries: whether all cells on a point are local
};

// Finds the members of parts and builds their plans, for all of them in one pass.
//
//   labels  (n_cells), each in 0..nparts-1: the owner of each cell
//   parts   (n_parts), strictly ascending: which parts
//   layers  how many layers of ghosts: cells that share a point with an owned cell, and so on
//
// All parts together cost the mesh and what they hold. A few of them cost some looks at the mesh, what they hold, and
// what the parts around them hold of theirs.
Members members(const MeshView& mesh, std::span<const part_t> labels, part_t nparts, std::span<const part_t> parts,
                std::int32_t layers, int threads);

}  // namespace meshpart
