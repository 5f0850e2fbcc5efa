#include "attachment.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "checks.hpp"
#include "incidence.hpp"

namespace meshpart {
namespace {

int top_dim(const MeshView& mesh) {
    int dim = -1;
    for (index_t b = 0; b < mesh.n_blocks(); ++b) {
        if (mesh.block_starts[b + 1] > mesh.block_starts[b]) dim = std::max<int>(dim, mesh.block_dims[b]);
    }
    return dim;
}

template <class Visit>
void for_each_cell(const MeshView& mesh, int low_dim, int high_dim, Visit&& visit) {
    for (index_t b = 0; b < mesh.n_blocks(); ++b) {
        if (mesh.block_dims[b] < low_dim || mesh.block_dims[b] > high_dim) continue;
        for (index_t cell = mesh.block_starts[b]; cell < mesh.block_starts[b + 1]; ++cell) visit(b, cell);
    }
}

// The cells of dimension 1 and more on every corner of a lower-dimensional cell.
Incidence cells_on_lower_corners(const MeshView& mesh, int top) {
    return Incidence(
        mesh.n_points,
        [&](auto&& visit) {
            for_each_cell(mesh, 0, top - 1, [&](index_t block, index_t cell) {
                for (const index_t point : mesh.corners(block, cell)) visit(point);
            });
        },
        [&](auto&& visit) {
            for_each_cell(mesh, 1, top, [&](index_t, index_t cell) {
                for (const index_t point : mesh.cells[cell]) visit(point, cell);
            });
        });
}

// Finds the parents of all cells of one dimension, when those of higher dimensions are done.
class Layer {
  public:
    Layer(const MeshView& mesh, const Incidence& incidence, const std::vector<std::uint8_t>& dims, int dim)
        : incidence_(incidence), dims_(dims), dim_(dim) {
        for_each_cell(mesh, dim, dim, [&](index_t block, index_t cell) {
            cells_.push_back(cell);
            const auto points = mesh.corners(block, cell);
            std::vector<index_t> corners(points.begin(), points.end());
            std::sort(corners.begin(), corners.end());
            corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
            corners_.entries.insert(corners_.entries.end(), corners.begin(), corners.end());
            corners_.close_row();
        });
    }

    void attach(Attachment& result) const {
        std::vector<index_t> by_corners(cells_.size());
        std::iota(by_corners.begin(), by_corners.end(), 0);
        std::stable_sort(by_corners.begin(), by_corners.end(), [&](index_t a, index_t b) {
            return std::ranges::lexicographical_compare(corners(a), corners(b));
        });
        std::vector<index_t> row(cells_.size(), -1);
        for (std::size_t i = 0; i < by_corners.size(); ++i) {
            const index_t cell = by_corners[i];
            if (i > 0 && std::ranges::equal(corners(cell), corners(by_corners[i - 1]))) {
                row[cell] = row[by_corners[i - 1]];
            } else if (find_parents(corners(cell), result)) {
                result.parents.close_row();
                row[cell] = result.parents.view().n_rows() - 1;
            }
        }
        for (std::size_t i = 0; i < cells_.size(); ++i) {
            result.kinds[cells_[i]] = row[i] < 0 ? free_cell : attached;
            if (row[i] < 0) continue;
            result.cells.push_back(cells_[i]);
            result.rows.push_back(row[i]);
        }
    }

  private:
    const Incidence& incidence_;
    const std::vector<std::uint8_t>& dims_;
    int dim_;
    std::vector<index_t> cells_;
    Csr corners_;  // of each cell, ascending, each once

    std::span<const index_t> corners(index_t i) const { return corners_.view()[i]; }

    // Appends the parents to the open row of result.parents; says whether there are any.
    bool find_parents(std::span<const index_t> corners, Attachment& result) const {
        auto& parents = result.parents.entries;
        Vector<index_t> attached_parents;
        incidence_.for_each_holding(corners, [&](index_t cell) {
            if (dims_[cell] > dim_) (result.kinds[cell] == attached ? attached_parents : parents).push_back(cell);
        });
        const bool any = std::ssize(parents) > result.parents.offsets.back();
        if (!any) parents.insert(parents.end(), attached_parents.begin(), attached_parents.end());
        return any || !attached_parents.empty();
    }
};

}  // namespace

Attachment attachment(const MeshView& mesh) {
    Attachment result;
    result.kinds.assign(mesh.n_cells(), top);
    const int highest = top_dim(mesh);
    bool any_lower = false;
    for_each_cell(mesh, 0, highest - 1, [&](index_t, index_t) { any_lower = true; });
    if (!any_lower) return result;

    std::vector<std::uint8_t> dims(mesh.n_cells());
    for_each_cell(mesh, 0, highest,
                  [&](index_t block, index_t cell) { dims[cell] = static_cast<std::uint8_t>(mesh.block_dims[block]); });
    const Incidence incidence = cells_on_lower_corners(mesh, highest);
    for (int dim = highest - 1; dim >= 0; --dim) Layer(mesh, incidence, dims, dim).attach(result);
    return result;
}

void label_attached(std::span<const index_t> cells, std::span<const index_t> rows, CsrView parents,
                    std::span<part_t> labels) {
    constexpr part_t unknown = std::numeric_limits<part_t>::max();
    std::vector<part_t> lowest(parents.n_rows(), unknown);
    for (index_t i = 0; i < std::ssize(cells); ++i) {
        require_in_range(cells[i], std::ssize(labels));
        require_in_range(rows[i], parents.n_rows());
        part_t& label = lowest[rows[i]];
        if (label == unknown) {
            for (const index_t parent : parents[rows[i]]) {
                require_in_range(parent, std::ssize(labels));
                label = std::min(label, labels[parent]);
            }
        }
        labels[cells[i]] = label;
    }
}

}  // namespace meshpart
