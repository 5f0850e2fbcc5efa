#include "extent.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "parallel.hpp"

namespace meshpart {
namespace {

constexpr index_t grain = 1 << 15;
constexpr double infinity = std::numeric_limits<double>::infinity();

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
Vec normalized(const Vec& a) {
    const double length = std::sqrt(dot(a, a));
    return {a[0] / length, a[1] / length, a[2] / length};
}

int largest_axis(const Vec& a) {
    int axis = 0;
    for (int i = 1; i < 3; ++i) {
        if (std::abs(a[i]) > std::abs(a[axis])) axis = i;
    }
    return axis;
}

Vec point(const Cloud& cloud, index_t row) {
    Vec p{};
    for (int axis = 0; axis < cloud.dim; ++axis) p[axis] = cloud.at(row, axis);
    return p;
}

// Boxes of consecutive ranges of rows are joined in order, so that the first row wins and threads do not matter.
void join(Box& box, const Box& later) {
    for (int i = 0; i < 3; ++i) {
        if (later.low[i] < box.low[i]) box.low[i] = later.low[i], box.low_row[i] = later.low_row[i];
        if (later.high[i] > box.high[i]) box.high[i] = later.high[i], box.high_row[i] = later.high_row[i];
    }
}

Box unscaled_box(const Cloud& cloud, int threads) {
    constexpr Box nothing{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}, {}, {}};
    std::vector<Box> boxes((cloud.size() + grain - 1) / grain, nothing);
    parallel_for(cloud.size(), threads, grain, [&](index_t begin, index_t end, int) {
        Box& box = boxes[begin / grain];
        bool finite = true;
        for (index_t row = begin; row < end; ++row) {
            const Vec p = point(cloud, row);
            for (int i = 0; i < 3; ++i) finite = finite && std::isfinite(p[i]);
            join(box, {p, p, {row, row, row}, {row, row, row}});
        }
        if (!finite) throw std::invalid_argument("centroids must be finite");
    });
    for (std::size_t i = 1; i < boxes.size(); ++i) join(boxes[0], boxes[i]);
    return boxes[0];
}

// The row furthest from a line through `origin`, the first of them on a tie, and its distance.
std::pair<double, index_t> furthest_from_line(const Cloud& cloud, const Vec& origin, const Vec& along, int threads) {
    std::vector<std::pair<double, index_t>> found((cloud.size() + grain - 1) / grain, {-1.0, 0});
    parallel_for(cloud.size(), threads, grain, [&](index_t begin, index_t end, int) {
        auto& [most, most_row] = found[begin / grain];
        for (index_t row = begin; row < end; ++row) {
            const Vec across = cross(minus(point(cloud, row), origin), along);
            const double squared = dot(across, across);
            if (squared > most) most = squared, most_row = row;
        }
    });
    const auto [squared, row] = *std::ranges::max_element(found, {}, &std::pair<double, index_t>::first);
    return {std::sqrt(squared), row};
}

bool any_off_plane(const Cloud& cloud, const Vec& origin, const Vec& normal, double tolerance, int threads) {
    std::atomic<bool> any{false};
    parallel_for(cloud.size(), threads, grain, [&](index_t begin, index_t end, int) {
        if (any) return;
        for (index_t row = begin; row < end; ++row) {
            if (std::abs(dot(minus(point(cloud, row), origin), normal)) > tolerance) {
                any = true;
                return;
            }
        }
    });
    return any;
}

}  // namespace

ScaledCloud measure(std::span<const double> rows, int dim, int threads) {
    Cloud cloud{rows, dim};
    Box box = unscaled_box(cloud, threads);
    double most = 0;
    for (int i = 0; i < 3; ++i) most = std::max({most, std::abs(box.low[i]), std::abs(box.high[i])});
    if (most > 0) cloud.scale = std::ldexp(1.0, -std::clamp(std::ilogb(most), -1000, 1000));
    for (int i = 0; i < 3; ++i) {
        box.low[i] *= cloud.scale;
        box.high[i] *= cloud.scale;
    }
    return {cloud, box};
}

Axes spread_axes(const ScaledCloud& measured, int threads) {
    constexpr double flat = 1e-6;
    const auto& [cloud, box] = measured;
    const int longest = largest_axis(minus(box.high, box.low));
    const Vec origin = point(cloud, box.low_row[longest]);
    const Vec end = point(cloud, box.high_row[longest]);
    const double length = std::sqrt(dot(minus(end, origin), minus(end, origin)));
    if (length == 0) return {1, {longest}};  // or so short that its square is
    const Vec along = normalized(minus(end, origin));
    const auto [width, side] = furthest_from_line(cloud, origin, along, threads);
    if (width <= flat * length) return {1, {largest_axis(along)}};
    if (cloud.dim == 2) return {2, {0, 1}};
    const Vec normal = normalized(cross(along, minus(point(cloud, side), origin)));
    if (any_off_plane(cloud, origin, normal, flat * length, threads)) return {3, {0, 1, 2}};
    const int dropped = largest_axis(normal);
    return {2, {dropped == 0 ? 1 : 0, dropped == 2 ? 1 : 2}};
}

}  // namespace meshpart
