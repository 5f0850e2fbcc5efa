#include "parts.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "checks.hpp"
#include "parallel.hpp"
#include "rows_ahead.hpp"

namespace meshpart {
namespace {

// The block of a cell; cells of one block mostly come together.
class BlockFinder {
  public:
    explicit BlockFinder(const MeshView& mesh) : starts_(mesh.block_starts) {}

    index_t operator()(index_t cell) {
        if (cell < starts_[block_] || cell >= starts_[block_ + 1]) {
            block_ = std::ranges::upper_bound(starts_, cell) - starts_.begin() - 1;
        }
        return block_;
    }

  private:
    std::span<const index_t> starts_;
    index_t block_ = 0;
};

// Where each part's rows of each block begin, and their nodes: offsets of block_cells and block_nodes.
void lay_out_blocks(const MeshView& mesh, CsrView cells, int threads, PartRows& result) {
    const index_t n_parts = cells.n_rows();
    auto& rows = result.block_cells.offsets;
    auto& nodes = result.block_nodes.offsets;
    rows.assign(mesh.n_blocks() * n_parts + 1, 0);
    nodes.assign(rows.size(), 0);
    parallel_for(n_parts, threads, 1, [&](index_t i, index_t, int) {
        if (mesh.n_blocks() == 1 && mesh.block_widths[0] >= 0) {
            rows[i + 1] = std::ssize(cells[i]);
            nodes[i + 1] = std::ssize(cells[i]) * mesh.block_widths[0];
            return;
        }
        BlockFinder block_of(mesh);
        for (const index_t cell : cells[i]) {
            const index_t block = block_of(cell), row = block * n_parts + i + 1;
            ++rows[row];
            nodes[row] += mesh.row_length(block, cell);
        }
    });
    std::partial_sum(rows.begin(), rows.end(), rows.begin());
    std::partial_sum(nodes.begin(), nodes.end(), nodes.begin());
    if (mesh.n_blocks() > 1) result.block_cells.entries.resize(rows.back());
    result.block_nodes.entries.resize(nodes.back());
    result.cell_complete.resize(cells.entries.size());
}

// Writes the rows of one part.
//
//   local_id  (n_points): the number of each of its points
void write_blocks(const MeshView& mesh, index_t i, const Members& members, std::span<const std::int32_t> local_id,
                  PartRows& result) {
    const CsrView cells = members.cells.ids.view();
    const index_t first_point = members.points.ids.offsets[i], n_points = std::ssize(members.points.ids.view()[i]);
    const std::uint8_t* const point_complete = members.point_complete.data() + first_point;
    std::vector<index_t> row(mesh.n_blocks()), node(mesh.n_blocks());
    for (index_t block = 0; block < mesh.n_blocks(); ++block) {
        row[block] = result.block_cells.offsets[block * cells.n_rows() + i];
        node[block] = result.block_nodes.offsets[block * cells.n_rows() + i];
    }
    BlockFinder block_of(mesh);
    std::uint8_t* complete = result.cell_complete.data() + cells.offsets[i];
    for_each_row(mesh, cells[i], [&](index_t cell, std::span<const index_t> points) {
        const index_t block = block_of(cell);
        if (mesh.n_blocks() > 1) result.block_cells.entries[row[block]++] = cell;
        std::uint8_t all = 1;
        index_t* to = result.block_nodes.entries.data() + node[block];
        for (const index_t point : points) {
            require_in_range(point, mesh.n_points);
            const std::int32_t id = local_id[point];
            require_in_range(id, n_points);  // it is another part's only if the mesh has changed meanwhile
            *to++ = id;
            all &= point_complete[id];
        }
        node[block] += std::ssize(points);
        *complete++ = all;
    });
}

}  // namespace

PartRows part_rows(const MeshView& mesh, const Members& members, int threads) {
    PartRows result;
    const CsrView points = members.points.ids.view();
    lay_out_blocks(mesh, members.cells.ids.view(), threads, result);
    std::vector<Vector<std::int32_t>> local_ids(threads);
    parallel_for(points.n_rows(), threads, 1, [&](index_t i, index_t, int worker) {
        auto& local_id = local_ids[worker];
        if (local_id.empty()) local_id.resize(mesh.n_points, 0);
        std::int32_t number = 0;
        for (const index_t point : points[i]) local_id[point] = number++;
        write_blocks(mesh, i, members, local_id, result);
    });
    return result;
}

}  // namespace meshpart
