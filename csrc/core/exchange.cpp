#include "exchange.hpp"

#include <algorithm>
#include <tuple>

namespace meshpart {
namespace {

constexpr std::size_t candidates_tried = 32;

}  // namespace

void keep_cheapest(std::vector<Candidate>& candidates) {
    const auto kept = std::min(candidates.size(), candidates_tried);
    std::ranges::partial_sort(candidates, candidates.begin() + kept);
    candidates.resize(kept);
}

weight_t edge_between(const GraphView& graph, index_t a, index_t b) {
    const auto row = graph.rows[a];
    const auto found = std::ranges::lower_bound(row, b);
    if (found == row.end() || *found != b) return 0;
    return graph.edge_weight(graph.rows.offsets[a] + (found - row.begin()));
}

Exchange best_exchange(const GraphView& graph, std::vector<Candidate>& out, std::vector<Candidate>& back,
                       weight_t enough, weight_t most) {
    keep_cheapest(out);
    keep_cheapest(back);
    Exchange best;
    std::tuple<bool, double, weight_t> best_rank;
    for (const Candidate& a : out) {
        for (const Candidate& b : back) {
            const weight_t shifted = a.weight - b.weight;
            if (shifted <= 0 || shifted > most) continue;
            // An edge between the two stays cut, though each of them alone would mend it.
            const auto cost = static_cast<double>(a.cost + b.cost + 2 * edge_between(graph, a.vertex, b.vertex));
            const auto taken = static_cast<double>(std::min(shifted, enough));
            const std::tuple rank(shifted < enough, cost < 0 ? cost * taken : cost / taken, -shifted);
            if (best.out < 0 || rank < best_rank) {
                best = {a.vertex, b.vertex, shifted};
                best_rank = rank;
            }
        }
    }
    return best;
}

}  // namespace meshpart
