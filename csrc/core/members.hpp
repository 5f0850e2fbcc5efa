// Who is in each part of a decomposition, in local order, and who sends what to whom.
#pragma once

#include <span>

#include "csr.hpp"
#include "halo_plans.hpp"
#include "regroup.hpp"
#include "types.hpp"

namespace meshpart {

// The cells or the points of several parts, one part after another.
struct Entities {
    Csr ids;                            // row i: global ids of parts[i], owned ascending, then ghosts by (owner, id)
    Vector<index_t> n_owned;            // (n_parts)
    Vector<part_t> ghost_owners;        // of the ghosts of all parts
    Vector<std::int32_t> ghost_layers;  // as ghost_owners
    HaloPlans plans;
};

template <class Id>
struct Members {
    Entities cells, points;
    Vector<Id> cell_numbers, point_ranks;  // as their ids
    Vector<std::uint8_t> point_complete;   // as points.ids.entries: whether all cells on a point are local
};

// Finds the members of parts and builds their plans, for all of them in one pass.
//
//   mesh    grouped for these parts and layers
//   parts   (n_parts), strictly ascending, each a holder
//   layers  how many layers of ghosts: the cells that share a point with an owned cell, those that share one with these
//
// Costs what the holders hold.
template <class Id>
Members<Id> members(const Grouped<Id>& mesh, std::span<const part_t> parts, std::int32_t layers, int threads);

}  // namespace meshpart
