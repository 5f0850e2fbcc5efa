// The cells on some of the points of a mesh, and those that have several points in common.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "checks.hpp"
#include "csr.hpp"
#include "types.hpp"

namespace meshpart {

// For every marked point the cells that use it, ascending.
class Incidence {
  public:
    // marked(visit)  calls visit(point) for every point that will be asked for
    // uses(visit)    calls visit(point, cell) for every point of every cell that may be the answer, always the same
    // ones
    template <class Marked, class Uses>
    Incidence(index_t n_points, Marked&& marked, Uses&& uses) : slot_(n_points, -1) {
        index_t n_slots = 0;
        marked([&](index_t point) {
            require_in_range(point, n_points);
            if (slot_[point] < 0) slot_[point] = n_slots++;
        });
        std::vector<index_t> slots, cells;
        uses([&](index_t point, index_t cell) {
            require_in_range(point, n_points);
            if (slot_[point] < 0) return;
            slots.push_back(slot_[point]);
            cells.push_back(cell);
        });
        on_slot_ = invert(std::span<const index_t>(slots), n_slots);
        for (index_t& entry : on_slot_.entries) entry = cells[entry];
        // Blocks come in any order of dimension, and a cell may name a point twice.
        for (index_t s = 0; s < n_slots; ++s) {
            std::sort(on_slot_.entries.begin() + on_slot_.offsets[s],
                      on_slot_.entries.begin() + on_slot_.offsets[s + 1]);
        }
    }

    std::span<const index_t> cells_on(index_t point) const {
        require_in_range(point, std::ssize(slot_));
        require_in_range(slot_[point], on_slot_.view().n_rows());
        return on_slot_.view()[slot_[point]];
    }

    // Calls visit(cell) for every cell that uses all of the points, ascending, each once. Costs the shortest list of
    // cells on one of them, times a logarithm.
    template <class Visit>
    void for_each_holding(std::span<const index_t> points, Visit&& visit) const {
        const auto shortest = *std::ranges::min_element(points, {}, [&](index_t p) { return cells_on(p).size(); });
        index_t previous = -1;
        for (const index_t cell : cells_on(shortest)) {
            if (cell == std::exchange(previous, cell)) continue;
            const bool holds_all = std::ranges::all_of(
                points, [&](index_t p) { return p == shortest || std::ranges::binary_search(cells_on(p), cell); });
            if (holds_all) visit(cell);
        }
    }

  private:
    std::vector<index_t> slot_;
    Csr on_slot_;
};

}  // namespace meshpart
