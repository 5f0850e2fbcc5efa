// What parts own and their ghosts in local order, and who sends what to whom.
#pragma once

#include <span>
#include <vector>

#include "csr.hpp"
#include "halo_plans.hpp"
#include "types.hpp"

namespace meshpart {

// The cells, points or vertices of several parts, one part after another.
struct Entities {
    Csr ids;                            // row i: global ids of parts[i], owned ascending, then ghosts by (owner, id)
    Vector<index_t> n_owned;            // (n_parts)
    Vector<part_t> ghost_owners;        // of the ghosts of all parts
    Vector<std::int32_t> ghost_layers;  // as ghost_owners
    HaloPlans plans;
};

// Entities numbered by (owner, global id): what belongs together lies together, and ghosts by number are in local
// order.
struct Numbering {
    std::span<const part_t> holders;  // the parts that may own something here, ascending
    std::span<const index_t> starts;  // (n_holders + 1): holder h owns the numbers from starts[h] on
    std::span<const index_t> ids;     // global ids, by number

    index_t count(index_t holder) const { return starts[holder + 1] - starts[holder]; }
};

// A local copy of an entity that another part owns. Id as of Rows.
template <class Id>
struct Ghost {
    Id number;
    std::int32_t layer;
};

template <class Id>
using GhostLists = std::vector<std::vector<Ghost<Id>>>;  // of each holder, by number

// Puts owned entities and ghosts into local order, and builds the plans.
//
//   ghosts   of holders that are none of the parts, those that these own are read and no more
//   parts    (n_parts), strictly ascending, each a holder
//   numbers  is set to the numbers of the entities, as their ids
//
// Costs what the holders hold.
template <class Id>
Entities in_local_order(const Numbering& numbering, const GhostLists<Id>& ghosts, std::span<const part_t> parts,
                        int threads, Vector<Id>& numbers);

}  // namespace meshpart
