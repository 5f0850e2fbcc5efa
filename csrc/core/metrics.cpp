#include "metrics.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>
#include <vector>

#include "assignment.hpp"
#include "attachment.hpp"
#include "checks.hpp"
#include "disjoint_sets.hpp"
#include "regroup.hpp"
#include "unions.hpp"

namespace meshpart {
namespace {

// What parts own and share of the points. Shared points are numbered by how many parts share them, the most first.
struct Shares {
    Vector<index_t> owned_points;  // (nparts): how many
    Csr parts;                     // row i: the parts that share point i, ascending
    Csr of_parts;                  // row p: the points that part p shares, ascending
    Csr of_cells;                  // for each cell on shared points, in some order, these, ascending
    Vector<index_t> cells;         // (nparts): how many of those cells each part owns
};

// Appends those among some points that are shared, ascending and each once. Whether there are any.
//
//   numbers  by rank; -1 of points that are not shared
template <class Id>
bool append_shared(std::span<const Id> ranks, std::span<const index_t> numbers, Vector<index_t>& row) {
    const index_t begin = std::ssize(row);
    for (const Id rank : ranks) {
        if (numbers[rank] >= 0) row.push_back(numbers[rank]);
    }
    std::sort(row.begin() + begin, row.end());
    row.erase(std::unique(row.begin() + begin, row.end()), row.end());
    return std::ssize(row) > begin;
}

template <class Id>
Shares shares_of(const Grouped<Id>& mesh, int threads) {
    const index_t n_points = std::ssize(mesh.point_ids), nparts = mesh.n_holders();
    Vector<index_t> n_sharing(n_points, 0);
    for (const Id rank : mesh.shared_points.entries) ++n_sharing[rank];
    const Csr by_count = invert(std::span<const index_t>(n_sharing), nparts + 1, threads);
    const index_t n_shared = n_points - by_count.offsets[1];
    Vector<index_t> numbers(n_points, -1);
    for (index_t i = 0; i < n_shared; ++i) numbers[by_count.entries[n_points - 1 - i]] = i;

    Shares result;
    result.cells.resize(nparts, 0);
    for (part_t part = 0; part < nparts; ++part) {
        result.owned_points.push_back(mesh.point_starts[part + 1] - mesh.point_starts[part]);
        append_shared(mesh.shared_points[part], numbers, result.of_parts.entries);
        result.of_parts.close_row();
        for (index_t cell = mesh.cell_starts[part]; cell < mesh.cell_starts[part + 1]; ++cell) {
            if (!append_shared(mesh.rows[cell], numbers, result.of_cells.entries)) continue;
            result.of_cells.close_row();
            ++result.cells[part];
        }
    }
    result.parts = transpose(result.of_parts.view(), n_shared, threads);
    return result;
}

}  // namespace

CutMetrics cut_metrics(GraphView dual, std::span<const std::uint8_t> kinds, std::span<const part_t> labels,
                       CsrView owned_cells) {
    const index_t n_cells = dual.n_vertices(), nparts = owned_cells.n_rows();
    assert(std::ssize(kinds) == n_cells && std::ssize(labels) == n_cells);
    CutMetrics result;
    result.components.resize(nparts, 0);
    DisjointSets components(n_cells);
    Connections row(static_cast<part_t>(nparts));  // of the quotient graph
    Vector<index_t> last_cell(nparts, -1);
    for (part_t part = 0; part < nparts; ++part) {
        for (const index_t cell : owned_cells[part]) {
            require_in_range(cell, n_cells);
            if (kinds[cell] != attached) ++result.components[part];
            for (index_t entry = dual.rows.offsets[cell]; entry < dual.rows.offsets[cell + 1]; ++entry) {
                const index_t neighbour = dual.rows.entries[entry];
                require_in_range(neighbour, n_cells);
                const part_t other = labels[neighbour];
                require_in_range(other, nparts);
                if (other == part) {
                    if (neighbour < cell && components.join(cell, neighbour)) --result.components[part];
                    continue;
                }
                row.add(other, dual.edge_weight(entry));
                if (other > part) result.edge_cut += dual.edge_weight(entry);
                if (last_cell[other] != cell) ++result.communication_volume;
                last_cell[other] = cell;
            }
        }
        auto others = row.parts();
        std::ranges::sort(others);
        for (const part_t other : others) {
            result.quotient.entries.push_back(other);
            result.quotient_weights.push_back(row.to(other));
        }
        result.quotient.close_row();
        row.clear();
    }
    return result;
}

template <class Id>
HaloMetrics halo_metrics_in(const MeshView& mesh, std::span<const part_t> labels, part_t nparts, int threads) {
    std::vector<part_t> all(nparts);
    std::iota(all.begin(), all.end(), 0);
    Shares shares = shares_of(regroup<Id>(mesh, labels, nparts, all, 0, threads), threads);

    const CsrView parts = shares.parts.view();
    HaloMetrics result{parts.n_rows(), std::move(shares.owned_points),
                       union_counts(parts, shares.of_cells.view(), nparts, threads),
                       union_counts(parts, shares.of_parts.view(), nparts, threads)};
    for (part_t part = 0; part < nparts; ++part) {
        // Its own cells on these points are none of its ghosts, nor is it its own neighbour.
        result.ghosts[part] -= shares.cells[part];
        result.neighbours[part] -= shares.cells[part] > 0;
    }
    return result;
}

template HaloMetrics halo_metrics_in<std::uint32_t>(const MeshView&, std::span<const part_t>, part_t, int);
template HaloMetrics halo_metrics_in<index_t>(const MeshView&, std::span<const part_t>, part_t, int);

HaloMetrics halo_metrics(const MeshView& mesh, std::span<const part_t> labels, part_t nparts, int threads) {
    return has_short_ids(mesh) ? halo_metrics_in<std::uint32_t>(mesh, labels, nparts, threads)
                               : halo_metrics_in<index_t>(mesh, labels, nparts, threads);
}

}  // namespace meshpart
