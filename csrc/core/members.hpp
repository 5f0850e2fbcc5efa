// The cells and points of each part of a decomposition.
#pragma once

#include <span>

#include "local_order.hpp"
#include "regroup.hpp"
#include "types.hpp"

namespace meshpart {

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
