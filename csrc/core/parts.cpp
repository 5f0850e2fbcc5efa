#include "parts.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "checks.hpp"
#include "parallel.hpp"

namespace meshpart {
namespace {

// What a worker remembers of each point while it looks at one row of cells. Rows are stamped, so nothing is cleared.
class PointMarks {
  public:
    struct Mark {
        index_t last_cell = -1;
        index_t row = -1;
        std::int32_t cell_count = 0;  // how many cells of the row use the point
        std::int32_t local_id = 0;
    };

    explicit PointMarks(index_t n_points) : marks_(n_points) {}

    Mark& operator[](index_t point) { return marks_[point]; }

    // Calls visit(point) when the row meets a point first, and counts the cells on it, each once.
    template <class Visit>
    void count(const MeshView& mesh, index_t row, std::span<const index_t> cells, Visit&& visit) {
        for (const index_t cell : cells) {
            for (const index_t point : mesh.cells[cell]) {
                require_in_range(point, mesh.n_points);
                Mark& mark = marks_[point];
                if (mark.row != row) {
                    mark = {cell, row, 1, 0};
                    visit(point);
                } else if (mark.last_cell != cell) {
                    mark.last_cell = cell;
                    ++mark.cell_count;
                }
            }
        }
    }

  private:
    std::vector<Mark> marks_;
};

// One PointMarks for each worker, made when it first works.
class Workers {
  public:
    Workers(index_t n_points, int threads) : n_points_(n_points), marks_(threads, PointMarks(0)), made_(threads) {}

    PointMarks& operator[](int worker) {
        if (!made_[worker]) {
            marks_[worker] = PointMarks(n_points_);
            made_[worker] = 1;
        }
        return marks_[worker];
    }

