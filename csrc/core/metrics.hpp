// How good a decomposition is: what it cuts of the dual graph, and what its parts share of the mesh.
#pragma once

#include <span>

#include "csr.hpp"
#include "graph.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

struct CutMetrics {
    weight_t edge_cut = 0;              // the weight of the edges between parts, each counted once
    index_t communication_volume = 0;   // over all cells, how many other parts are among a cell's neighbours
    Vector<index_t> components;         // (nparts): connected pieces of the cells that are not attached
    Csr quotient;                       // row p: the parts that edges join part p to, ascending
    Vector<weight_t> quotient_weights;  // as quotient.entries: the weight of those edges
};

// What a decomposition cuts of the dual graph, at the cost of the graph.
//
//   kinds        (n_cells)
//   labels       (n_cells)
//   owned_cells  row p: the cells of part p; together every cell once
CutMetrics cut_metrics(GraphView dual, std::span<const std::uint8_t> kinds, std::span<const part_t> labels,
                       CsrView owned_cells);

struct HaloMetrics {
    index_t shared_points = 0;   // points whose cells lie in more than one part
    Vector<index_t> points;      // (nparts): owned points
    Vector<index_t> ghosts;      // (nparts): cells owned elsewhere that share a point with a cell of the part
    Vector<index_t> neighbours;  // (nparts): the parts that these are owned by, which are those that share a point
};

// What the parts own and share of the points, and what that makes ghosts, cells of all dimensions and all of their
// points counted.
//
//   labels  (n_cells), each in 0..nparts-1, or throws std::out_of_range
//
// Costs the mesh, whatever the number of ghosts, but where cells have several points on each of which many parts meet:
// see union_counts.
HaloMetrics halo_metrics(const MeshView& mesh, std::span<const part_t> labels, part_t nparts, int threads);

// The same, where the numbers of all cells and points fit an Id: std::uint32_t or index_t.
template <class Id>
HaloMetrics halo_metrics_in(const MeshView& mesh, std::span<const part_t> labels, part_t nparts, int threads);

}  // namespace meshpart
