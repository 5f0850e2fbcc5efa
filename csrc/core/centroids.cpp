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
        const auto count = static_cast<double>(ids.size());
        const Vec sum = add(ids, 1);
        for (int axis = 0; axis < dim_; ++axis) mean[axis] = sum[axis] / count;
        if (std::isfinite(sum[0]) && std::isfinite(sum[1]) && std::isfinite(sum[2])) return;
        // The plain sum overflows: add up parts of the mean, which rounding alone can carry beyond the largest double.
        constexpr double largest = std::numeric_limits<double>::max();
        const Vec parts = add(ids, count);
        for (int axis = 0; axis < dim_; ++axis) mean[axis] = std::clamp(parts[axis], -largest, largest);
    }

  private:
    using Vec = std::array<double, 3>;

    std::span<const double> points_;
    int dim_;
    index_t n_points_;

    Vec add(std::span<const index_t> ids, double divisor) const {
        Vec sum{};
        for (const index_t point : ids) {
            require_in_range(point, n_points_);
            for (int axis = 0; axis < dim_; ++axis) sum[axis] += points_[point * dim_ + axis] / divisor;
        }
        return sum;
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
