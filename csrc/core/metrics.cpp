#include "metrics.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <vector>

#include "assignment.hpp"
#include "attachment.hpp"
#include "checks.hpp"
#include "disjoint_sets.hpp"
#include "regroup.hpp"
#include "unions.hpp"

namespace meshpart {
namespace {

// The points that parts share, numbered by how many parts these are, the most first.
struct SharedPoints {
    Vector<index_t> numbers;  // of points by rank; -1 of those that no parts share
    Csr parts;                // row i: the parts that share point i, ascending
    Csr of_parts;             // row p: the points that part p shares, ascending
};

// Appends the shared points among some, ascending and each once. Whether there are any.
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
SharedPoints shared_points(const Grouped<Id>& mesh, int threads) {
    const index_t n_points = std::ssize(mesh.point_ids), nparts = mesh.n_holders();
    Vector<index_t> n_sharing(n_points, 0);
    for (const Id rank : mesh.shared_points.entries) ++n_sharing[rank];
    const Csr by_count = invert(std::span<const index_t>(n_sharing), nparts + 1, threads);
    const index_t n_shared = n_points - by_count.offsets[1];

    SharedPoints result{Vector<index_t>(n_points, -1), {}, {}};
    for (index_t i = 0; i < n_shared; ++i) result.numbers[by_count.entries[n_points - 1 - i]] = i;
    for (part_t part = 0; part < nparts; ++part) {
        append_shared(mesh.shared_points[part], result.numbers, result.of_parts.entries);
        result.of_parts.close_row();
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
    const auto grouped = regroup<Id>(mesh, labels, nparts, all, 0, threads);
    const auto shared = shared_points(grouped, threads);

    HaloMetrics result;
    result.shared_points = shared.parts.view().n_rows();
    Vector<index_t> on_shared(nparts, 0);  // how many cells of each part are on shared points
    Csr of_cells;                          // the shared points of each of these
    for (part_t part = 0; part < nparts; ++part) {
        result.points.push_back(grouped.point_starts[part + 1] - grouped.point_starts[part]);
        for (index_t cell = grouped.cell_starts[part]; cell < grouped.cell_starts[part + 1]; ++cell) {
            if (!append_shared(grouped.rows[cell], shared.numbers, of_cells.entries)) continue;
            of_cells.close_row();
            ++on_shared[part];
        }
    }
    result.ghosts = union_counts(shared.parts.view(), of_cells.view(), nparts, threads);
    result.neighbours = union_counts(shared.parts.view(), shared.of_parts.view(), nparts, threads);
    for (part_t part = 0; part < nparts; ++part) {
        // Its own cells on these points are none of its ghosts, nor is it its own neighbour.
        result.ghosts[part] -= on_shared[part];
        result.neighbours[part] -= on_shared[part] > 0;
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
