#include "graph_parts.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "checks.hpp"
#include "in_edges.hpp"
#include "parallel.hpp"

namespace meshpart {
namespace {

// The local ids of some vertices. To forget them costs nothing, so that parts can follow each other.
class LocalIds {
  public:
    void restart(index_t n_vertices) {
        if (entries_.empty()) entries_.assign(n_vertices, {0, 0});
        ++round_;
    }
    // Whether the vertex has had none until now.
    bool add(index_t vertex, index_t id) {
        Entry& entry = entries_[vertex];
        if (entry.round == round_) return false;
        entry = {round_, static_cast<std::int32_t>(id)};
        return true;
    }
    bool has(index_t vertex) const { return entries_[vertex].round == round_; }
    index_t operator[](index_t vertex) const { return entries_[vertex].id; }

  private:
    struct Entry {
        std::uint32_t round;
        std::int32_t id;
    };
    Vector<Entry> entries_;  // (n_vertices)
    std::uint32_t round_ = 0;
};

// The number of each vertex by (owner, id): its place among the entries of `owned`.
Vector<index_t> numbers_of(CsrView owned, index_t n_vertices) {
    if (std::ssize(owned.entries) != n_vertices) {
        throw std::invalid_argument(std::to_string(owned.entries.size()) + " vertices have owners, there are " +
                                    std::to_string(n_vertices));
    }
    Vector<index_t> numbers(n_vertices, 0);
    for (index_t number = 0; number < n_vertices; ++number) {
        require_in_range(owned.entries[number], n_vertices);
        numbers[owned.entries[number]] = number;
    }
    return numbers;
}

// A directed graph whose vertices are numbered by (owner, id).
struct NumberedGraph {
    CsrView rows;  // the targets' ids, by id
    Numbering vertices;
    Vector<index_t> numbers;  // by id
    InEdges in;               // the senders' numbers, by id

    index_t n_vertices() const { return in.n_vertices(); }
    // Where the entries of `in` for the vertex of this number begin and end.
    std::pair<index_t, index_t> edges_into(index_t number) const {
        const index_t vertex = vertices.ids[number];
        return {in.offsets[vertex], in.offsets[vertex + 1]};
    }
};

// Which vertices, by number, can be reached from those of the given parts in so many steps along the edges.
Vector<std::uint8_t> reached_from(const NumberedGraph& graph, std::span<const part_t> parts, std::int32_t steps) {
    const auto& [holders, starts, ids] = graph.vertices;
    Vector<std::uint8_t> reached(graph.n_vertices(), 0);
    std::vector<index_t> queue;
    const auto meet = [&](index_t vertex) {
        if (reached[vertex]) return;
        reached[vertex] = 1;
        queue.push_back(vertex);
    };
    for (const part_t part : parts) {
        for (index_t vertex = starts[part]; vertex < starts[part + 1]; ++vertex) meet(vertex);
    }
    for (index_t begin = 0, step = 0; step < steps && begin < std::ssize(queue); ++step) {
        for (const index_t end = std::ssize(queue); begin < end; ++begin) {
            for (const index_t target : graph.rows[ids[queue[begin]]]) {
                require_in_range(target, graph.n_vertices());
                meet(graph.numbers[target]);
            }
        }
    }
    return reached;
}

// The ghosts of a part, by number.
//
//   first, last  the part owns first .. last - 1
//   matters      matters(v) says whether vertex v counts, be it owned or a ghost
template <class Matters>
std::vector<Ghost<index_t>> ghosts_of(const NumberedGraph& graph, index_t first, index_t last, std::int32_t layers,
                                      LocalIds& taken, Matters&& matters) {
    taken.restart(graph.n_vertices());
    std::vector<Ghost<index_t>> ghosts;
    const auto follow_back = [&](index_t vertex, std::int32_t layer) {
        const auto [begin, end] = graph.edges_into(vertex);
        for (index_t entry = begin; entry < end; ++entry) {
            const index_t sender = graph.in.senders[entry];
            const bool is_owned = sender >= first && sender < last;
            if (!is_owned && matters(sender) && taken.add(sender, 0)) ghosts.push_back({sender, layer});
        }
    };
    for (index_t vertex = first; vertex < last && layers > 0; ++vertex) {
        if (matters(vertex)) follow_back(vertex, 1);
    }
    for (std::size_t next = 0; next < ghosts.size() && ghosts[next].layer < layers; ++next) {
        follow_back(ghosts[next].number, ghosts[next].layer + 1);
    }
    std::ranges::sort(ghosts, {}, &Ghost<index_t>::number);
    return ghosts;
}

// The ghosts of all parts; of those that are not built, only what edges lead to from vertices of those that are.
GhostLists<index_t> search(const NumberedGraph& graph, std::span<const part_t> parts, std::int32_t layers,
                           std::vector<LocalIds>& taken) {
    const auto& [holders, starts, ids] = graph.vertices;
    const auto n_holders = std::ssize(holders);
    Vector<std::uint8_t> reached;
    if (std::ssize(parts) < n_holders) reached = reached_from(graph, parts, layers);
    GhostLists<index_t> ghosts(n_holders);
    parallel_for(n_holders, static_cast<int>(taken.size()), 1, [&](index_t h, index_t, int worker) {
        const bool is_built = position(parts, holders[h]) >= 0;
        ghosts[h] = ghosts_of(graph, starts[h], starts[h + 1], layers, taken[worker],
                              [&](index_t vertex) { return is_built || reached[vertex]; });
    });
    return ghosts;
}

// The vertices of a part in local order.
struct LocalVertices {
    std::span<const index_t> numbers;
    std::span<const Ghost<index_t>> ghosts;

