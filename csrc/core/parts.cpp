#include "parts.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "parallel.hpp"
#include "range_finder.hpp"
#include "regroup.hpp"

namespace meshpart {
namespace {

// Where each part's rows of each block begin, and their nodes: offsets of block_cells and block_nodes.
void lay_out_blocks(const MeshView& mesh, int threads, Parts& result) {
    const CsrView cells = result.cells.ids.view();
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
        RangeFinder block_of(mesh.block_starts);
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

// Writes the rows of one part, the points of whose cells have been numbered. A cell is complete if its points are.
template <class Id>
void write_blocks(const MeshView& mesh, const Grouped<Id>& grouped, std::span<const Id> cell_numbers, index_t i,
                  std::span<const std::int32_t> local_id, Parts& result) {
    const index_t n_parts = std::ssize(result.cells.n_owned), first_cell = result.cells.ids.offsets[i];
    const std::uint8_t* const point_complete = result.point_complete.data() + result.points.ids.offsets[i];
    std::vector<index_t*> row(mesh.n_blocks()), node(mesh.n_blocks());
    for (index_t block = 0; block < mesh.n_blocks(); ++block) {
        row[block] = result.block_cells.entries.data() + result.block_cells.offsets[block * n_parts + i];
        node[block] = result.block_nodes.entries.data() + result.block_nodes.offsets[block * n_parts + i];
    }
    RangeFinder block_of(mesh.block_starts);
    for (index_t place = first_cell; place < result.cells.ids.offsets[i + 1]; ++place) {
        const index_t cell = result.cells.ids.entries[place];
        const index_t block = mesh.n_blocks() == 1 ? 0 : block_of(cell);
        if (mesh.n_blocks() > 1) *row[block]++ = cell;
        std::uint8_t complete = 1;
        for (const Id point : grouped.rows[cell_numbers[place]]) {
            const std::int32_t id = local_id[point];
            *node[block]++ = id;
            complete &= point_complete[id];
        }
        result.cell_complete[place] = complete;
    }
}

}  // namespace

template <class Id>
Parts build_parts_in(const MeshView& mesh, std::span<const part_t> labels, part_t nparts, std::span<const part_t> parts,
                     std::int32_t layers, int threads) {
    const auto grouped = regroup<Id>(mesh, labels, nparts, parts, layers, threads);
    auto found = members<Id>(grouped, parts, layers, threads);
    Parts result{std::move(found.cells), std::move(found.points), {}, std::move(found.point_complete), {}, {}};
    lay_out_blocks(mesh, threads, result);
    std::vector<Vector<std::int32_t>> local_ids(threads);
    parallel_for(std::ssize(parts), threads, 1, [&](index_t i, index_t, int worker) {
        auto& local_id = local_ids[worker];
        if (local_id.empty()) local_id.resize(grouped.point_ids.size());
        const index_t first = result.points.ids.offsets[i], end = result.points.ids.offsets[i + 1];
        for (index_t j = first; j < end; ++j) local_id[found.point_ranks[j]] = static_cast<std::int32_t>(j - first);
        write_blocks<Id>(mesh, grouped, found.cell_numbers, i, local_id, result);
    });
    return result;
}

template Parts build_parts_in<std::uint32_t>(const MeshView&, std::span<const part_t>, part_t, std::span<const part_t>,
                                             std::int32_t, int);
template Parts build_parts_in<index_t>(const MeshView&, std::span<const part_t>, part_t, std::span<const part_t>,
                                       std::int32_t, int);

Parts build_parts(const MeshView& mesh, std::span<const part_t> labels, part_t nparts, std::span<const part_t> parts,
                  std::int32_t layers, int threads) {
    if (parts.empty()) {
        Parts none;
        lay_out_blocks(mesh, threads, none);
        return none;
    }
    // Threads are started in some ten places, which takes longer than what few cells are worth.
    constexpr index_t worth_a_thread = 1 << 14;
    const index_t most = std::max<index_t>(mesh.n_cells() / worth_a_thread * (index_t{1} + layers), 1);
    const auto workers = static_cast<int>(std::min<index_t>(threads, most));
    return has_short_ids(mesh) ? build_parts_in<std::uint32_t>(mesh, labels, nparts, parts, layers, workers)
                               : build_parts_in<index_t>(mesh, labels, nparts, parts, layers, workers);
}

}  // namespace meshpart