  private:
    index_t n_points_;
    std::vector<PointMarks> marks_;
    std::vector<char> made_;
};

// More cells first, then the lower part: the largest claim owns the point, whatever the order of claims.
std::uint64_t claim(std::int32_t cell_count, part_t part) {
    return static_cast<std::uint64_t>(cell_count) << 32 | static_cast<std::uint32_t>(~part);
}

void raise_to(std::uint64_t& target, std::uint64_t value) {
    const std::atomic_ref<std::uint64_t> shared(target);
    std::uint64_t known = shared.load(std::memory_order_relaxed);
    while (known < value && !shared.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
    }
}

index_t block_of(const MeshView& mesh, index_t cell) {
    return std::ranges::upper_bound(mesh.block_starts, cell) - mesh.block_starts.begin() - 1;
}

// Calls visit(block, cell, local id) for cells in local order; those of a block mostly come together.
template <class Visit>
void for_each_in_block(const MeshView& mesh, std::span<const index_t> cells, Visit&& visit) {
    index_t block = 0;
    for (index_t local = 0; local < std::ssize(cells); ++local) {
        const index_t cell = cells[local];
        if (cell < mesh.block_starts[block] || cell >= mesh.block_starts[block + 1]) block = block_of(mesh, cell);
        visit(block, cell, local);
    }
}

// Where each part's rows of each block begin, and their nodes: offsets of block_cells and block_nodes.
void lay_out_blocks(const MeshView& mesh, CsrView local_cells, int threads, Parts& result) {
    const index_t n_parts = local_cells.n_rows();
    auto& rows = result.block_cells.offsets;
    auto& nodes = result.block_nodes.offsets;
    rows.assign(mesh.n_blocks() * n_parts + 1, 0);
    nodes.assign(rows.size(), 0);
    parallel_for(n_parts, threads, 1, [&](index_t i, index_t, int) {
        for_each_in_block(mesh, local_cells[i], [&](index_t block, index_t cell, index_t) {
            ++rows[block * n_parts + i + 1];
            nodes[block * n_parts + i + 1] += std::ssize(mesh.cells[cell]);
        });
    });
    std::partial_sum(rows.begin(), rows.end(), rows.begin());
    std::partial_sum(nodes.begin(), nodes.end(), nodes.begin());
    result.block_cells.entries.resize(rows.back());
    result.block_rows.resize(rows.back());
    result.block_nodes.entries.resize(nodes.back());
    result.cell_complete.resize(local_cells.entries.size());
}

// The points of one part in local order; sets n_owned.
std::vector<index_t> local_points(const MeshView& mesh, index_t row, part_t part, std::span<const index_t> cells,
                                  std::span<const part_t> owners, PointMarks& marks, index_t& n_owned) {
    std::vector<index_t> owned, ghosts;
    marks.count(mesh, row, cells, [&](index_t point) { (owners[point] == part ? owned : ghosts).push_back(point); });
    std::ranges::sort(owned);
    std::ranges::sort(ghosts, {}, [&](index_t point) { return std::pair(owners[point], point); });
    n_owned = std::ssize(owned);
    owned.insert(owned.end(), ghosts.begin(), ghosts.end());
    return owned;
}

// Writes the rows of one part: global ids, local ids, local nodes, and which cells are complete.
void write_blocks(const MeshView& mesh, index_t i, CsrView local_cells, const PointOwnersView& owners,
                  PointMarks& marks, Parts& result) {
    const index_t n_parts = local_cells.n_rows();
    std::vector<index_t> row(mesh.n_blocks()), node(mesh.n_blocks());
    for (index_t block = 0; block < mesh.n_blocks(); ++block) {
        row[block] = result.block_cells.offsets[block * n_parts + i];
        node[block] = result.block_nodes.offsets[block * n_parts + i];
    }
    for_each_in_block(mesh, local_cells[i], [&](index_t block, index_t cell, index_t local) {
        result.block_cells.entries[row[block]] = cell;
        result.block_rows[row[block]++] = local;
        bool complete = true;
        for (const index_t point : mesh.cells[cell]) {
            require_in_range(point, mesh.n_points);
            const auto& mark = marks[point];
            result.block_nodes.entries[node[block]++] = mark.local_id;
            complete &= mark.cell_count == owners.cell_counts[point];
        }
        result.cell_complete[local_cells.offsets[i] + local] = complete;
    });
}

}  // namespace

PointOwners point_owners(const MeshView& mesh, CsrView owned_cells, int threads) {
    PointOwners result{std::vector<part_t>(mesh.n_points), std::vector<std::int32_t>(mesh.n_points)};
    std::vector<std::uint64_t> best(mesh.n_points, claim(0, 0));
    Workers workers(mesh.n_points, threads);
    parallel_for(owned_cells.n_rows(), threads, 1, [&](index_t part, index_t, int worker) {
        PointMarks& marks = workers[worker];
        std::vector<index_t> points;
        marks.count(mesh, part, owned_cells[part], [&](index_t point) { points.push_back(point); });
        for (const index_t point : points) {
            const auto count = marks[point].cell_count;
            raise_to(best[point], claim(count, static_cast<part_t>(part)));
            std::atomic_ref(result.cell_counts[point]).fetch_add(count, std::memory_order_relaxed);
        }
    });
    for (index_t point = 0; point < mesh.n_points; ++point) {
        result.owners[point] = static_cast<part_t>(~static_cast<std::uint32_t>(best[point]));
    }
    return result;
}

Parts build_parts(const MeshView& mesh, std::span<const part_t> parts, CsrView local_cells,
                  const PointOwnersView& owners, int threads) {
    const index_t n_parts = std::ssize(parts);
    Parts result;
    lay_out_blocks(mesh, local_cells, threads, result);
    std::vector<index_t> unused;  // points that no cell uses belong to part 0
    for (index_t point = 0; point < mesh.n_points; ++point) {
        if (owners.cell_counts[point] == 0) unused.push_back(point);
    }

    result.n_owned_points.resize(n_parts);
    std::vector<std::vector<index_t>> points(n_parts);
    std::vector<std::vector<std::uint8_t>> complete(n_parts);
    Workers workers(mesh.n_points, threads);
    parallel_for(n_parts, threads, 1, [&](index_t i, index_t, int worker) {
        PointMarks& marks = workers[worker];
        auto& local = points[i];
        index_t& n_owned = result.n_owned_points[i];
        local = local_points(mesh, i, parts[i], local_cells[i], owners.owners, marks, n_owned);
        if (parts[i] == 0) {
            local.insert(local.begin() + n_owned, unused.begin(), unused.end());
            std::inplace_merge(local.begin(), local.begin() + n_owned, local.begin() + n_owned + std::ssize(unused));
            n_owned += std::ssize(unused);
            for (const index_t point : unused) marks[point] = {-1, i, 0, 0};
        }
        complete[i].resize(local.size());
        for (index_t id = 0; id < std::ssize(local); ++id) {
            auto& mark = marks[local[id]];
            mark.local_id = static_cast<std::int32_t>(id);
            complete[i][id] = mark.cell_count == owners.cell_counts[local[id]];
        }
        write_blocks(mesh, i, local_cells, owners, marks, result);
    });

    for (index_t i = 0; i < n_parts; ++i) {
        result.points.offsets.push_back(result.points.offsets.back() + std::ssize(points[i]));
    }
    result.points.entries.reserve(result.points.offsets.back());
    result.point_complete.reserve(result.points.offsets.back());
    for (index_t i = 0; i < n_parts; ++i) {
        for (index_t id = result.n_owned_points[i]; id < std::ssize(points[i]); ++id) {
            result.ghost_owners.push_back(owners.owners[points[i][id]]);
        }
        result.points.entries.insert(result.points.entries.end(), points[i].begin(), points[i].end());
        result.point_complete.insert(result.point_complete.end(), complete[i].begin(), complete[i].end());
    }
    return result;
}

}  // namespace meshpart
