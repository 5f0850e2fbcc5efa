#include "dual_graph.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "attachment.hpp"
#include "distribute.hpp"
#include "facets.hpp"
#include "incidence.hpp"
#include "pair_rows.hpp"

namespace meshpart {
namespace {

// The distinct corners of a facet, ascending, then `none`. One with more corners than N, which is 4 then, holds its
// first corner, a hash of them all, its number in its cell, and `large`.
template <class Id, std::size_t N>
struct Facet {
    static constexpr Id none = std::numeric_limits<Id>::max(), large = none - 1;

    std::array<Id, N> corners;
    Id cell;

    bool is_large() const {
        if constexpr (N == 4) return corners[3] == large;
        return false;
    }
    std::uint64_t hash() const {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < N; ++i) {
            value = (value ^ (i == 2 && is_large() ? 0 : corners[i])) * 0x9e3779b97f4a7c15u;
            value ^= value >> 32;
        }
        return value * 0x9e3779b97f4a7c15u;
    }
};

// Finds the cells of equal dimension that share a facet, in numbers as wide as Id, for facets of at most N corners, or
// of any number where N is 4.
template <class Id, std::size_t N>
class Matcher {
  public:
    using Record = Facet<Id, N>;

    Matcher(const MeshView& mesh, const OutlineView& facets, std::span<const std::uint8_t> kinds)
        : mesh_(mesh), reader_(mesh, facets), kinds_(kinds) {}

    PairLists<Id> pairs(index_t n_facets, int threads, index_t& n_chained) const {
        const int bits = bucket_bits(n_facets);
        const auto buckets = distribute<Record>(
            mesh_.n_cells(), 4096, index_t{1} << bits, threads, [&](index_t begin, index_t end, auto&& put) {
                for_each_facet(begin, end, [&](const Record& facet) {
                    put(bits == 0 ? 0 : static_cast<index_t>(facet.hash() >> (64 - bits)), facet);
                });
            });
        PairLists<Id> result(buckets.count());
        std::vector<index_t> chained(buckets.count(), 0);
        std::vector<Scratch> scratch(threads);
        parallel_for(buckets.count(), threads, 1, [&](index_t bucket, index_t, int worker) {
            chained[bucket] = match(buckets[bucket], scratch[worker], result[bucket]);
        });
        n_chained += std::accumulate(chained.begin(), chained.end(), index_t{0});
        return result;
    }

  private:
    struct Scratch {
        std::vector<std::int32_t> last;    // an open hash table: of each facet, the record that came last; or -1
        std::vector<std::int32_t> before;  // of each record, the one before with the same corners, or -1
        std::vector<Id> cells;
    };

    const MeshView& mesh_;
    FacetReader reader_;
    std::span<const std::uint8_t> kinds_;

    template <class Visit>
    void for_each_facet(index_t begin, index_t end, Visit&& visit) const {
        std::vector<index_t> corners;
        for (index_t block = 0; block < mesh_.n_blocks(); ++block) {
            const index_t first = std::max(begin, mesh_.block_starts[block]);
            const index_t last = std::min(end, mesh_.block_starts[block + 1]);
            for (index_t cell = first; cell < last; ++cell) {
                if (kinds_[cell] == attached || mesh_.block_dims[block] == 0) continue;
                Record facet;
                facet.cell = static_cast<Id>(cell);
                const index_t count = reader_.count(block, cell);
                for (index_t number = 0; number < count; ++number) {
                    if (!reader_.read_few(block, cell, number, facet.corners)) {
                        reader_.read(block, cell, number, corners);
                        if (std::ssize(corners) < mesh_.block_dims[block]) continue;
                        fill(facet, corners, number);
                    }
                    visit(facet);
                }
            }
        }
    }

    static void fill(Record& facet, const std::vector<index_t>& corners, index_t number) {
        facet.corners.fill(Record::none);
        if (corners.size() <= N) {
            std::ranges::transform(corners, facet.corners.begin(), [](index_t p) { return static_cast<Id>(p); });
        } else if constexpr (N == 4) {
            std::uint64_t hash = 0;
            for (const index_t point : corners) hash = (hash ^ point) * 0x9e3779b97f4a7c15u, hash ^= hash >> 32;
            facet.corners = {static_cast<Id>(corners[0]), static_cast<Id>(hash >> 32), static_cast<Id>(number),
                             Record::large};
        }
    }

