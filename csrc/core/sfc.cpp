#include "sfc.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "extent.hpp"
#include "hilbert.hpp"
#include "parallel.hpp"
#include "radix_sort.hpp"

namespace meshpart {
namespace {

constexpr index_t grain = 1 << 15;

using Key = std::uint64_t;

// The cells of the curve in a box, equally long on all axes.
template <int D>
class Grid {
  public:
    Grid(const std::array<double, D>& low, const std::array<double, D>& high) : low_(low) {
        for (int i = 0; i < D; ++i) extent_ = std::max(extent_, high[i] - low[i]);
        factor_ = cells / extent_;
    }

    // The key of a point of the box.
    Key key(const std::array<double, D>& point) const {
        std::array<Key, D> cell;
        for (int i = 0; i < D; ++i) {
            const double offset = point[i] - low_[i];
            const double place = std::isfinite(factor_) ? offset * factor_ : offset / extent_ * cells;
            cell[i] = std::min(static_cast<Key>(place), (Key{1} << hilbert_bits<D>)-1);
        }
        return hilbert_key<D>(cell);
    }

    double extent() const { return extent_; }

  private:
    static constexpr double cells = Key{1} << hilbert_bits<D>;
    std::array<double, D> low_;
    double extent_ = 0;
    double factor_;
};

// Calls visit(first, count) for every run of two or more neighbours that agree.
template <class Items, class Agree, class Visit>
void for_each_run(const Items& items, Agree&& agree, Visit&& visit) {
    for (std::size_t first = 0, last; first < items.size(); first = last) {
        for (last = first + 1; last < items.size() && agree(items[first], items[last]);) ++last;
        if (last - first > 1) visit(first, last - first);
    }
}

template <int D>
class Curve {
  public:
    Curve(const Cloud& cloud, const Axes& axes, int threads) : cloud_(cloud), axes_(axes), threads_(threads) {}

    Vector<index_t> order(const Box& box) const {
        Vector<index_t> rows(cloud_.size());
        std::iota(rows.begin(), rows.end(), 0);
        std::array<double, D> low, high;
        for (int i = 0; i < D; ++i) low[i] = box.low[axes_.axis[i]], high[i] = box.high[axes_.axis[i]];
        sort(rows, Grid<D>(low, high));
        return rows;
    }

  private:
    Cloud cloud_;
    Axes axes_;
    int threads_;

    // Sorts ascending rows along the curve: by radix where they are many, then by comparisons what still agrees.
    void sort(std::span<index_t> rows, const Grid<D>& grid) const {
        constexpr index_t many = 1 << 12;
        if (grid.extent() == 0) return;
        if (std::ssize(rows) < many) {
            sort_by_comparison(rows, grid);
            return;
        }
        // An item is the highest bits of a key and, in as many bits as rows need, a row.
        const Key row_mask = std::bit_ceil(static_cast<Key>(cloud_.size()) + 1) - 1;
        Vector<Key> items(rows.size()), sorted(rows.size());
        parallel_for(std::ssize(rows), threads_, grain, [&](index_t begin, index_t end, int) {
            for (index_t i = begin; i < end; ++i) {
                const Key key = grid.key(point(rows[i])) << (64 - hilbert_bits<D> * D);
                items[i] = (key & ~row_mask) | static_cast<Key>(rows[i]);
            }
        });
        radix_sort(items, sorted, threads_);
        parallel_for(std::ssize(rows), threads_, grain, [&](index_t begin, index_t end, int) {
            for (index_t i = begin; i < end; ++i) rows[i] = static_cast<index_t>(sorted[i] & row_mask);
        });
        const auto agree = [=](Key a, Key b) { return ((a ^ b) & ~row_mask) >> (64 - radix_sorted_bits) == 0; };
        for_each_run(sorted, agree, [&](std::size_t first, std::size_t count) {
            sort_by_comparison(rows.subspan(first, count), grid);
        });
    }

    // Sorts ascending rows by comparisons of their keys; rows with equal keys get a grid of their own.
    void sort_by_comparison(std::span<index_t> rows, const Grid<D>& grid) const {
        std::vector<std::pair<Key, index_t>> keyed(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) keyed[i] = {grid.key(point(rows[i])), rows[i]};
        std::ranges::sort(keyed);
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = keyed[i].second;
        const auto agree = [](const auto& a, const auto& b) { return a.first == b.first; };
        for_each_run(keyed, agree, [&](std::size_t first, std::size_t count) {
            const auto run = rows.subspan(first, count);
            sort(run, grid_around(run));
        });
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
            for (int i = 0; i < D; ++i) low[i] = std::min(low[i], p[i]), high[i] = std::max(high[i], p[i]);
        }
        return {low, high};
    }
};

}  // namespace

Vector<index_t> hilbert_order(std::span<const double> centroids, int dim, int threads) {
    if (dim < 1 || dim > 3 || std::ssize(centroids) % dim != 0) {
        throw std::invalid_argument("centroids must be rows of 1, 2 or 3 coordinates");
    }
    if (centroids.empty()) return {};
    const ScaledCloud measured = measure(centroids, dim, threads);
    const Axes axes = spread_axes(measured, threads);
    switch (axes.count) {
        case 1: return Curve<1>(measured.cloud, axes, threads).order(measured.box);
        case 2: return Curve<2>(measured.cloud, axes, threads).order(measured.box);
        default: return Curve<3>(measured.cloud, axes, threads).order(measured.box);
    }
}

}  // namespace meshpart
