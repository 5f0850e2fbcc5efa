#include "metrics.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

#include "attachment.hpp"
#include "checks.hpp"
#include "ghosts.hpp"

namespace meshpart {
namespace {

// Sets of cells that are joined pair by pair: a forest whose roots are the lowest cells, with its paths halved on the
// way (Tarjan and van Leeuwen 1984).
class Components {
  public:
    explicit Components(index_t count) : above_(count) {
        for (index_t i = 0; i < count; ++i) above_[i] = i;
    }

    // Whether the two were in different sets until now.
    bool join(index_t a, index_t b) {
        a = root(a);
        b = root(b);
        if (a == b) return false;
        above_[std::max(a, b)] = std::min(a, b);
        return true;
    }

  private:
    Vector<index_t> above_;

    index_t root(index_t i) {
        while (above_[i] != i) i = above_[i] = above_[above_[i]];
        return i;
    }
};

// What the row of one part in the quotient graph grows from.
class QuotientRow {
  public:
    explicit QuotientRow(index_t nparts) : weights_(nparts), last_row_(nparts, -1) {}

    void add(part_t row, part_t other, weight_t weight) {
        if (last_row_[other] != row) {
            last_row_[other] = row;
            weights_[other] = 0;
            others_.push_back(other);
        }
        weights_[other] += weight;
    }

    void close(CutMetrics& result) {
        std::ranges::sort(others_);
        for (const part_t other : others_) {
            result.quotient.entries.push_back(other);
            result.quotient_weights.push_back(weights_[other]);
        }
        result.quotient.close_row();
        others_.clear();
    }

  private:
    Vector<weight_t> weights_;
    Vector<part_t> last_row_;
    std::vector<part_t> others_;
};

}  // namespace

CutMetrics cut_metrics(GraphView dual, std::span<const std::uint8_t> kinds, std::span<const part_t> labels,
                       CsrView owned_cells) {
    const index_t n_cells = dual.n_vertices(), nparts = owned_cells.n_rows();
    assert(std::ssize(kinds) == n_cells && std::ssize(labels) == n_cells);
    CutMetrics result;
    result.components.resize(nparts, 0);
    Components components(n_cells);
    QuotientRow row(nparts);
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
                row.add(part, other, dual.edge_weight(entry));
                if (other > part) result.edge_cut += dual.edge_weight(entry);
                if (last_cell[other] != cell) ++result.communication_volume;
                last_cell[other] = cell;
            }
        }
        row.close(result);
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
