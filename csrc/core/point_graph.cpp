#include "point_graph.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "checks.hpp"
#include "distribute.hpp"
#include "pair_rows.hpp"
#include "parallel.hpp"
#include "vector.hpp"

namespace meshpart {
namespace {

// A segment joins two consecutive points of an edge.
class Segments {
  public:
    Segments(const MeshView& mesh, const OutlineView& edges) : mesh_(mesh), edges_(edges) {
        const index_t n_blocks = mesh.n_blocks();
        if (std::ssize(edges.pattern_starts) != n_blocks + 1 || std::ssize(edges.polyhedra_before) != n_blocks) {
            throw std::invalid_argument("edges of " + std::to_string(edges.polyhedra_before.size()) +
                                        " blocks do not fit a mesh of " + std::to_string(n_blocks));
        }
        for (index_t block = 0; block < n_blocks; ++block) add_steps(block);
    }

    // Calls visit(a, b) for the segments of cells begin..end-1, the loops among them too.
    template <class Visit>
    void visit(index_t begin, index_t end, Visit&& visit) const {
        const auto starts = mesh_.block_starts;
        index_t block = std::ranges::upper_bound(starts, begin) - starts.begin() - 1;
        for (; block < mesh_.n_blocks() && starts[block] < end; ++block) {
            const index_t first = std::max(begin, starts[block]), last = std::min(end, starts[block + 1]);
            if (edges_.polyhedra_before[block] >= 0) {
                for (index_t cell = first; cell < last; ++cell) visit_faces(block, cell, visit);
            } else if (mesh_.block_corners[block] < 0) {
                for (index_t cell = first; cell < last; ++cell) visit_ring(mesh_.cells[cell], visit);
            } else if (step_starts_[block] < step_starts_[block + 1]) {
                for (index_t cell = first; cell < last; ++cell) visit_steps(block, mesh_.cells[cell], visit);
            }
        }
    }

  private:
    struct Step {
        index_t from, to;  // positions in a cell's row
    };

    const MeshView& mesh_;
    const OutlineView& edges_;
    std::vector<Step> steps_;
    std::vector<index_t> step_starts_{0};  // (n_blocks + 1)
    std::vector<index_t> least_lengths_;   // (n_blocks): of a row that has all positions

    void add_steps(index_t block) {
        index_t least = 0;
        for (index_t p = edges_.pattern_starts[block]; p < edges_.pattern_starts[block + 1]; ++p) {
            const auto pattern = edges_.patterns[p];
            for (index_t i = 0; i < std::ssize(pattern); ++i) {
                require_in_range(pattern[i], std::numeric_limits<index_t>::max());
                least = std::max(least, pattern[i] + 1);
                if (i > 0) steps_.push_back({pattern[i - 1], pattern[i]});
            }
        }
        step_starts_.push_back(std::ssize(steps_));
        least_lengths_.push_back(least);
    }

    template <class Visit>
    void visit_steps(index_t block, std::span<const index_t> points, Visit&& visit) const {
        if (std::ssize(points) < least_lengths_[block])
            throw_out_of_range(least_lengths_[block] - 1, std::ssize(points));
        for (index_t s = step_starts_[block]; s < step_starts_[block + 1]; ++s) {
            visit(points[steps_[s].from], points[steps_[s].to]);
        }
    }

    template <class Visit>
    void visit_ring(std::span<const index_t> points, Visit&& visit) const {
        for (index_t i = 0; i < std::ssize(points); ++i)
            visit(points[i], points[i + 1 == std::ssize(points) ? 0 : i + 1]);
    }

