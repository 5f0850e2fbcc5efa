#include "in_edges.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <vector>

#include "checks.hpp"
#include "distribute.hpp"
#include "parallel.hpp"

namespace meshpart {
namespace {

// First into blocks of targets that fit a cache, then each block by counting, which keeps the order of the edges.
template <class Id>
InEdges turned_round(CsrView graph, std::span<const index_t> names, int threads) {
    struct Edge {
        Id target, sender, number;
    };
    const index_t n = graph.n_rows(), n_edges = std::ssize(graph.entries);
    const int row_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n)));
    const int shift = std::max(0, row_bits - bucket_bits(n_edges));
    const index_t n_blocks = (n >> shift) + 1;
    const auto blocks = distribute<Edge>(n, 4096, n_blocks, threads, [&](index_t begin, index_t end, auto&& put) {
        for (index_t vertex = begin; vertex < end; ++vertex) {
            const auto sender = static_cast<Id>(names[vertex]);
            for (index_t number = graph.offsets[vertex]; number < graph.offsets[vertex + 1]; ++number) {
                const index_t target = graph.entries[number];
                require_in_range(target, n);
                put(target >> shift, {static_cast<Id>(target), sender, static_cast<Id>(number)});
            }
        }
    });

    InEdges result{Vector<index_t>(n + 1), Vector<index_t>(n_edges), Vector<index_t>(n_edges)};
    result.offsets[n] = n_edges;
    std::vector<std::vector<index_t>> scratch(threads);
    parallel_for(n_blocks, threads, 1, [&](index_t block, index_t, int worker) {
        const index_t first = block << shift, last = std::min(n, (block + 1) << shift);
        auto& next = scratch[worker];
        next.assign(std::max<index_t>(0, last - first) + 1, 0);
        for (const Edge& edge : blocks[block]) ++next[edge.target - first + 1];
        next[0] = blocks.offsets[block];
        std::partial_sum(next.begin(), next.end(), next.begin());
        std::copy(next.begin(), next.end() - 1, result.offsets.begin() + first);
        for (const Edge& edge : blocks[block]) {
            const index_t place = next[edge.target - first]++;
            result.senders[place] = edge.sender;
            result.edges[place] = edge.number;
        }
    });
    return result;
}

}  // namespace

InEdges in_edges(CsrView graph, std::span<const index_t> names, int threads) {
    constexpr index_t most = std::numeric_limits<std::int32_t>::max();
    return graph.n_rows() < most && std::ssize(graph.entries) < most ? turned_round<std::int32_t>(graph, names, threads)
                                                                     : turned_round<index_t>(graph, names, threads);
}

}  // namespace meshpart
