#include "centroids.hpp"

#include <algorithm>
#include <cmath>

#include "checks.hpp"
#include "parallel.hpp"

namespace meshpart {
namespace {

// The mean of coordinate `axis`; added up as parts of the mean where the plain sum overflows.
double mean(std::span<const index_t> corners, const double* coordinate, int dim) {
    const auto count = static_cast<double>(corners.size());
    double sum = 0;
    for (const index_t point : corners) sum += coordinate[point * dim];
    if (std::isfinite(sum)) return sum / count;
    double parts = 0;
    for (const index_t point : corners) parts += coordinate[point * dim] / count;
    return parts;
}

}  // namespace

Vector<double> centroids(const MeshView& mesh, std::span<const double> points, int dim, int threads) {
    Vector<double> result(mesh.n_cells() * dim);
    for (index_t block = 0; block < mesh.n_blocks(); ++block) {
        const index_t first = mesh.block_starts[block], count = mesh.block_starts[block + 1] - first;
        parallel_for(count, threads, 1 << 14, [&](index_t begin, index_t end, int) {
            for (index_t cell = first + begin; cell < first + end; ++cell) {
                const auto corners = mesh.corners(block, cell);
                for (const index_t point : corners) require_in_range(point, mesh.n_points);
                for (int axis = 0; axis < dim; ++axis) {
                    result[cell * dim + axis] = mean(corners, points.data() + axis, dim);
                }
            }
        });
    }
    return result;
}

}  // namespace meshpart
