#include "balance.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "assignment.hpp"
#include "diffusion.hpp"
#include "fill.hpp"
#include "fragments.hpp"
#include "hand_over.hpp"
#include "smoothing.hpp"

namespace meshpart {
namespace {

bool empty_or_heavier(const Assignment& assignment, weight_t limit) {
    return std::ranges::count(assignment.sizes, 0) > 0 ||
           std::ranges::any_of(assignment.loads, [&](weight_t load) { return load > limit; });
}

weight_t heaviest_vertex(const GraphView& graph) {
    return graph.vertex_weights.empty() ? 1 : *std::ranges::max_element(graph.vertex_weights);
}

// Fragments that found no room find it, sometimes, once others have moved.
index_t absorb_all(Assignment& assignment, weight_t limit, bool balance_follows) {
    index_t sum = 0;
    for (int pass = 0; pass < 8; ++pass) {
        const index_t absorbed = absorb_fragments(assignment, limit, balance_follows);
        sum += absorbed;
        if (absorbed == 0) break;
    }
    return sum;
}

}  // namespace

Repaired repair(GraphView graph, std::span<const part_t> labels, part_t nparts, weight_t sought, weight_t guaranteed,
                bool absorb_fragments) {
    if (nparts < 1 || nparts > graph.n_vertices() || std::ssize(labels) != graph.n_vertices()) {
        throw std::invalid_argument(std::to_string(labels.size()) + " labels of " + std::to_string(graph.n_vertices()) +
                                    " vertices cannot be repaired to " + std::to_string(nparts) + " parts");
    }
    Assignment assignment(graph, labels, nparts);
    Repaired result;
    if (absorb_fragments) result.absorbed = absorb_all(assignment, sought, true);
    if (empty_or_heavier(assignment, sought)) {
        result.filled = std::ranges::count(assignment.sizes, 0);
        const Vector<part_t> before = assignment.labels;
        fill_empty_parts(assignment);
        diffuse(assignment, sought);
        // Where a vertex is heavier than what is sought, only that the heaviest part gets lighter is worth such a cut.
        hand_over(assignment, std::clamp(heaviest_vertex(graph), sought, guaranteed));
        hand_over(assignment, guaranteed);
        smooth(assignment, before, sought);
        for (std::size_t v = 0; v < before.size(); ++v) result.moved += assignment.labels[v] != before[v];
        if (absorb_fragments) result.absorbed += absorb_all(assignment, sought, false);
    }
    if (empty_or_heavier(assignment, guaranteed)) throw std::logic_error("repaired labels break the promise");
    result.labels = std::move(assignment.labels);
    return result;
}

}  // namespace meshpart