    bool same(const Record& a, const Record& b) const {
        if (a.corners[0] != b.corners[0] || a.corners[1] != b.corners[1]) return false;
        if (!a.is_large() || !b.is_large()) {
            for (std::size_t i = 2; i < N; ++i) {
                if (a.corners[i] != b.corners[i]) return false;
            }
            return true;
        }
        std::vector<index_t> corners_a, corners_b;
        read_large(a, corners_a);
        read_large(b, corners_b);
        return corners_a == corners_b;
    }

    void read_large(const Record& facet, std::vector<index_t>& corners) const {
        const auto cell = static_cast<index_t>(facet.cell);
        const auto after = std::upper_bound(mesh_.block_starts.begin(), mesh_.block_starts.end(), cell);
        reader_.read(after - mesh_.block_starts.begin() - 1, cell, static_cast<index_t>(facet.corners[2]), corners);
    }

    // Appends the pairs of cells with a common facet in a bucket; returns how many facets were made a chain of.
    index_t match(std::span<const Record> facets, Scratch& scratch, std::vector<Pair<Id>>& pairs) const {
        if (std::ssize(facets) > std::numeric_limits<std::int32_t>::max()) {
            throw std::length_error(std::to_string(facets.size()) + " facets in one bucket: too many alike");
        }
        const std::size_t mask = std::bit_ceil(2 * facets.size() + 1) - 1;
        scratch.last.assign(mask + 1, -1);
        scratch.before.assign(facets.size(), -1);
        for (std::int32_t i = 0; i < std::ssize(facets); ++i) {
            std::size_t slot = facets[i].hash() & mask;
            while (scratch.last[slot] >= 0 && !same(facets[scratch.last[slot]], facets[i])) slot = (slot + 1) & mask;
            scratch.before[i] = std::exchange(scratch.last[slot], i);
        }
        index_t n_chained = 0;
        pairs.reserve(facets.size() / 2);
        for (const std::int32_t last : scratch.last) {
            if (last < 0 || scratch.before[last] < 0) continue;
            auto& cells = scratch.cells;  // descending, since records ascend
            cells.clear();
            for (std::int32_t i = last; i >= 0; i = scratch.before[i]) {
                if (cells.empty() || cells.back() != facets[i].cell) cells.push_back(facets[i].cell);
            }
            const bool chain = std::ssize(cells) > most_paired;
            n_chained += chain;
            for (std::size_t i = 0; i < cells.size(); ++i) {
                const std::size_t end = chain ? std::min(i + 2, cells.size()) : cells.size();
                for (std::size_t j = i + 1; j < end; ++j) pairs.push_back({cells[j], cells[i]});
            }
        }
        return n_chained;
    }
};

// Joins free cells with the higher-dimensional ones that hold a facet of theirs.
class CrossDimension {
  public:
    CrossDimension(const MeshView& mesh, const OutlineView& facets, std::span<const std::uint8_t> kinds)
        : mesh_(mesh), reader_(mesh, facets), kinds_(kinds) {}

