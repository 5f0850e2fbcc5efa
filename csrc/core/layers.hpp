// The ghost layers of one part after another.
#pragma once

#include <span>
#include <vector>

#include "local_order.hpp"
#include "regroup.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// A breadth-first search over shared points. It visits each point that it meets once, so that a part costs its
// incidences, whatever the number of cells on a point. Marks carry the number of the search, so that they are wiped out
// once in 255 searches; they are bytes, because they are read all over the mesh and a processor's cache is small.
template <class Id>
class LayerSearch {
  public:
    explicit LayerSearch(const Grouped<Id>& mesh);

    // Finds the ghosts of a holder in so many layers.
    //
    //   asked  whether the holder is one of the parts that matter; of another, what these do not own may be left out
    void run(index_t holder, std::int32_t layers, bool asked);

    // The ghosts, by number or rank. The layer of a cell is its distance from the owned cells; that of a point, the
    // least of a local cell on it.
    std::span<const Ghost<Id>> cells() const { return cells_; }
    std::span<const Ghost<Id>> points() const { return points_; }

    // Of each ghost point, whether all cells on it are local.
    std::span<const std::uint8_t> point_complete() const { return point_complete_; }

  private:
    const Grouped<Id>& mesh_;
    std::uint8_t search_ = 0;
    Vector<std::uint8_t> cell_marks_, point_marks_;
    std::vector<Id> met_;  // the ranks of points on cells of others, layer by layer
    std::vector<Ghost<Id>> cells_, points_, scratch_;
    std::vector<std::uint8_t> point_complete_;

    void begin_search();
    template <class Visit>
    void for_each_point_of(std::span<const Ghost<Id>> cells, Visit&& visit) const;
};

// Of each holder, whether it surely has all cells of one as ghosts, and so all of its points that a cell is on: those
// that are near enough to one point from which all of these cells are near. For others only a search can tell.
//
// Costs what is within so many layers of the one.
template <class Id>
std::vector<std::uint8_t> surely_have_all_of(const Grouped<Id>& mesh, index_t holder, std::int32_t layers);

}  // namespace meshpart
