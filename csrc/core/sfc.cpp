#include "sfc.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "hilbert.hpp"
#include "parallel.hpp"
#include "radix_sort.hpp"

namespace meshpart {
namespace {

constexpr index_t grain = 1 << 15;
constexpr double flat = 1e-6;  // an extent this small beside the largest distance is none

using Vec = std::array<double, 3>;

Vec minus(const Vec& a, const Vec& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
Vec cross(const Vec& a, const Vec& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Vec& a, const Vec& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
Vec times(const Vec& a, double s) {
    return {a[0] * s, a[1] * s, a[2] * s};
}
double length(const Vec& a) {
    return std::sqrt(dot(a, a));
}

int largest_axis(const Vec& a) {
    int axis = 0;
    for (int i = 1; i < 3; ++i) {
        if (std::abs(a[i]) > std::abs(a[axis])) axis = i;
    }
    return axis;
}

// Rows of coordinates, scaled by a power of two so that no difference, product or cross product overflows or vanishes.
struct Cloud {
    std::span<const double> rows;
    int dim;
    double scale = 1;

    index_t size() const { return std::ssize(rows) / dim; }
    double at(index_t row, int axis) const { return rows[row * dim + axis] * scale; }
    Vec point(index_t row) const {
        Vec p{};
        for (int axis = 0; axis < dim; ++axis) p[axis] = at(row, axis);
        return p;
    }
};

struct Farthest {
    double measure = -1;
    index_t row = 0;
};

// The row with the largest measure, the first of them on a tie.
template <class Measure>
Farthest farthest(const Cloud& cloud, int threads, Measure&& measure) {
    std::vector<Farthest> best((cloud.size() + grain - 1) / grain);
    parallel_for(cloud.size(), threads, grain, [&](index_t begin, index_t end, int) {
        Farthest found;
        for (index_t row = begin; row < end; ++row) {
            const double m = measure(cloud.point(row));
            if (m > found.measure) found = {m, row};
        }
        best[begin / grain] = found;
    });
    return *std::max_element(best.begin(), best.end(),
                             [](const Farthest& a, const Farthest& b) { return a.measure < b.measure; });
}

struct Axes {
    int count = 0;
    std::array<int, 3> axis{};
};

// The axes that the curve uses: all three, the two along which a plane is not projected, the one nearest a line.
Axes choose_axes(const Cloud& cloud, int threads) {
    const Vec first = cloud.point(0);
    const Farthest end = farthest(cloud, threads, [&](const Vec& p) { return length(minus(p, first)); });
    if (end.measure == 0) return {1, {0}};
    const Vec along = times(minus(cloud.point(end.row), first), 1 / end.measure);
    const Farthest side = farthest(cloud, threads, [&](const Vec& p) { return length(cross(minus(p, first), along)); });
    if (side.measure <= flat * end.measure) return {1, {largest_axis(along)}};
    if (cloud.dim == 2) return {2, {0, 1}};
    const Vec across = cross(along, times(minus(cloud.point(side.row), first), 1 / side.measure));
    const Vec normal = times(across, 1 / length(across));
    const Farthest off = farthest(cloud, threads, [&](const Vec& p) { return std::abs(dot(minus(p, first), normal)); });
    if (off.measure > flat * end.measure) return {3, {0, 1, 2}};
    const int dropped = largest_axis(normal);
    return {2, {dropped == 0 ? 1 : 0, dropped == 2 ? 1 : 2}};
}

// The bounding box of some rows, and the grid of the curve's cells in it.
template <int D>
class Grid {
  public:
    Grid(std::array<double, D> low, double extent) : low_(low), extent_(extent), factor_(cells / extent) {}

    // The key of a point of the box.
    std::uint64_t key(const std::array<double, D>& point) const {
        std::array<std::uint64_t, D> cell;
        for (int i = 0; i < D; ++i) {
            const double offset = point[i] - low_[i];
            const double place = std::isfinite(factor_) ? offset * factor_ : offset / extent_ * cells;
            cell[i] = std::min(static_cast<std::uint64_t>(place), (std::uint64_t{1} << hilbert_bits<D>)-1);
        }
        return hilbert_key<D>(cell);
    }

    double extent() const { return extent_; }

  private:
    static constexpr double cells = std::uint64_t{1} << hilbert_bits<D>;
    std::array<double, D> low_;
    double extent_;  // the longest side, the same scale on all axes
    double factor_;
};

template <int D>
class Curve {
  public:
    Curve(const Cloud& cloud, const Axes& axes, int threads) : cloud_(cloud), axes_(axes), threads_(threads) {}

    Vector<index_t> order() const {
        Vector<index_t> rows(cloud_.size());
        std::iota(rows.begin(), rows.end(), 0);
        sort(rows);
        return rows;
    }

  private:
    using Key = std::uint64_t;

    Cloud cloud_;
    Axes axes_;
    int threads_;

    // Sorts ascending rows along the curve: by radix where there are many, and what then still agrees by comparisons.
    void sort(std::span<index_t> rows) const {
        constexpr index_t many = 1 << 12;
        const Grid<D> grid = grid_around(rows);
        if (grid.extent() == 0) return;
        if (std::ssize(rows) < many) {
            sort_run(rows, grid);
            return;
        }
        // An item is the highest bits of a key and, in as many bits as needed, a place in `rows`.
        const int place_bits = static_cast<int>(std::bit_width(rows.size()));
        const Key places = (Key{1} << place_bits) - 1;
        Vector<Key> items(rows.size()), sorted(rows.size());
        parallel_for(std::ssize(rows), threads_, grain, [&](index_t begin, index_t end, int) {
            for (index_t i = begin; i < end; ++i) {
                const Key key = grid.key(point(rows[i])) << (64 - hilbert_bits<D> * D);
                items[i] = (key & ~places) | static_cast<Key>(i);
            }
        });
        radix_sort(items, sorted, threads_);
        parallel_for(std::ssize(rows), threads_, grain, [&](index_t begin, index_t end, int) {
            for (index_t i = begin; i < end; ++i) items[i] = static_cast<Key>(rows[sorted[i] & places]);
        });
        std::copy(items.begin(), items.end(), rows.begin());
        for_each_run(
            sorted, [](Key a, Key b) { return (a ^ b) >> (64 - radix_sorted_bits) == 0; },
            [&](index_t first, index_t count) { sort_run(rows.subspan(first, count), grid); });
    }

    // Sorts ascending rows by comparisons of their keys; rows with equal keys get a box of their own.
    void sort_run(std::span<index_t> rows, const Grid<D>& grid) const {
        std::vector<std::pair<Key, index_t>> keyed(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) keyed[i] = {grid.key(point(rows[i])), rows[i]};
        std::ranges::sort(keyed);
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = keyed[i].second;
        for_each_run(
            std::span(keyed), [](const auto& a, const auto& b) { return a.first == b.first; },
            [&](index_t first, index_t count) { sort(rows.subspan(first, count)); });
    }

    // Calls visit(first, count) for every run of two or more neighbours that agree.
    template <class Items, class Agree, class Visit>
    static void for_each_run(const Items& items, Agree&& agree, Visit&& visit) {
        for (std::size_t first = 0, last; first < items.size(); first = last) {
            for (last = first + 1; last < items.size() && agree(items[first], items[last]);) ++last;
            if (last - first > 1) visit(static_cast<index_t>(first), static_cast<index_t>(last - first));
        }
    }

    std::array<double, D> point(index_t row) const {
        std::array<double, D> p;
        for (int i = 0; i < D; ++i) p[i] = cloud_.at(row, axes_.axis[i]);
        return p;
    }

    Grid<D> grid_around(std::span<const index_t> rows) const {
        std::array<double, D> low = point(rows[0]), high = low;
        for (const index_t row : rows) {
            const auto p = point(row);
            for (int i = 0; i < D; ++i) {
                low[i] = std::min(low[i], p[i]);
                high[i] = std::max(high[i], p[i]);
            }
        }
        double extent = 0;
        for (int i = 0; i < D; ++i) extent = std::max(extent, high[i] - low[i]);
        return {low, extent};
    }
};

// The power of two that brings the largest coordinate to about one. Throws if a coordinate is not finite.
double unit_scale(std::span<const double> rows, int threads) {
    std::vector<double> largest((std::ssize(rows) + grain - 1) / grain);
    parallel_for(std::ssize(rows), threads, grain, [&](index_t begin, index_t end, int) {
        double found = 0;
        bool finite = true;
        for (index_t i = begin; i < end; ++i) {
            finite = finite && std::isfinite(rows[i]);
            found = std::max(found, std::abs(rows[i]));
        }
        if (!finite) throw std::invalid_argument("centroids must be finite");
        largest[begin / grain] = found;
    });
    const double most = *std::max_element(largest.begin(), largest.end());
    return most == 0 ? 1 : std::ldexp(1.0, -std::clamp(std::ilogb(most), -1000, 1000));
}

}  // namespace

Vector<index_t> hilbert_order(std::span<const double> centroids, int dim, int threads) {
    if (dim < 1 || dim > 3 || std::ssize(centroids) % dim != 0) {
        throw std::invalid_argument("centroids must be rows of 1, 2 or 3 coordinates");
    }
    if (centroids.empty()) return {};
    const Cloud cloud{centroids, dim, unit_scale(centroids, threads)};
    const Axes axes = choose_axes(cloud, threads);
    switch (axes.count) {
        case 1: return Curve<1>(cloud, axes, threads).order();
        case 2: return Curve<2>(cloud, axes, threads).order();
        default: return Curve<3>(cloud, axes, threads).order();
    }
}

}  // namespace meshpart
