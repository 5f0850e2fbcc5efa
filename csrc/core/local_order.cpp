#include "local_order.hpp"

#include "checks.hpp"
#include "parallel.hpp"
#include "range_finder.hpp"

namespace meshpart {
namespace {

template <class Id>
HaloPlans plans_of(const Numbering& numbering, const GhostLists<Id>& ghosts, std::span<const part_t> parts) {
    index_t n_held = 0;
    for (const auto& row : ghosts) n_held += std::ssize(row);
    Csr held;
    Vector<part_t> owners;
    held.entries.reserve(n_held);
    owners.reserve(n_held);
    RangeFinder owner_of(numbering.starts);
    for (const auto& row : ghosts) {
        for (const auto& ghost : row) {
            held.entries.push_back(static_cast<index_t>(ghost.number));
            owners.push_back(numbering.holders[owner_of(held.entries.back())]);
        }
        held.close_row();
    }
    Vector<std::int32_t> ranks(numbering.ids.size());
    for (index_t h = 0; h < std::ssize(numbering.holders); ++h) {
        for (index_t i = numbering.starts[h]; i < numbering.starts[h + 1]; ++i) {
            ranks[i] = static_cast<std::int32_t>(i - numbering.starts[h]);
        }
    }
    return halo_plans(parts, {numbering.holders, held.view(), owners}, ranks);
}

}  // namespace

template <class Id>
Entities in_local_order(const Numbering& numbering, const GhostLists<Id>& ghosts, std::span<const part_t> parts,
                        int threads, Vector<Id>& numbers) {
    const index_t n_parts = std::ssize(parts);
    Entities result{{Vector<index_t>(n_parts + 1), {}}, Vector<index_t>(n_parts), {}, {}, {}};
    std::vector<index_t> own, ghost_offsets{0};
    result.ids.offsets[0] = 0;
    for (index_t i = 0; i < n_parts; ++i) {
        own.push_back(position(numbering.holders, parts[i]));
        const index_t n_owned = numbering.count(own[i]), n_ghosts = std::ssize(ghosts[own[i]]);
        require_countable(n_owned + n_ghosts);
        result.n_owned[i] = n_owned;
        result.ids.offsets[i + 1] = result.ids.offsets[i] + n_owned + n_ghosts;
        ghost_offsets.push_back(ghost_offsets[i] + n_ghosts);
    }
    result.ids.entries.resize(result.ids.offsets.back());
    numbers.resize(result.ids.offsets.back());
    result.ghost_owners.resize(ghost_offsets.back());
    result.ghost_layers.resize(ghost_offsets.back());
    parallel_for(n_parts, threads, 1, [&](index_t i, index_t, int) {
        Id* number = numbers.data() + result.ids.offsets[i];
        for (index_t entity = numbering.starts[own[i]]; entity < numbering.starts[own[i] + 1]; ++entity) {
            *number++ = static_cast<Id>(entity);
        }
        RangeFinder owner_of(numbering.starts);
        index_t place = ghost_offsets[i];
        for (const auto& ghost : ghosts[own[i]]) {
            *number++ = ghost.number;
            result.ghost_owners[place] = numbering.holders[owner_of(static_cast<index_t>(ghost.number))];
            result.ghost_layers[place++] = ghost.layer;
        }
        for (index_t j = result.ids.offsets[i]; j < result.ids.offsets[i + 1]; ++j) {
            result.ids.entries[j] = numbering.ids[numbers[j]];
        }
    });
    result.plans = plans_of(numbering, ghosts, parts);
    return result;
}

template Entities in_local_order(const Numbering&, const GhostLists<std::uint32_t>&, std::span<const part_t>, int,
                                 Vector<std::uint32_t>&);
template Entities in_local_order(const Numbering&, const GhostLists<index_t>&, std::span<const part_t>, int,
                                 Vector<index_t>&);

}  // namespace meshpart
