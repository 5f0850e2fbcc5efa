#include "metrics.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

#include "assignment.hpp"
#include "attachment.hpp"
#include "checks.hpp"
#include "disjoint_sets.hpp"
#include "ghosts.hpp"

namespace meshpart {
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

HaloMetrics halo_metrics(const MeshView& mesh, std::span<const part_t> labels, CsrView owned_cells, int threads) {
    const index_t nparts = owned_cells.n_rows();
    const Csr on_shared_points = parts_on_shared_points(mesh, owned_cells);
    const Csr ghost_of = parts_with_ghost(mesh, labels, on_shared_points.view(), threads);

    HaloMetrics result{0, Vector<index_t>(nparts, 0), Vector<index_t>(nparts, 0)};
    for (index_t point = 0; point < mesh.n_points; ++point) {
        result.shared_points += on_shared_points.offsets[point + 1] > on_shared_points.offsets[point];
    }
    Vector<part_t> last_part(nparts, -1);
    for (part_t part = 0; part < nparts; ++part) {
        for (const index_t cell : owned_cells[part]) {
            for (const index_t other : ghost_of.view()[cell]) {
                ++result.ghosts[other];
                // Sharing a point is mutual: who has a ghost from this part, gives it one.
                if (last_part[other] != part) ++result.neighbours[part];
                last_part[other] = part;
            }
        }
    }
    return result;
}

}  // namespace meshpart