    template <class Id>
    void append(std::vector<Pair<Id>>& pairs, index_t& n_chained) const {
        std::vector<std::pair<std::vector<index_t>, index_t>> facets;  // of free cells: corners, cell
        for_each_partitioned([&](index_t block, index_t cell) {
            if (kinds_[cell] != free_cell || mesh_.block_dims[block] == 0) return;
            std::vector<index_t> corners;
            for (index_t facet = 0; facet < reader_.count(block, cell); ++facet) {
                reader_.read(block, cell, facet, corners);
                if (std::ssize(corners) >= mesh_.block_dims[block]) facets.emplace_back(corners, cell);
            }
        });
        if (facets.empty()) return;
        std::sort(facets.begin(), facets.end());
        facets.erase(std::unique(facets.begin(), facets.end()), facets.end());
        std::vector<std::int32_t> dims(mesh_.n_cells());
        for_each_partitioned([&](index_t block, index_t cell) { dims[cell] = mesh_.block_dims[block]; });
        const Incidence incidence(
            mesh_.n_points,
            [&](auto&& visit) {
                for (const auto& [corners, cell] : facets) std::ranges::for_each(corners, visit);
            },
            [&](auto&& visit) {
                for_each_partitioned([&](index_t block, index_t cell) {
                    if (dims[cell] < 2) return;  // a facet lies in cells of dimension 2 at least
                    for (const index_t point : mesh_.corners(block, cell)) visit(point, cell);
                });
            });
        std::vector<index_t> higher;
        for (std::size_t begin = 0, end = 0; begin < facets.size(); begin = end) {
            const auto& corners = facets[begin].first;
            while (end < facets.size() && facets[end].first == corners) ++end;
            higher.clear();
            incidence.for_each_holding(corners, [&](index_t cell) {
                if (dims[cell] > dims[facets[begin].second]) higher.push_back(cell);
            });
            const std::span lower(facets.begin() + begin, facets.begin() + end);
            const auto join = [&](std::size_t i, std::size_t j) {
                pairs.push_back({static_cast<Id>(lower[i].second), static_cast<Id>(higher[j])});
            };
            if (std::ssize(lower) + std::ssize(higher) <= most_paired || lower.size() == 1 || higher.size() <= 1) {
                for (std::size_t i = 0; i < lower.size(); ++i) {
                    for (std::size_t j = 0; j < higher.size(); ++j) join(i, j);
                }
                continue;
            }
            ++n_chained;
            for (std::size_t i = 0; i < std::max(lower.size(), higher.size()); ++i) {
                join(std::min(i, lower.size() - 1), std::min(i, higher.size() - 1));
                if (i + 1 < lower.size() && i < higher.size()) join(i + 1, i);
            }
        }
    }

  private:
    const MeshView& mesh_;
    FacetReader reader_;
    std::span<const std::uint8_t> kinds_;

    template <class Visit>
    void for_each_partitioned(Visit&& visit) const {
        for (index_t block = 0; block < mesh_.n_blocks(); ++block) {
            for (index_t cell = mesh_.block_starts[block]; cell < mesh_.block_starts[block + 1]; ++cell) {
                if (kinds_[cell] != attached) visit(block, cell);
            }
        }
    }
};

// How many facets there are at most, and whether one may have more than three corners.
struct Size {
    index_t n_facets = 0;
    bool beyond_three = false;

    Size(const MeshView& mesh, const OutlineView& facets) {
        for (index_t block = 0; block < mesh.n_blocks(); ++block) {
            const index_t first = mesh.block_starts[block], last = mesh.block_starts[block + 1];
            if (mesh.block_corners[block] >= 0) {
                const index_t begin = facets.pattern_starts[block], end = facets.pattern_starts[block + 1];
                n_facets += (last - first) * (end - begin);
                for (index_t f = begin; f < end; ++f) beyond_three |= facets.patterns[f].size() > 3;
            } else if (mesh.block_dims[block] == 2) {
                n_facets += mesh.cells.offsets[last] - mesh.cells.offsets[first];
            } else {
                const index_t begin = facets.polyhedra_before[block];
                n_facets += facets.face_starts[begin + last - first] - facets.face_starts[begin];
                beyond_three = true;
            }
        }
    }
};

template <class Id, std::size_t N>
DualGraph dual_graph_of(const MeshView& mesh, const OutlineView& facets, std::span<const std::uint8_t> kinds,
                        index_t n_facets, int threads) {
    DualGraph result;
    auto lists = Matcher<Id, N>(mesh, facets, kinds).pairs(n_facets, threads, result.n_chained);
    CrossDimension(mesh, facets, kinds).append(lists.emplace_back(), result.n_chained);
    result.rows = rows_of_pairs(lists, mesh.n_cells(), threads);
    return result;
}

}  // namespace

DualGraph dual_graph(const MeshView& mesh, const OutlineView& facets, std::span<const std::uint8_t> kinds,
                     int threads) {
    const Size size(mesh, facets);
    constexpr index_t narrow = std::numeric_limits<std::uint32_t>::max() - 1;
    if (std::max({mesh.n_points, mesh.n_cells(), size.n_facets}) >= narrow) {
        return dual_graph_of<std::uint64_t, 4>(mesh, facets, kinds, size.n_facets, threads);
    }
    return size.beyond_three ? dual_graph_of<std::uint32_t, 4>(mesh, facets, kinds, size.n_facets, threads)
                             : dual_graph_of<std::uint32_t, 3>(mesh, facets, kinds, size.n_facets, threads);
}

}  // namespace meshpart