    template <class Visit>
    void visit_faces(index_t block, index_t cell, Visit&& visit) const {
        const auto points = mesh_.cells[cell];
        const index_t polyhedron = edges_.polyhedra_before[block] + cell - mesh_.block_starts[block];
        for (index_t f = edges_.face_starts[polyhedron]; f < edges_.face_starts[polyhedron + 1]; ++f) {
            visit_ring(edges_.faces[f], [&](index_t from, index_t to) {
                require_in_range(from, std::ssize(points));
                require_in_range(to, std::ssize(points));
                visit(points[from], points[to]);
            });
        }
    }
};

// Points in ranges of consecutive ids, so short that what is known of one range fits a cache.
class Ranges {
  public:
    explicit Ranges(index_t n_points) : n_points_(n_points) {
        constexpr index_t most_ranges = 1 << 11;
        while ((n_points - 1) >> shift >= most_ranges) ++shift;
        count = (n_points + (index_t{1} << shift) - 1) >> shift;
    }

    index_t count = 0;
    int shift = 9;

    index_t begin(index_t range) const { return std::min(range << shift, n_points_); }
    index_t end(index_t range) const { return begin(range + 1); }

  private:
    index_t n_points_;
};

// Pairs of a point and a neighbour, in a bucket for each range of points.
template <class Id>
using Pairs = Buckets<Pair<Id>>;

constexpr std::size_t few = 128;

// Of each point the neighbours with higher ids, ascending and each once; range after range.
template <class Id>
struct UpperRows {
    Vector<index_t> lengths;  // (n_points)
    std::vector<Vector<Id>> ranges;
};

// Moves the different values to the front, in any order, and returns how many they are. For few values, of which none
// is the largest Id: a hash table that lies in the nearest cache.
template <class Id>
index_t different_of_few(std::span<Id> values) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // Fibonacci hashing: Knuth, TAOCP 3, section 6.4
    constexpr Id none = std::numeric_limits<Id>::max();
    const auto bits = static_cast<int>(std::bit_width(2 * values.size()));
    const std::size_t last_slot = (std::size_t{1} << bits) - 1;
    std::array<Id, 4 * few> table;
    std::fill_n(table.begin(), last_slot + 1, none);
    auto end = values.begin();
    for (const Id value : values) {
        std::size_t slot = value * golden >> (64 - bits);
        while (table[slot] != value && table[slot] != none) slot = (slot + 1) & last_slot;
        if (table[slot] == none) *end++ = table[slot] = value;
    }
    return end - values.begin();
}

// Moves the different values to the front, ascending, and returns how many they are. Most rows are short and name each
// neighbour several times: 1 M tets, 6 M segments, took 0.14 s so, and 0.25 s where every row was sorted whole.
template <class Id>
index_t sort_unique(std::span<Id> values) {
    if (values.empty()) return 0;
    if (values.size() <= few) values = values.first(different_of_few(values));
    std::sort(values.begin(), values.end());
    return std::unique(values.begin(), values.end()) - values.begin();
}

template <class Id>
UpperRows<Id> upper_rows(const Pairs<Id>& segments, const Ranges& ranges, index_t n_points, int threads) {
    UpperRows<Id> rows{Vector<index_t>(n_points), std::vector<Vector<Id>>(ranges.count)};
    struct Scratch {
        std::vector<index_t> ends;
        Vector<Id> neighbours;
    };
    std::vector<Scratch> scratch(threads);
    parallel_for(ranges.count, threads, 1, [&](index_t range, index_t, int worker) {
        auto& [ends, neighbours] = scratch[worker];
        const auto pairs = segments[range];
        const index_t first = ranges.begin(range), n = ranges.end(range) - first;
        ends.assign(n + 1, 0);
        neighbours.resize(pairs.size());
        for (const auto& [point, _] : pairs) ++ends[point - first + 1];
        for (index_t i = 0; i < n; ++i) ends[i + 1] += ends[i];
        for (const auto& [point, neighbour] : pairs) neighbours[ends[point - first]++] = neighbour;
        index_t begin = 0, n_kept = 0;
        for (index_t i = 0; i < n; begin = ends[i++]) {
            const index_t length = sort_unique(std::span(neighbours).subspan(begin, ends[i] - begin));
            std::copy_n(neighbours.begin() + begin, length, neighbours.begin() + n_kept);
            rows.lengths[first + i] = length;
            n_kept += length;
        }
        rows.ranges[range].assign(neighbours.begin(), neighbours.begin() + n_kept);
    });
    return rows;
}

// Joins the rows of neighbours with higher ids and the pairs of points and neighbours with lower ids, in order.
template <class Id>
Csr whole_rows(const UpperRows<Id>& upper, const Pairs<Id>& lower, const Ranges& ranges, int threads) {
    const index_t n_points = std::ssize(upper.lengths);
    Csr rows{Vector<index_t>(n_points + 1), {}};
    index_t* lengths = rows.offsets.data() + 1;
    rows.offsets[0] = 0;
    parallel_for(ranges.count, threads, 1, [&](index_t range, index_t, int) {
        for (index_t point = ranges.begin(range); point < ranges.end(range); ++point)
            lengths[point] = upper.lengths[point];
        for (const auto& [point, _] : lower[range]) ++lengths[point];
    });
    for (index_t point = 0; point < n_points; ++point) rows.offsets[point + 1] += rows.offsets[point];
    rows.entries.resize(rows.offsets.back());
    parallel_for(ranges.count, threads, 1, [&](index_t range, index_t, int) {
        const index_t first = ranges.begin(range), end = ranges.end(range);
        std::vector<index_t> next(rows.offsets.begin() + first, rows.offsets.begin() + end);
        for (const auto& [point, neighbour] : lower[range]) rows.entries[next[point - first]++] = neighbour;
        auto neighbour = upper.ranges[range].begin();
        for (index_t point = first; point < end; ++point) {
            std::copy_n(neighbour, upper.lengths[point], rows.entries.begin() + next[point - first]);
            neighbour += upper.lengths[point];
        }
    });
    return rows;
}

}  // namespace

