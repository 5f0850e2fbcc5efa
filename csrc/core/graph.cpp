#include "graph.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "checks.hpp"

namespace meshpart {

Finding check_graph(GraphView graph) {
    const index_t n = graph.n_vertices();
    const auto targets = graph.rows.entries;
    Vector<index_t> next(graph.rows.offsets.begin(), graph.rows.offsets.end() - 1);
    for (index_t v = 0; v < n; ++v) {
        index_t previous = -1;
        for (index_t entry = graph.rows.offsets[v]; entry < graph.rows.offsets[v + 1]; ++entry) {
            const index_t target = targets[entry];
            const auto found = [&](Flaw flaw) { return Finding{flaw, v, target}; };
            if (target < 0 || target >= n) return found(Flaw::target_out_of_range);
            if (target <= previous) return found(Flaw::not_ascending);
            if (target == v) return found(Flaw::loop);
            previous = target;
            const index_t back = next[target]++;
            if (back >= graph.rows.offsets[target + 1] || targets[back] != v) return found(Flaw::not_symmetric);
            if (graph.edge_weight(entry) < 0) return found(Flaw::negative_weight);
            if (graph.edge_weight(entry) != graph.edge_weight(back)) return found(Flaw::weights_differ);
        }
    }
    return {};
}

Graph contract(GraphView graph, std::span<const index_t> groups, index_t n_groups) {
    const index_t n = graph.n_vertices();
    std::vector<index_t> members(n);
    for (index_t v = 0; v < n; ++v) members[v] = groups[v] < 0 ? n_groups : groups[v];
    const Csr by_group = invert(std::span<const index_t>(members), n_groups + 1);
    Graph result;
    result.rows.offsets.reserve(n_groups + 1);
    std::vector<index_t> place(n_groups, -1);  // of a neighbour in the row that is being made
    std::vector<std::pair<index_t, weight_t>> row;
    for (index_t group = 0; group < n_groups; ++group) {
        row.clear();
        for (const index_t vertex : by_group.view()[group]) {
            for (index_t entry = graph.rows.offsets[vertex]; entry < graph.rows.offsets[vertex + 1]; ++entry) {
                require_in_range(graph.rows.entries[entry], n);
                const index_t other = members[graph.rows.entries[entry]];
                if (other == group || other == n_groups) continue;
                if (place[other] < 0) {
                    place[other] = std::ssize(row);
                    row.emplace_back(other, 0);
                }
                row[place[other]].second += graph.edge_weight(entry);
            }
        }
        for (const auto& [other, weight] : row) place[other] = -1;
        std::sort(row.begin(), row.end());
        for (const auto& [other, weight] : row) {
            result.rows.entries.push_back(other);
            result.edge_weights.push_back(weight);
        }
        result.rows.close_row();
    }
    return result;
}

}  // namespace meshpart
