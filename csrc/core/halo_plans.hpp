// Exchange plans: which owned entities each part sends to whom, and how its ghosts fall to those who own them.
#pragma once

#include <algorithm>
#include <span>

#include "csr.hpp"
#include "types.hpp"

namespace meshpart {

// The position of a part among ascending ones, or -1.
inline index_t position(std::span<const part_t> parts, part_t part) {
    const auto found = std::ranges::lower_bound(parts, part);
    return found != parts.end() && *found == part ? found - parts.begin() : -1;
}

// What parts hold of others: row h lists the global ids of entities that part holders[h] has and does not own, by
// (owner, id), each with its owner.
struct Held {
    std::span<const part_t> holders;  // (n_holders), ascending
    CsrView ids;
    std::span<const part_t> owners;  // as ids.entries
};

// The plans of several parts, one after another. Row i of `neighbours` is parts[i]'s; slice s of the sends and the
// receives is that of neighbours.entries[s].
struct HaloPlans {
    Csr neighbours;                   // parts sent to or received from, ascending
    Vector<index_t> send_offsets{0};  // (neighbours.entries + 1)
    Vector<index_t> send_indices;     // local ids: ranks among the entities that the part owns, ascending in a slice
    Vector<index_t> receive_counts;   // (neighbours.entries): how many ghosts each neighbour owns
};

// Builds the plans of parts from what they and others hold.
//
//   parts  (n_parts), strictly ascending: the parts whose plans are wanted; each is a holder. Of other holders, what
//          these parts own is read and no more
//   ranks  (n_entities): the rank of each entity among those of its owner, ascending by id; those of entities that
//          one of `parts` owns are read
//
// Linear in what is held.
HaloPlans halo_plans(std::span<const part_t> parts, const Held& held, std::span<const std::int32_t> ranks);

}  // namespace meshpart
