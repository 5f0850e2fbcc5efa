// Reading the facets of cells, one at a time.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "checks.hpp"
#include "outline.hpp"
#include "types.hpp"

namespace meshpart {

class FacetReader {
  public:
    FacetReader(const MeshView& mesh, const OutlineView& facets) : mesh_(mesh), facets_(facets) {}

    // How many facets a cell has.
    index_t count(index_t block, index_t cell) const {
        if (mesh_.block_corners[block] >= 0) return pattern_end(block) - facets_.pattern_starts[block];
        if (mesh_.block_dims[block] == 2) return std::ssize(mesh_.cells[cell]);
        const index_t polyhedron = polyhedron_of(block, cell);
        return facets_.face_starts[polyhedron + 1] - facets_.face_starts[polyhedron];
    }

    // The positions of a facet's corners in its cell's row; a polygon's sides lie in `pair`.
    std::span<const index_t> positions(index_t block, index_t cell, index_t facet, std::array<index_t, 2>& pair) const {
        if (mesh_.block_corners[block] >= 0) return facets_.patterns[facets_.pattern_starts[block] + facet];
        if (mesh_.block_dims[block] == 2) {
            pair = {facet, facet + 1 == std::ssize(mesh_.cells[cell]) ? 0 : facet + 1};
            return pair;
        }
        return facets_.faces[facets_.face_starts[polyhedron_of(block, cell)] + facet];
    }

    // Sets `corners` to the distinct corners of a facet, ascending.
    void read(index_t block, index_t cell, index_t facet, std::vector<index_t>& corners) const {
        std::array<index_t, 2> pair;
        corners.clear();
        for (const index_t position : positions(block, cell, facet, pair)) corners.push_back(point(cell, position));
        std::sort(corners.begin(), corners.end());
        corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
    }

    // The same where there are at most N corners, all different, the rest filled up with the largest number; else
    // false.
    template <class Id, std::size_t N>
    bool read_few(index_t block, index_t cell, index_t facet, std::array<Id, N>& corners) const {
        static_assert(N >= 1 && N <= 4);
        std::array<index_t, 2> pair;
        const auto at = positions(block, cell, facet, pair);
        if (at.empty() || at.size() > N) return false;
        constexpr Id none = std::numeric_limits<Id>::max();
        std::array<Id, 4> sorted{none, none, none, none};
        for (std::size_t i = 0; i < at.size(); ++i) sorted[i] = static_cast<Id>(point(cell, at[i]));
        const auto order = [&](std::size_t i, std::size_t j) {
            const Id low = std::min(sorted[i], sorted[j]);
            sorted[j] = std::max(sorted[i], sorted[j]);
            sorted[i] = low;
        };
        if constexpr (N > 2) order(0, 2), order(1, 3);
        order(0, 1);
        if constexpr (N > 2) order(2, 3), order(1, 2);
        std::copy_n(sorted.begin(), N, corners.begin());
        for (std::size_t i = 1; i < at.size(); ++i) {
            if (sorted[i - 1] == sorted[i]) return false;
        }
        return true;
    }

  private:
    MeshView mesh_;
    OutlineView facets_;

    index_t pattern_end(index_t block) const { return facets_.pattern_starts[block + 1]; }
    index_t polyhedron_of(index_t block, index_t cell) const {
        return facets_.polyhedra_before[block] + cell - mesh_.block_starts[block];
    }
    index_t point(index_t cell, index_t position) const {
        const auto points = mesh_.cells[cell];
        require_in_range(position, std::ssize(points));
        require_in_range(points[position], mesh_.n_points);
        return points[position];
    }
};

}  // namespace meshpart
