#include "assignment.hpp"

#include <algorithm>

#include "checks.hpp"

namespace meshpart {

Assignment::Assignment(GraphView of, std::span<const part_t> given, part_t count)
    : graph(of), labels(given.begin(), given.end()), loads(count, 0), sizes(count, 0) {
    require_in_range(graph.rows.entries, graph.n_vertices(), 1);
    for (index_t v = 0; v < graph.n_vertices(); ++v) {
        require_in_range(labels[v], count);
        loads[labels[v]] += graph.vertex_weight(v);
        ++sizes[labels[v]];
    }
}

void Assignment::move(index_t vertex, part_t to) {
    const part_t from = labels[vertex];
    const weight_t weight = graph.vertex_weight(vertex);
    labels[vertex] = to;
    loads[from] -= weight;
    loads[to] += weight;
    --sizes[from];
    ++sizes[to];
}

Csr members(const Assignment& assignment, std::span<const part_t> parts) {
    Vector<index_t> row_of(assignment.loads.size(), -1);
    for (index_t i = 0; i < std::ssize(parts); ++i) row_of[parts[i]] = i;
    std::vector<index_t> vertices, rows;
    for (index_t v = 0; v < std::ssize(assignment.labels); ++v) {
        const index_t row = row_of[assignment.labels[v]];
        if (row < 0) continue;
        vertices.push_back(v);
        rows.push_back(row);
    }
    Csr result = invert(rows, std::ssize(parts));
    for (index_t& entry : result.entries) entry = vertices[entry];
    return result;
}

Boundary::Boundary(Assignment& assignment)
    : assignment_(assignment),
      first_(assignment.loads.size(), none),
      next_(assignment.labels.size(), unlisted),
      prev_(assignment.labels.size()) {
    for (index_t v = std::ssize(assignment.labels) - 1; v >= 0; --v) {  // each list ascends
        if (touches_another(v)) insert(v);
    }
}

void Boundary::move(index_t vertex, part_t to) {
    if (next_[vertex] != unlisted) remove(vertex);
    assignment_.move(vertex, to);
    insert(vertex);
    for (const index_t u : assignment_.graph.rows[vertex]) {
        if (next_[u] == unlisted) insert(u);
    }
}

bool Boundary::touches_another(index_t vertex) const {
    const part_t part = assignment_.labels[vertex];
    return std::ranges::any_of(assignment_.graph.rows[vertex],
                               [&](index_t u) { return assignment_.labels[u] != part; });
}

void Boundary::insert(index_t vertex) {
    index_t& first = first_[assignment_.labels[vertex]];
    next_[vertex] = first;
    prev_[vertex] = none;
    if (first != none) prev_[first] = vertex;
    first = vertex;
}

void Boundary::remove(index_t vertex) {
    const index_t next = next_[vertex], prev = prev_[vertex];
    (prev == none ? first_[assignment_.labels[vertex]] : next_[prev]) = next;
    if (next != none) prev_[next] = prev;
    next_[vertex] = unlisted;
}

}  // namespace meshpart
