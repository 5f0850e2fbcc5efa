#include "point_owners.hpp"

#include <algorithm>
#include <vector>

#include "parallel.hpp"

namespace meshpart {
namespace {

// What occurs most often among sorted values, the lowest on a tie.
part_t most_frequent(std::span<const part_t> sorted) {
    part_t best = sorted[0];
    index_t best_count = 0;
    for (auto first = sorted.begin(); first != sorted.end();) {
        const auto last = std::find_if(first, sorted.end(), [&](part_t part) { return part != *first; });
        if (last - first > best_count) {
            best = *first;
            best_count = last - first;
        }
        first = last;
    }
    return best;
}

}  // namespace

PointOwners point_owners(CsrView on_points, std::span<const part_t> labels, int threads) {
    const index_t n_points = on_points.n_rows();
    PointOwners result{Vector<part_t>(n_points), Vector<std::uint8_t>(n_points)};
    std::vector<std::vector<part_t>> scratch(threads);
    parallel_for(n_points, threads, 4096, [&](index_t begin, index_t end, int worker) {
        auto& parts = scratch[worker];
        for (index_t point = begin; point < end; ++point) {
            const auto cells = on_points[point];
            const part_t first = cells.empty() ? 0 : labels[cells.front()];
            const bool shared = std::ranges::any_of(cells, [&](index_t cell) { return labels[cell] != first; });
            result.owners[point] = first;
            result.shared[point] = shared;
            if (!shared) continue;
            parts.clear();
            for (const index_t cell : cells) parts.push_back(labels[cell]);
            std::ranges::sort(parts);
            result.owners[point] = most_frequent(parts);
        }
    });
    return result;
}

}  // namespace meshpart
