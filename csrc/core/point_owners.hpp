// Who owns a point.
#pragma once

#include <span>
#include <vector>

#include "types.hpp"

namespace meshpart {

struct PointOwners {
    std::vector<part_t> owners;             // (n_points)
    std::vector<std::int32_t> cell_counts;  // (n_points): how many cells use the point
};

struct PointOwnersView {
    std::span<const part_t> owners;
    std::span<const std::int32_t> cell_counts;
};

// A point belongs to the part that owns most of the cells on it, the lowest on a tie; to part 0 if no cell uses it.
//
//   owned_cells  row p: the cells of part p; together every cell once
PointOwners point_owners(const MeshView& mesh, CsrView owned_cells, int threads);

}  // namespace meshpart
