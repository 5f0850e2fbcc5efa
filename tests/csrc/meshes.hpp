// Meshes to test with: built block by block, or drawn at random with everything that a mesh may have.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "compare.hpp"
#include "core/csr.hpp"
#include "core/types.hpp"
#include "random.hpp"

namespace meshpart::testing {

using Ids = std::vector<index_t>;
using Labels = std::vector<part_t>;

struct CellType {
    int dim;
    int n_corners;  // the corners come first; -1 if all points are corners
    int n_points;   // -1 if it varies
};

inline constexpr CellType vertex{0, 1, 1}, line{1, 2, 2}, line3{1, 2, 3}, triangle{2, 3, 3}, triangle6{2, 3, 6},
    quad{2, 4, 4}, polygon{2, -1, -1}, tetra{3, 4, 4}, tetra10{3, 4, 10}, polyhedron{3, -1, -1};
inline constexpr CellType every_type[] = {vertex, line,  line3,   triangle, triangle6,
                                          quad,   tetra, tetra10, polygon,  polyhedron};

// Owns the arrays of a MeshView.
struct Mesh {
    index_t n_points;
    Ids offsets{0}, points, block_starts{0}, widths;
    std::vector<std::int32_t> dims, corners;

    explicit Mesh(index_t count) : n_points(count) {}

    Mesh& add(const CellType& type, const std::vector<Ids>& cells) {
        for (const Ids& cell : cells) {
            points.insert(points.end(), cell.begin(), cell.end());
            offsets.push_back(std::ssize(points));
        }
        block_starts.push_back(std::ssize(offsets) - 1);
        dims.push_back(type.dim);
        corners.push_back(type.n_corners);
        const bool alike = std::ranges::all_of(cells, [&](const Ids& cell) { return cell.size() == cells[0].size(); });
        widths.push_back(type.n_points < 0 && alike && !cells.empty() ? std::ssize(cells[0]) : type.n_points);
        return *this;
    }

    MeshView view() const { return {n_points, {offsets, points}, block_starts, dims, corners, widths}; }
    index_t n_cells() const { return view().n_cells(); }
    index_t n_blocks() const { return view().n_blocks(); }

    Ids cell(index_t c) const { return {points.begin() + offsets[c], points.begin() + offsets[c + 1]}; }
    index_t block_of(index_t c) const {
        for (index_t b = 0;; ++b) {
            if (c < block_starts[b + 1]) return b;
        }
    }
    int dim_of(index_t c) const { return dims[block_of(c)]; }
    Ids corners_of(index_t c) const {
        Ids result = cell(c);
        if (corners[block_of(c)] >= 0) result.resize(corners[block_of(c)]);
        return result;
    }
};

// A mesh of up to `most_blocks` blocks in any order of types, some of them empty, with cells that name points at
// random: a point twice, a cell twice, and points that no cell names. Every other cell takes its points from the cell
// before.
inline Mesh random_mesh(Random& random, index_t most_points, index_t most_blocks, index_t most_cells) {
    Mesh mesh(random.integer(1, most_points));
    for (index_t b = random.integer(0, most_blocks); b > 0; --b) {
        const CellType& type = every_type[random.integer(0, std::ssize(every_type) - 1)];
        std::vector<Ids> cells;
        for (index_t c = random.chance(0.2) ? 0 : random.integer(0, most_cells); c > 0; --c) {
            const Ids from =
                random.chance(0.5) && mesh.n_cells() > 0 ? mesh.cell(random.integer(0, mesh.n_cells() - 1)) : Ids{};
            Ids cell(type.n_points < 0 ? random.integer(3, 6) : type.n_points);
            for (index_t& point : cell) {
                point =
                    from.empty() ? random.integer(0, mesh.n_points - 1) : from[random.integer(0, std::ssize(from) - 1)];
            }
            cells.push_back(cell);
        }
        mesh.add(type, cells);
    }
    return mesh;
}

// Quads of a grid: cell (i, j) has the points (i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1).
inline Mesh quad_grid(index_t width, index_t height) {
    const auto point = [width](index_t i, index_t j) { return j * (width + 1) + i; };
    std::vector<Ids> cells;
    for (index_t j = 0; j < height; ++j) {
        for (index_t i = 0; i < width; ++i) {
            cells.push_back({point(i, j), point(i + 1, j), point(i + 1, j + 1), point(i, j + 1)});
        }
    }
    return Mesh((width + 1) * (height + 1)).add(quad, cells);
}

// One label for each cell, of which some parts get none.
inline Labels random_labels(Random& random, const Mesh& mesh, index_t nparts) {
    Labels labels(mesh.n_cells());
    for (part_t& label : labels) label = static_cast<part_t>(random.integer(0, nparts - 1));
    return labels;
}

// Row p: the cells of part p.
inline Csr cells_of_parts(const Labels& labels, index_t nparts) {
    return invert(std::span<const part_t>(labels), nparts);
}

// For each point the cells that use it.
inline std::vector<std::set<index_t>> cells_on_points(const Mesh& mesh) {
    std::vector<std::set<index_t>> cells(mesh.n_points);
    for (index_t cell = 0; cell < mesh.n_cells(); ++cell) {
        for (const index_t point : mesh.cell(cell)) cells[point].insert(cell);
    }
    return cells;
}

// "A point belongs to the part that owns most of the cells on it, the lowest part on a tie; points that no cell uses
// belong to part 0."
inline std::vector<part_t> slow_owners(const Mesh& mesh, const Labels& labels, index_t nparts) {
    std::vector<part_t> owners;
    for (const auto& cells : cells_on_points(mesh)) {
        Ids cells_of(nparts, 0);
        for (const index_t cell : cells) ++cells_of[labels[cell]];
        part_t best = 0;
        for (part_t part = 0; part < nparts; ++part) {
            if (cells_of[part] > cells_of[best]) best = part;
        }
        owners.push_back(best);
    }
    return owners;
}

}  // namespace meshpart::testing
