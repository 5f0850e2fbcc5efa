#include "parts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "checks.hpp"
#include "parallel.hpp"
#include "point_table.hpp"

namespace meshpart {
namespace {

constexpr std::int32_t unnumbered = -1;  // a point that no cell uses

template <class To, class From>
void append(To& to, const From& from) {
    to.insert(to.end(), from.begin(), from.end());
}

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
void lay_out_blocks(const MeshView& mesh, CsrView local_cells, int threads, Parts& result) {
    const index_t n_parts = local_cells.n_rows();
    auto& rows = result.block_cells.offsets;
    auto& nodes = result.block_nodes.offsets;
    rows.assign(mesh.n_blocks() * n_parts + 1, 0);
    nodes.assign(rows.size(), 0);
    parallel_for(n_parts, threads, 1, [&](index_t i, index_t, int) {
        BlockFinder block_of(mesh);
        for (const index_t cell : local_cells[i]) {
            const index_t block = block_of(cell), row = block * n_parts + i + 1;
            ++rows[row];
            nodes[row] += mesh.row_length(block, cell);
        }
    });
    std::partial_sum(rows.begin(), rows.end(), rows.begin());
    std::partial_sum(nodes.begin(), nodes.end(), nodes.begin());
    result.block_cells.entries.resize(rows.back());
    result.block_nodes.entries.resize(nodes.back());
    result.cell_complete.resize(local_cells.entries.size());
}

struct LocalPoints {
    std::vector<index_t> ids;
    index_t n_owned = 0;
    std::vector<part_t> ghost_owners;
    std::vector<std::uint8_t> complete;
    std::vector<std::int32_t> local_id;  // of the points as the table numbers them
};

// The points of one part, whose cells the table has read, in local order.
LocalPoints local_points(part_t part, const PointOwnersView& owners, std::span<const index_t> unused,
                         const PointTable& table) {
    struct Local {
        part_t owner;  // below all others for the part itself
        index_t point;
        std::int32_t number;
    };
    constexpr part_t itself = -1;
    std::vector<Local> locals;
    locals.reserve(table.points().size());
    for (const index_t point : table.points()) {
        const part_t owner = owners.owners[point];
        locals.push_back({owner == part ? itself : owner, point, static_cast<std::int32_t>(locals.size())});
    }
    if (part == 0) {
        for (const index_t point : unused) locals.push_back({itself, point, unnumbered});
    }
    require_countable(std::ssize(locals));
    std::ranges::sort(locals, [](const Local& a, const Local& b) {
        return a.owner != b.owner ? a.owner < b.owner : a.point < b.point;
    });

    LocalPoints result;
    result.ids.reserve(locals.size());
    result.complete.reserve(locals.size());
    result.local_id.resize(table.points().size());
    for (const auto& [owner, point, number] : locals) {
        const bool used = number != unnumbered;
        if (used) result.local_id[number] = static_cast<std::int32_t>(result.ids.size());
        result.complete.push_back(!used || table.cell_counts()[number] == owners.cell_counts[point]);
        result.ids.push_back(point);
        if (owner == itself) {
            ++result.n_owned;
        } else {
            result.ghost_owners.push_back(owner);
        }
    }
    return result;
}

// Writes the rows of one part: global ids, local nodes, and which cells are complete.
void write_blocks(const MeshView& mesh, index_t i, CsrView local_cells, const LocalPoints& points,
                  const PointTable& table, Parts& result) {
    const index_t n_parts = local_cells.n_rows();
    std::vector<index_t> row(mesh.n_blocks()), node(mesh.n_blocks());
    for (index_t block = 0; block < mesh.n_blocks(); ++block) {
        row[block] = result.block_cells.offsets[block * n_parts + i];
        node[block] = result.block_nodes.offsets[block * n_parts + i];
    }
    BlockFinder block_of(mesh);
    const std::int32_t* number = table.rows().data();
    for (index_t local = 0; local < std::ssize(local_cells[i]); ++local) {
        const index_t cell = local_cells[i][local], block = block_of(cell);
        result.block_cells.entries[row[block]++] = cell;
        std::uint8_t complete = 1;
        for (const std::int32_t* end = number + mesh.row_length(block, cell); number < end; ++number) {
            const std::int32_t id = points.local_id[*number];
            result.block_nodes.entries[node[block]++] = id;
            complete &= points.complete[id];
        }
        result.cell_complete[local_cells.offsets[i] + local] = complete;
    }
}

}  // namespace

Parts build_parts(const MeshView& mesh, std::span<const part_t> parts, CsrView local_cells,
                  const PointOwnersView& owners, int threads) {
    require_in_range(local_cells.entries, mesh.n_cells(), threads);
    const index_t n_parts = std::ssize(parts);
    Parts result;
    lay_out_blocks(mesh, local_cells, threads, result);
    std::vector<index_t> unused;
    for (index_t point = 0; point < mesh.n_points; ++point) {
        if (owners.cell_counts[point] == 0) unused.push_back(point);
    }

    std::vector<LocalPoints> points(n_parts);
    std::vector<PointTable> tables(threads);
    parallel_for(n_parts, threads, 1, [&](index_t i, index_t, int worker) {
        PointTable& table = tables[worker];
        table.read(mesh, local_cells[i]);
        points[i] = local_points(parts[i], owners, unused, table);
        write_blocks(mesh, i, local_cells, points[i], table, result);
    });

    for (const LocalPoints& part : points) {
        append(result.points.entries, part.ids);
        result.points.close_row();
        result.n_owned_points.push_back(part.n_owned);
        append(result.ghost_owners, part.ghost_owners);
        append(result.point_complete, part.complete);
    }
    return result;
}

}  // namespace meshpart