    index_t count() const { return std::ssize(numbers); }
    std::int32_t layer(index_t v) const {
        const index_t n_owned = count() - std::ssize(ghosts);
        return v < n_owned ? 0 : ghosts[v - n_owned].layer;
    }
};

// How many edges each part holds: their offsets in `result`, and room for everything.
void lay_out_edges(const InEdges& in, std::span<const LocalVertices> parts, std::int32_t layers, int threads,
                   GraphParts& result) {
    const index_t n_parts = std::ssize(parts), n_local = result.vertices.ids.offsets.back();
    auto& offsets = result.edge_offsets;
    offsets.assign(n_parts + 1, 0);
    parallel_for(n_parts, threads, 1, [&](index_t i, index_t, int) {
        index_t n_edges = 0;
        for (index_t v = 0; const index_t vertex : result.vertices.ids.view()[i]) {
            if (parts[i].layer(v++) < layers) n_edges += in.count(vertex);
        }
        offsets[i + 1] = n_edges;
    });
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    result.complete.resize(n_local);
    result.row_offsets.resize(n_local + n_parts);
    result.senders.resize(offsets.back());
    result.edge_ids.resize(offsets.back());
}

// Writes the edges of part i.
void write_edges(const NumberedGraph& graph, index_t i, const LocalVertices& vertices, std::int32_t layers,
                 LocalIds& local, GraphParts& result) {
    local.restart(graph.n_vertices());
    for (index_t v = 0; v < vertices.count(); ++v) local.add(vertices.numbers[v], v);

    const index_t first = result.vertices.ids.offsets[i], first_edge = result.edge_offsets[i];
    index_t* const offsets = result.row_offsets.data() + first + i;  // each part before has one more than its vertices
    index_t edge = first_edge;
    for (index_t v = 0; v < vertices.count(); ++v) {
        offsets[v] = edge - first_edge;
        const auto [begin, end] = graph.edges_into(vertices.numbers[v]);
        if (vertices.layer(v) == layers) {
            result.complete[first + v] = std::all_of(graph.in.senders.begin() + begin, graph.in.senders.begin() + end,
                                                     [&](index_t sender) { return local.has(sender); });
            continue;
        }
        result.complete[first + v] = 1;
        for (index_t entry = begin; entry < end; ++entry, ++edge) {
            result.senders[edge] = local[graph.in.senders[entry]];
            result.edge_ids[edge] = graph.in.edges[entry];
        }
    }
    offsets[vertices.count()] = edge - first_edge;
}

}  // namespace

GraphParts graph_parts(CsrView graph, CsrView owned, std::span<const part_t> parts, std::int32_t layers, int threads) {
    const index_t n_parts = std::ssize(parts);
    std::vector<part_t> holders(owned.n_rows());
    std::iota(holders.begin(), holders.end(), 0);
    NumberedGraph numbered{graph, {holders, owned.offsets, owned.entries}, numbers_of(owned, graph.n_rows()), {}};
    numbered.in = in_edges(graph, numbered.numbers, threads);
    std::vector<LocalIds> local_ids(threads);
    const GhostLists<index_t> ghosts = search(numbered, parts, layers, local_ids);

    GraphParts result;
    Vector<index_t> numbers;
    result.vertices = in_local_order<index_t>(numbered.vertices, ghosts, parts, threads, numbers);
    std::vector<LocalVertices> vertices;
    for (index_t i = 0; i < n_parts; ++i) {
        vertices.push_back({CsrView{result.vertices.ids.offsets, numbers}[i], ghosts[parts[i]]});
    }
    lay_out_edges(numbered.in, vertices, layers, threads, result);
    parallel_for(n_parts, threads, 1, [&](index_t i, index_t, int worker) {
        write_edges(numbered, i, vertices[i], layers, local_ids[worker], result);
    });
    return result;
}

}  // namespace meshpart
