// The dual graph: cells joined by a facet that they share.
#pragma once

#include <cstdint>
#include <span>

#include "csr.hpp"
#include "outline.hpp"
#include "types.hpp"

namespace meshpart {

// On a facet of so many cells all pairs are joined; where there are more, a chain.
inline constexpr index_t most_paired = 64;

struct DualGraph {
    Csr rows;               // (n_cells): the neighbours of each cell, ascending, each once
    index_t n_chained = 0;  // facets of more than `most_paired` cells
};

// Joins the top and the free cells; the rows of attached ones are empty.
//
//   facets  whose corners are among the corners of their cell
//   kinds   (n_cells), as of an Attachment
//
// Cells of equal dimension are neighbours when they share a facet, by its distinct corners; a facet of a d-dimensional
// cell with fewer than d of them is none. Where more than `most_paired` cells share one, each is joined to the next in
// ascending order. Cells of different dimension are neighbours when the corners of a facet of the lower one are corners
// of the higher one; where there are many of both, each higher one is joined to one or two of the lower ones.
//
// Linear in time. Facets are sorted into buckets by a hash of their corners, each bucket small enough for a processor's
// cache; so are the pairs that come out, by their first cell. Every step reads and writes memory in runs, so that the
// order of cells and points costs little.
DualGraph dual_graph(const MeshView& mesh, const OutlineView& facets, std::span<const std::uint8_t> kinds, int threads);

}  // namespace meshpart
