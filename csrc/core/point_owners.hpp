// Who owns a point, and whether several parts meet on it.
#pragma once

#include <span>

#include "csr.hpp"
#include "types.hpp"

namespace meshpart {

struct PointOwners {
    Vector<part_t> owners;        // (n_points)
    Vector<std::uint8_t> shared;  // (n_points): whether cells of several parts lie on the point
};

// A point belongs to the part that owns most of the cells on it, the lowest on a tie; to part 0 if no cell is on it.
//
//   on_points  row i: the cells on point i, each once
//   labels     (n_cells)
PointOwners point_owners(CsrView on_points, std::span<const part_t> labels, int threads);

}  // namespace meshpart
