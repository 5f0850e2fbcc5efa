#include "point_owners.hpp"

#include <atomic>

#include "checks.hpp"
#include "parallel.hpp"
#include "point_table.hpp"

namespace meshpart {
namespace {

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

}  // namespace

PointOwners point_owners(const MeshView& mesh, CsrView owned_cells, int threads) {
    require_in_range(owned_cells.entries, mesh.n_cells(), threads);
    PointOwners result{std::vector<part_t>(mesh.n_points), std::vector<std::int32_t>(mesh.n_points)};
    std::vector<std::uint64_t> best(mesh.n_points, claim(0, 0));
    std::vector<PointTable> tables(threads);
    parallel_for(owned_cells.n_rows(), threads, 1, [&](index_t part, index_t, int worker) {
        PointTable& table = tables[worker];
        table.read(mesh, owned_cells[part]);
        for (std::size_t i = 0; i < table.points().size(); ++i) {
            const index_t point = table.points()[i];
            const std::int32_t cell_count = table.cell_counts()[i];
            raise_to(best[point], claim(cell_count, static_cast<part_t>(part)));
            std::atomic_ref(result.cell_counts[point]).fetch_add(cell_count, std::memory_order_relaxed);
        }
    });
    for (index_t point = 0; point < mesh.n_points; ++point) {
        result.owners[point] = static_cast<part_t>(~static_cast<std::uint32_t>(best[point]));
    }
    return result;
}

}  // namespace meshpart
