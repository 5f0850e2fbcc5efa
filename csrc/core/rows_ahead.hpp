// Reading the rows of cells that lie anywhere in a mesh.
#pragma once

#include <span>

#include "types.hpp"

namespace meshpart {

// Calls visit(cell, points) for some cells in turn. In a shuffled mesh each row is far away, so it is asked for some
// cells before it is needed.
template <class Visit>
void for_each_row(const MeshView& mesh, std::span<const index_t> cells, Visit&& visit) {
    constexpr index_t ahead = 8;
    const index_t* const offsets = mesh.cells.offsets.data();
    for (index_t i = 0; i < std::ssize(cells); ++i) {
        if (i + 2 * ahead < std::ssize(cells)) __builtin_prefetch(offsets + cells[i + 2 * ahead]);
        if (i + ahead < std::ssize(cells)) __builtin_prefetch(mesh.cells.entries.data() + offsets[cells[i + ahead]]);
        visit(cells[i], mesh.cells[cells[i]]);
    }
}

}  // namespace meshpart
