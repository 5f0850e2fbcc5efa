#include "graph_parts.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "checks.hpp"
#include "in_edges.hpp"
#include "parallel.hpp"

namespace meshpart {
namespace {

// A graph whose vertices have owners, the edges seen from where they lead to.
struct OwnedGraph {
    const InEdges& in;
    std::span<const part_t> owners;
};

struct Ghost {
    part_t owner;
    std::int32_t layer;
    index_t vertex;
};

// The numbers of some vertices. To forget them costs nothing, so that parts can follow each other.
class Numbers {
  public:
    void restart(index_t n_vertices) {
        if (entries_.empty()) entries_.assign(n_vertices, {0, 0});
        ++round_;
    }
    // Whether the vertex has had no number until now.
    bool add(index_t vertex, index_t number) {
        Entry& entry = entries_[vertex];
        if (entry.round == round_) return false;
        entry = {round_, static_cast<std::int32_t>(number)};
        return true;
    }
    bool has(index_t vertex) const { return entries_[vertex].round == round_; }
    index_t operator[](index_t vertex) const { return entries_[vertex].number; }

  private:
    struct Entry {
        std::uint32_t round;
        std::int32_t number;
    };
    Vector<Entry> entries_;  // (n_vertices)
    std::uint32_t round_ = 0;
};

// The ghosts that a part has for some of its vertices, by (owner, id).
//
//   among(v)  whether vertex v may be a ghost
template <class Among>
std::vector<Ghost> ghosts_of(const OwnedGraph& graph, part_t part, std::span<const index_t> vertices,
                             std::int32_t layers, Numbers& reached, Among&& among) {
    reached.restart(graph.in.n_vertices());
    std::vector<Ghost> ghosts;
    const auto follow_back = [&](index_t vertex, std::int32_t layer) {
        for (index_t entry = graph.in.offsets[vertex]; entry < graph.in.offsets[vertex + 1]; ++entry) {
            const index_t sender = graph.in.senders[entry];
            const part_t owner = graph.owners[sender];
            if (owner != part && among(sender) && reached.add(sender, 0)) ghosts.push_back({owner, layer, sender});
        }
    };
    if (layers > 0) {
        for (const index_t vertex : vertices) follow_back(vertex, 1);
    }
    for (std::size_t next = 0; next < ghosts.size() && ghosts[next].layer < layers; ++next) {
        follow_back(ghosts[next].vertex, ghosts[next].layer + 1);
    }
    std::ranges::sort(ghosts, {}, [](const Ghost& ghost) { return std::tuple(ghost.owner, ghost.vertex); });
    return ghosts;
}

// A part and ghosts of it.
struct Holder {
    part_t part;
    std::vector<Ghost> ghosts;
};

// Vertices of other parts that can be reached from the given parts in so many steps along the edges, by part, and which
// vertices were met on the way.
struct Reached {
    std::vector<part_t> parts;
    Csr vertices;  // row i: those of parts[i]
    Vector<std::uint8_t> met;
};

Reached reached_from(CsrView graph, std::span<const part_t> owners, CsrView owned, std::span<const part_t> parts,
                     std::int32_t layers) {
    Reached result{{}, {}, Vector<std::uint8_t>(graph.n_rows(), 0)};
    std::vector<index_t> queue;
    const auto meet = [&](index_t vertex) {
        if (result.met[vertex]) return;
        result.met[vertex] = 1;
        queue.push_back(vertex);
    };
    for (const part_t part : parts) {
        for (const index_t vertex : owned[part]) meet(vertex);
    }
    const auto n_own = std::ssize(queue);
    for (index_t begin = 0, step = 0; step < layers && begin < std::ssize(queue); ++step) {
        for (const index_t end = std::ssize(queue); begin < end; ++begin) {
            for (const index_t target : graph[queue[begin]]) {
                require_in_range(target, graph.n_rows());
                meet(target);
            }
        }
    }
    const auto others = std::span(queue).subspan(n_own);
    std::ranges::sort(others, {}, [&](index_t vertex) { return owners[vertex]; });
    for (const index_t vertex : others) {
        if (result.parts.empty() || result.parts.back() != owners[vertex]) {
            if (!result.parts.empty()) result.vertices.close_row();
            result.parts.push_back(owners[vertex]);
        }
        result.vertices.entries.push_back(vertex);
    }
    if (!result.parts.empty()) result.vertices.close_row();
    return result;
}

// The parts that are not built, but are sent something by those that are: of their ghosts, those that are sent to them.
std::vector<Holder> other_holders(CsrView graph, const OwnedGraph& turned, CsrView owned, std::span<const part_t> parts,
                                  std::int32_t layers, std::vector<Numbers>& numbers) {
    const Reached reached = reached_from(graph, turned.owners, owned, parts, layers);
    std::vector<Holder> holders(reached.parts.size());
    parallel_for(std::ssize(holders), static_cast<int>(numbers.size()), 1, [&](index_t i, index_t, int worker) {
        const part_t part = reached.parts[i];
        holders[i] = {part, ghosts_of(turned, part, reached.vertices.view()[i], layers, numbers[worker],
                                      [&](index_t vertex) { return reached.met[vertex] != 0; })};
    });
    return holders;
}

HaloPlans halos_of(std::span<const part_t> parts, std::vector<const Holder*> holders, CsrView owned,
                   index_t n_vertices) {
    std::ranges::sort(holders, {}, &Holder::part);
    std::vector<part_t> numbers, owners;
    Csr ids;
    for (const Holder* holder : holders) {
        numbers.push_back(holder->part);
        for (const Ghost& ghost : holder->ghosts) {
            ids.entries.push_back(ghost.vertex);
            owners.push_back(ghost.owner);
        }
        ids.close_row();
    }
    Vector<std::int32_t> ranks(n_vertices);
    for (const part_t part : parts) {
        for (std::int32_t rank = 0; const index_t vertex : owned[part]) ranks[vertex] = rank++;
    }
    return halo_plans(parts, {numbers, ids.view(), owners}, ranks);
}

// How much each part holds: the offsets of everything in `result`, and room for it.
void lay_out(const InEdges& in, CsrView owned, std::span<const Holder> holders, std::int32_t layers, int threads,
             GraphParts& result) {
    const index_t n_parts = std::ssize(holders);
    result.vertices.offsets.assign(n_parts + 1, 0);
    result.n_owned.resize(n_parts);
    result.edge_offsets.assign(n_parts + 1, 0);
    parallel_for(n_parts, threads, 1, [&](index_t i, index_t, int) {
        const auto& [part, ghosts] = holders[i];
        const auto own = owned[part];
        result.vertices.offsets[i + 1] = std::ssize(own) + std::ssize(ghosts);
        require_countable(result.vertices.offsets[i + 1]);
        result.n_owned[i] = std::ssize(own);
        index_t edges = 0;
        if (layers > 0) {
            for (const index_t vertex : own) edges += in.count(vertex);
        }
        for (const Ghost& ghost : ghosts) edges += ghost.layer < layers ? in.count(ghost.vertex) : 0;
        result.edge_offsets[i + 1] = edges;
    });
    for (auto* offsets : {&result.vertices.offsets, &result.edge_offsets}) {
        std::partial_sum(offsets->begin(), offsets->end(), offsets->begin());
    }
    const index_t n_local = result.vertices.offsets.back();
    result.vertices.entries.resize(n_local);
    result.complete.resize(n_local);
    result.row_offsets.resize(n_local + n_parts);
    for (const Holder& holder : holders) {
        for (const Ghost& ghost : holder.ghosts) {
            result.ghost_owners.push_back(ghost.owner);
            result.ghost_layers.push_back(ghost.layer);
        }
    }
    result.senders.resize(result.edge_offsets.back());
    result.edge_ids.resize(result.edge_offsets.back());
}

// Writes the vertices and the edges of part i, whose ghosts are known.
void write_part(const InEdges& in, index_t i, std::span<const index_t> own, std::span<const Ghost> ghosts,
                std::int32_t layers, Numbers& local, GraphParts& result) {
    const index_t first = result.vertices.offsets[i], n_owned = std::ssize(own);
    const index_t n_local = n_owned + std::ssize(ghosts);
    const auto vertices = std::span(result.vertices.entries).subspan(first, n_local);
    std::ranges::copy(own, vertices.begin());
    std::ranges::transform(ghosts, vertices.begin() + n_owned, &Ghost::vertex);
    local.restart(in.n_vertices());
    for (index_t v = 0; v < n_local; ++v) local.add(vertices[v], v);

    const index_t first_edge = result.edge_offsets[i];
    index_t* const offsets = result.row_offsets.data() + first + i;  // each part before has one more than its vertices
    index_t edge = first_edge;
    for (index_t v = 0; v < n_local; ++v) {
        offsets[v] = edge - first_edge;
        const index_t begin = in.offsets[vertices[v]], end = in.offsets[vertices[v] + 1];
        const bool last_layer = (v < n_owned ? 0 : ghosts[v - n_owned].layer) == layers;
        if (last_layer) {
            result.complete[first + v] = std::all_of(in.senders.begin() + begin, in.senders.begin() + end,
                                                     [&](index_t sender) { return local.has(sender); });
            continue;
        }
        result.complete[first + v] = 1;
        for (index_t entry = begin; entry < end; ++entry, ++edge) {
            result.senders[edge] = local[in.senders[entry]];
            result.edge_ids[edge] = in.edges[entry];
        }
    }
    offsets[n_local] = edge - first_edge;
}

}  // namespace

GraphParts graph_parts(CsrView graph, std::span<const part_t> owners, CsrView owned, std::span<const part_t> parts,
                       std::int32_t layers, int threads) {
    const index_t n_parts = std::ssize(parts);
    const InEdges in = in_edges(graph, threads);
    const OwnedGraph turned{in, owners};
    std::vector<Numbers> numbers(threads);
    std::vector<Holder> holders(n_parts);
    parallel_for(n_parts, threads, 1, [&](index_t i, index_t, int worker) {
        holders[i] = {parts[i], ghosts_of(turned, parts[i], owned[parts[i]], layers, numbers[worker],
                                          [](index_t) { return true; })};
    });

    GraphParts result;
    lay_out(in, owned, holders, layers, threads, result);
    parallel_for(n_parts, threads, 1, [&](index_t i, index_t, int worker) {
        write_part(in, i, owned[parts[i]], holders[i].ghosts, layers, numbers[worker], result);
    });

    std::vector<Holder> others;
    if (n_parts < owned.n_rows()) others = other_holders(graph, turned, owned, parts, layers, numbers);
    std::vector<const Holder*> all;
    for (const auto* some : {&holders, &others}) {
        for (const Holder& holder : *some) all.push_back(&holder);
    }
    result.halos = halos_of(parts, all, owned, std::ssize(owners));
    return result;
}

}  // namespace meshpart
