// Where rows of coordinates lie, and in how many dimensions.
#pragma once

#include <array>
#include <span>

#include "types.hpp"

namespace meshpart {

// Rows of coordinates, scaled by a power of two so that no difference, product or cross product overflows or vanishes.
struct Cloud {
    std::span<const double> rows;  // (size, dim), row by row
    int dim;                       // 1..3
    double scale = 1;

    index_t size() const { return std::ssize(rows) / dim; }
    double at(index_t row, int axis) const { return rows[row * dim + axis] * scale; }
};

// The smallest and the largest coordinate on each axis, scaled, and the first row of each.
struct Box {
    std::array<double, 3> low, high;
    std::array<index_t, 3> low_row, high_row;
};

struct ScaledCloud {
    Cloud cloud;
    Box box;
};

// Finds scale and box of rows, at least one. Throws std::invalid_argument if a coordinate is not finite.
ScaledCloud measure(std::span<const double> rows, int dim, int threads);

// Some of the axes x, y, z.
struct Axes {
    int count;
    std::array<int, 3> axis;
};

// The axes along which the rows spread: all of them; for rows in a plane, the two along which it is not projected when
// it is projected along the axis nearest its normal; for rows on a line, the axis nearest to it. Rows are in a plane or
// on a line if none is further from it than 1e-6 of their extent.
Axes spread_axes(const ScaledCloud& cloud, int threads);

}  // namespace meshpart
