#include "centroids.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "checks.hpp"
#include "parallel.hpp"

namespace meshpart {
namespace {

// The mean of some points. Every read of an id is checked: arrays may change meanwhile.
class Mean {
  public:
    Mean(std::span<const double> points, int dim, index_t n_points) : points_(points), dim_(dim), n_points_(n_points) {}

    void write(std::span<const index_t> ids, double* mean) const {
        std::array<double, 3> sum{};
        for (const index_t point : ids) {
            require_in_range(point, n_points_);
            for (int axis = 0; axis < dim_; ++axis) sum[axis] += points_[point * dim_ + axis];
        }
        for (int axis = 0; axis < dim_; ++axis) {
            const bool fits = std::isfinite(sum[axis]);
            mean[axis] = fits ? sum[axis] / static_cast<double>(ids.size()) : mean_by_parts(ids, axis);
        }
    }

  private:
    std::span<const double> points_;
    int dim_;
    index_t n_points_;

    // The mean where the plain sum overflows. Rounding may carry it past the corners, and so past the largest double.
    double mean_by_parts(std::span<const index_t> ids, int axis) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        double parts = 0, low = infinity, high = -infinity;
        for (const index_t point : ids) {
            require_in_range(point, n_points_);
            const double x = points_[point * dim_ + axis];
            parts += x / static_cast<double>(ids.size());
            low = std::min(low, x);
            high = std::max(high, x);
        }
        return std::min(std::max(parts, low), high);  // in this order NaN stays NaN
    }
};

}  // namespace

Vector<double> centroids(const MeshView& mesh, std::span<const double> points, int dim, int threads) {
    Vector<double> result(mesh.n_cells() * dim);
    const Mean mean(points, dim, mesh.n_points);
    for (index_t block = 0; block < mesh.n_blocks(); ++block) {
        const index_t first = mesh.block_starts[block], count = mesh.block_starts[block + 1] - first;
        parallel_for(count, threads, 1 << 14, [&](index_t begin, index_t end, int) {
            for (index_t cell = first + begin; cell < first + end; ++cell) {
                mean.write(mesh.corners(block, cell), result.data() + cell * dim);
            }
        });
    }
    return result;
}

}  // namespace meshpart