template <class Id>
Csr point_graph_in(const MeshView& mesh, const OutlineView& edges, int threads) {
    const Segments segments(mesh, edges);
    const Ranges ranges(mesh.n_points);
    const auto find_upper_rows = [&] {  // frees the segments at its end
        const auto by_lower_end = distribute<Pair<Id>>(
            mesh.n_cells(), 4096, ranges.count, threads, [&](index_t begin, index_t end, auto&& put) {
                segments.visit(begin, end, [&](index_t a, index_t b) {
                    require_in_range(a, mesh.n_points);
                    require_in_range(b, mesh.n_points);
                    if (a == b) return;
                    const index_t low = std::min(a, b), high = std::max(a, b);
                    put(low >> ranges.shift, {static_cast<Id>(low), static_cast<Id>(high)});
                });
            });
        return upper_rows(by_lower_end, ranges, mesh.n_points, threads);
    };
    const UpperRows<Id> upper = find_upper_rows();
    const auto lower =
        distribute<Pair<Id>>(ranges.count, 1, ranges.count, threads, [&](index_t first, index_t last, auto&& put) {
            for (index_t range = first; range < last; ++range) {
                auto neighbour = upper.ranges[range].begin();
                for (index_t point = ranges.begin(range); point < ranges.end(range); ++point) {
                    for (const auto end = neighbour + upper.lengths[point]; neighbour < end; ++neighbour) {
                        put(static_cast<index_t>(*neighbour >> ranges.shift), {*neighbour, static_cast<Id>(point)});
                    }
                }
            }
        });
    return whole_rows(upper, lower, ranges, threads);
}

template Csr point_graph_in<std::uint32_t>(const MeshView&, const OutlineView&, int);
template Csr point_graph_in<index_t>(const MeshView&, const OutlineView&, int);

Csr point_graph(const MeshView& mesh, const OutlineView& edges, int threads) {
    const bool short_ids = mesh.n_points <= std::numeric_limits<std::uint32_t>::max();
    return short_ids ? point_graph_in<std::uint32_t>(mesh, edges, threads)
                     : point_graph_in<index_t>(mesh, edges, threads);
}

}  // namespace meshpart
