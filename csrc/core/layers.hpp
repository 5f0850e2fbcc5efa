// The ghost layers of one part after another.
#pragma once

#include <span>
#include <vector>

#include "point_owners.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// A local copy of an entity that another part owns.
struct Ghost {
    part_t owner;
    std::int32_t layer;  // of a cell, its distance from the owned cells; of a point, the least of a cell on it
    index_t id;
};

// What layers are searched in.
struct Surroundings {
    MeshView mesh;
    std::span<const part_t> labels;        // (n_cells)
    CsrView on_points;                     // row i: the cells on point i, each once
    std::span<const part_t> point_owners;  // (n_points)
    std::span<const std::uint8_t> shared;  // (n_points), as of PointOwners
};

// A breadth-first search over shared points. It visits each point that it meets once, so that a part costs its
// incidences, whatever the number of cells on a point; marks carry the number of the search, so that none is wiped out.
class LayerSearch {
  public:
    explicit LayerSearch(const Surroundings& around);

    // Finds the ghosts of a part.
    //
    //   owned   the cells of the part that lie in the surroundings
    //   layers  how many
    void run(part_t part, std::span<const index_t> owned, std::int32_t layers);

    // The ghosts, by (owner, id).
    std::span<const Ghost> cells() const { return cells_; }
    std::span<const Ghost> points() const { return points_; }

    // Of each ghost point, whether all cells on it are local.
    std::span<const std::uint8_t> point_complete() const { return point_complete_; }

  private:
    Surroundings around_;
    std::int32_t search_ = 0;
    Vector<std::int32_t> cell_marks_, point_marks_;
    std::vector<index_t> met_;  // the points, layer by layer
    std::vector<Ghost> cells_, points_;
    std::vector<std::uint8_t> point_complete_;

    void meet(std::span<const index_t> points);
    void add_points(part_t part, index_t begin, std::int32_t layer);
    bool all_local(index_t point) const;
};

}  // namespace meshpart
