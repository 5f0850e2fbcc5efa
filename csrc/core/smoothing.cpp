#include "smoothing.hpp"

#include <deque>

namespace meshpart {

void smooth(Assignment& assignment, std::span<const part_t> before, weight_t limit) {
    const auto& rows = assignment.graph.rows;
    Vector<char> waits(before.size(), 0);
    std::deque<index_t> waiting;
    const auto wait = [&](index_t v) {
        if (waits[v]) return;
        waits[v] = 1;
        waiting.push_back(v);
    };
    for (index_t v = 0; v < std::ssize(before); ++v) {
        if (assignment.labels[v] == before[v]) continue;
        wait(v);
        for (const index_t u : rows[v]) wait(u);
    }
    Connections connections(assignment.nparts());
    index_t work = 8 * (std::ssize(before) + std::ssize(rows.entries));
    for (; !waiting.empty() && work > 0; waiting.pop_front()) {
        const index_t v = waiting.front();
        waits[v] = 0;
        const part_t part = assignment.labels[v];
        const weight_t weight = assignment.graph.vertex_weight(v);
        work -= std::ssize(rows[v]) + 1;
        connections.read(assignment, v);
        part_t best = part;
        for (const part_t to : connections.parts()) {
            const weight_t more = connections.to(to) - connections.to(best);
            const bool fits = assignment.loads[to] + weight <= limit;
            if (fits && (more > 0 || (more == 0 && best != part && to < best))) best = to;
        }
        if (best == part || assignment.sizes[part] == 1) continue;
        assignment.move(v, best);
        for (const index_t u : rows[v]) wait(u);
    }
}

}  // namespace meshpart
