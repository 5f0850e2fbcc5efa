// The facets of the types that test meshes are made of.
#pragma once

#include <set>
#include <vector>

#include "core/outline.hpp"
#include "meshes.hpp"

namespace meshpart::testing {

inline std::vector<Ids> facets_of_type(int dim, int n_corners) {
    if (dim == 1) return {{0}, {1}};
    if (dim == 2 && n_corners == 3) return {{0, 1}, {1, 2}, {2, 0}};
    if (dim == 2 && n_corners == 4) return {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
    if (dim == 3 && n_corners == 4) return {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
    return {};
}

// Owns the arrays of an OutlineView: the facets of a mesh, those of polyhedra drawn at random, up to all their points.
struct Facets {
    Csr patterns, faces;
    Ids pattern_starts{0}, face_starts{0}, polyhedra_before;

    Facets(const Mesh& mesh, Random& random) {
        for (index_t b = 0; b < mesh.n_blocks(); ++b) {
            if (mesh.corners[b] >= 0) {
                for (const Ids& facet : facets_of_type(mesh.dims[b], mesh.corners[b])) add(patterns, facet);
            }
            pattern_starts.push_back(patterns.view().n_rows());
            const bool polyhedra = mesh.corners[b] < 0 && mesh.dims[b] == 3;
            polyhedra_before.push_back(polyhedra ? std::ssize(face_starts) - 1 : -1);
            for (index_t c = mesh.block_starts[b]; polyhedra && c < mesh.block_starts[b + 1]; ++c) {
                const index_t n_points = std::ssize(mesh.cell(c));
                for (index_t f = random.integer(1, 4); f > 0; --f) {
                    Ids face(random.integer(3, 8));
                    for (index_t& position : face) position = random.integer(0, n_points - 1);
                    add(faces, face);
                }
                face_starts.push_back(faces.view().n_rows());
            }
        }
    }

    OutlineView view() const { return {patterns.view(), pattern_starts, faces.view(), face_starts, polyhedra_before}; }

    // The distinct corners of each facet of a cell.
    std::vector<std::set<index_t>> of(const Mesh& mesh, index_t cell) const {
        const index_t block = mesh.block_of(cell);
        const Ids points = mesh.cell(cell);
        std::vector<std::set<index_t>> result;
        const auto take = [&](const auto& positions) {
            std::set<index_t> corners;
            for (const index_t position : positions) corners.insert(points[position]);
            if (std::ssize(corners) >= mesh.dims[block]) result.push_back(corners);
        };
        if (mesh.corners[block] >= 0) {
            for (index_t f = pattern_starts[block]; f < pattern_starts[block + 1]; ++f) take(patterns.view()[f]);
        } else if (mesh.dims[block] == 2) {
            for (index_t i = 0; i < std::ssize(points); ++i) take(Ids{i, (i + 1) % std::ssize(points)});
        } else {
            const index_t number = polyhedra_before[block] + cell - mesh.block_starts[block];
            for (index_t f = face_starts[number]; f < face_starts[number + 1]; ++f) take(faces.view()[f]);
        }
        return result;
    }

  private:
    static void add(Csr& rows, const Ids& row) {
        rows.entries.insert(rows.entries.end(), row.begin(), row.end());
        rows.close_row();
    }
};

}  // namespace meshpart::testing
