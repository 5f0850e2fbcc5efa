#include "local_graph.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "checks.hpp"
#include "parallel.hpp"

namespace meshpart {
namespace {

constexpr index_t grain = 4096;

void require_whole(const PartGraph& graph) {
    const index_t n = graph.rows.n_rows(), n_starts = std::ssize(graph.row_starts);
    if (std::ssize(graph.global_ids) != n || (n_starts != 0 && n_starts != n) || graph.n_owned < 0 ||
        graph.n_owned > n) {
        throw std::invalid_argument("a graph of " + std::to_string(n) + " entities, " + std::to_string(graph.n_owned) +
                                    " of them owned, with " + std::to_string(graph.global_ids.size()) + " ids and " +
                                    std::to_string(n_starts) + " row starts");
    }
    if (!graph.edge_ids.empty() && graph.edge_ids.size() != graph.rows.entries.size()) {
        throw std::invalid_argument(std::to_string(graph.edge_ids.size()) + " ids for " +
                                    std::to_string(graph.rows.entries.size()) + " edges");
    }
}

// The owned entities in two rows: those all of whose chosen senders are owned, and the others.
template <class IsChosen>
Csr owned_receivers(const PartGraph& graph, IsChosen is_chosen, int threads) {
    const index_t n = graph.rows.n_rows();
    Vector<std::uint8_t> waits(graph.n_owned);  // for a ghost's value
    parallel_for(n, threads, grain, [&](index_t begin, index_t end, int) {
        for (index_t v = begin; v < end; ++v) {
            bool any = false;
            for (index_t entry = graph.rows.offsets[v]; entry < graph.rows.offsets[v + 1]; ++entry) {
                const index_t sender = graph.rows.entries[entry];
                require_in_range(sender, n);
                any |= sender >= graph.n_owned && is_chosen(entry);
            }
            if (v < graph.n_owned) waits[v] = any;
        }
    });
    Csr groups;
    groups.entries.reserve(n);
    for (const bool group : {false, true}) {
        for (index_t v = 0; v < graph.n_owned; ++v) {
            if ((waits[v] != 0) == group) groups.entries.push_back(v);
        }
        groups.close_row();
    }
    return groups;
}

// Appends a row of ghosts for each further step, as long as there are any: those that send to the row before.
void append_ghosts_by_hop(const PartGraph& graph, index_t steps, Csr& groups) {
    std::vector<bool> taken(graph.rows.n_rows() - graph.n_owned);
    for (index_t hop = 1; hop < steps; ++hop) {
        const index_t begin = *(groups.offsets.end() - 2), end = groups.offsets.back();
        for (index_t i = begin; i < end; ++i) {
            for (const index_t sender : graph.rows[groups.entries[i]]) {
                if (sender < graph.n_owned || taken[sender - graph.n_owned]) continue;
                taken[sender - graph.n_owned] = true;
                groups.entries.push_back(sender);
            }
        }
        if (std::ssize(groups.entries) == end) return;
        std::sort(groups.entries.begin() + end, groups.entries.end());
        groups.close_row();
    }
}

// The chosen edges to the receivers of each group.
template <class IsChosen>
LocalEdges edges_to(const PartGraph& graph, CsrView groups, IsChosen is_chosen, int threads) {
    const auto& receivers = groups.entries;
    const auto for_each_entry = [&](index_t v, auto&& visit) {
        for (index_t entry = graph.rows.offsets[v]; entry < graph.rows.offsets[v + 1]; ++entry) visit(entry);
    };
    Vector<index_t> places(receivers.size() + 1, 0);
    parallel_for(std::ssize(receivers), threads, grain, [&](index_t begin, index_t end, int) {
        for (index_t i = begin; i < end; ++i) {
            for_each_entry(receivers[i], [&](index_t entry) { places[i + 1] += is_chosen(entry); });
        }
    });
    for (index_t i = 0; i < std::ssize(receivers); ++i) places[i + 1] += places[i];

    const bool with_ids = !graph.row_starts.empty() || !graph.edge_ids.empty();
    const index_t n_edges = places.back();
    LocalEdges edges;
    for (const index_t offset : groups.offsets) edges.offsets.push_back(places[offset]);
    edges.ends.resize(2 * n_edges);
    edges.ids.resize(with_ids ? n_edges : 0);
    const auto id_of = [&](index_t sender) { return graph.global_ids[sender]; };
    std::vector<std::vector<std::pair<index_t, index_t>>> scratch(threads);  // global id of the sender, entry
    parallel_for(std::ssize(receivers), threads, grain, [&](index_t begin, index_t end, int worker) {
        auto& row = scratch[worker];
        for (index_t i = begin; i < end; ++i) {
            const index_t receiver = receivers[i];
            index_t place = places[i], rank = 0;
            const auto put = [&](index_t entry) {
                if (is_chosen(entry)) {
                    edges.ends[place] = graph.rows.entries[entry];
                    edges.ends[n_edges + place] = receiver;
                    if (!graph.edge_ids.empty()) {
                        edges.ids[place] = graph.edge_ids[entry];
                    } else if (with_ids) {
                        edges.ids[place] = graph.row_starts[receiver] + rank;
                    }
                    ++place;
                }
                ++rank;
            };
            if (std::ranges::is_sorted(graph.rows[receiver], {}, id_of)) {
                for_each_entry(receiver, put);
                continue;
            }
            row.clear();
            for_each_entry(receiver, [&](index_t entry) { row.emplace_back(id_of(graph.rows.entries[entry]), entry); });
            std::sort(row.begin(), row.end());
            for (const auto& [id, entry] : row) put(entry);
        }
    });
    return edges;
}

}  // namespace

LocalEdges edges_within(const PartGraph& graph, index_t steps, int threads) {
    require_whole(graph);
    const auto all = [](index_t) { return true; };
    Csr groups = owned_receivers(graph, all, threads);
    append_ghosts_by_hop(graph, steps, groups);
    return edges_to(graph, groups.view(), all, threads);
}

LocalEdges chosen_edges(const PartGraph& graph, std::span<const std::uint8_t> chosen, int threads) {
    require_whole(graph);
    if (chosen.size() != graph.rows.entries.size()) {
        throw std::invalid_argument(std::to_string(chosen.size()) + " flags for " +
                                    std::to_string(graph.rows.entries.size()) + " edges");
    }
    const auto is_chosen = [chosen](index_t entry) { return chosen[entry] != 0; };
    Csr groups = owned_receivers(graph, is_chosen, threads);
    for (index_t v = graph.n_owned; v < graph.rows.n_rows(); ++v) groups.entries.push_back(v);
    groups.close_row();
    return edges_to(graph, groups.view(), is_chosen, threads);
}

Vector<std::uint8_t> edges_of_own_alone(CsrView rows, CsrView own, CsrView lower, int threads) {
    if (own.n_rows() != rows.n_rows() || lower.n_rows() != rows.n_rows()) {
        throw std::invalid_argument("graphs of " + std::to_string(rows.n_rows()) + ", " + std::to_string(own.n_rows()) +
                                    " and " + std::to_string(lower.n_rows()) + " vertices");
    }
    Vector<std::uint8_t> result(rows.entries.size());
    parallel_for(rows.n_rows(), threads, grain, [&](index_t begin, index_t end, int) {
        for (index_t v = begin; v < end; ++v) {
            const auto owned = own[v], of_lower = lower[v];
            auto next_owned = owned.begin(), next_lower = of_lower.begin();
            const auto has = [](auto& next, auto last, index_t target) {
                while (next != last && *next < target) ++next;
                return next != last && *next == target;
            };
            for (index_t entry = rows.offsets[v]; entry < rows.offsets[v + 1]; ++entry) {
                const index_t target = rows.entries[entry];
                result[entry] = has(next_owned, owned.end(), target) && !has(next_lower, of_lower.end(), target);
            }
        }
    });
    return result;
}

}  // namespace meshpart
