#include "balance.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "assignment.hpp"
#include "diffusion.hpp"
#include "fill.hpp"
#include "fitting.hpp"
#include "fragments.hpp"
#include "hand_over.hpp"
#include "packing.hpp"
#include "smoothing.hpp"

namespace meshpart {
namespace {

constexpr weight_t unlimited = std::numeric_limits<weight_t>::max();
constexpr int most_passes = 8;                      // over the fragments
constexpr double noisy = 0.25, mostly_noise = 0.5;  // shares of the weight that lie in fragments
constexpr weight_t hair = 256;  // the share of what is sought that is worth no cut where it is not kept anyway

// How labels are to be repaired.
struct Way {
    weight_t sought, guaranteed;
    bool absorb;        // fragments
    bool whole_pieces;  // whether whole pieces of parts are moved before single vertices
};

struct Done {
    index_t filled = 0, moved = 0, absorbed = 0;
    bool packed = false;      // whether whole pieces moved, be it in labels that were given up
    double noise_before = 0;  // the share of the weight that lay in fragments before the first pass over them,
    double noise = 0;         // and before the last
};

weight_t heaviest_vertex(const GraphView& graph) {
    return graph.vertex_weights.empty() ? 1 : *std::ranges::max_element(graph.vertex_weights);
}

weight_t heaviest_part(const Assignment& assignment) {
    return *std::ranges::max_element(assignment.loads);
}

weight_t total_weight(const Assignment& assignment) {
    return std::accumulate(assignment.loads.begin(), assignment.loads.end(), weight_t{0});
}

// The weight of the edges between parts, each counted at both its ends.
weight_t double_cut(const Assignment& assignment) {
    const auto& [offsets, targets] = assignment.graph.rows;
    weight_t sum = 0;
    for (index_t v = 0; v < std::ssize(assignment.labels); ++v) {
        for (index_t e = offsets[v]; e < offsets[v + 1]; ++e) {
            if (assignment.labels[targets[e]] != assignment.labels[v]) sum += assignment.graph.edge_weight(e);
        }
    }
    return sum;
}

// Fragments that found no room find it, sometimes, once others have moved; where labels are noise, seldom. Returns the
// share of the weight that lay in fragments.
double absorb_all(Assignment& assignment, weight_t limit, Done& done, bool of_noise_too = false) {
    const auto total = static_cast<double>(total_weight(assignment));
    double before = 0;
    for (int pass = 0; pass < most_passes; ++pass) {
        const auto [count, apart] = absorb_fragments(assignment, limit);
        done.absorbed += count;
        done.noise = static_cast<double>(apart) / total;
        if (pass == 0) before = done.noise;
        if (count == 0 || (!of_noise_too && done.noise >= (pass == 0 ? mostly_noise : noisy))) break;
    }
    return before;
}

void fill_and_balance(Assignment& assignment, const Way& way, Done& done) {
    const Vector<part_t> before = assignment.labels;
    done.filled = std::ranges::count(assignment.sizes, 0);
    if (way.whole_pieces) done.packed = pack(assignment, way.sought);
    fill_empty_parts(assignment);
    // What the cuts left behind is small, and worth some balance to be mended.
    if (way.absorb && done.filled > 0) absorb_fragments(assignment, way.sought + way.sought / 8);
    if (way.whole_pieces && done.filled > 0) done.packed |= pack(assignment, way.sought);
    diffuse(assignment, way.sought);
    // Where a vertex is heavier than what is sought, only that the heaviest part gets lighter is worth such a cut.
    const weight_t worth_it = std::clamp(heaviest_vertex(assignment.graph), way.sought, way.guaranteed);
    hand_over(assignment, worth_it);
    fit(assignment, worth_it);
    hand_over(assignment, way.guaranteed);
    smooth(assignment, before, way.sought);
    for (std::size_t v = 0; v < before.size(); ++v) done.moved += assignment.labels[v] != before[v];
}

// Fragments go first, those that find room within `limit`: what lies in the wrong part need not be moved for balance.
Done begin(Assignment& assignment, const Way& way, weight_t limit) {
    Done done;
    if (way.absorb) done.noise_before = absorb_all(assignment, limit, done);
    return done;
}

// All that is promised, where it does not hold.
void finish(Assignment& assignment, const Way& way, Done& done) {
    if (std::ranges::count(assignment.sizes, 0) == 0 && heaviest_part(assignment) <= way.sought) return;
    fill_and_balance(assignment, way, done);
    if (way.absorb) absorb_all(assignment, way.sought, done);
}

// What is promised, and where labels are mostly fragments, less cut.
//
// Such labels hold little worth keeping: fragments that first join whatever they touch, and balance after that, mostly
// make far less cut. Not if fragments cannot be helped, though, as in a star. No part gets too heavy by that, but by a
// hair where one is already.
Done finish_noise_too(Assignment& assignment, const Way& way, Done done) {
    finish(assignment, way, done);
    for (bool noise = std::max(done.noise_before, done.noise) >= noisy; noise;) {
        Assignment other = assignment;
        Done more = begin(other, way, unlimited);
        finish(other, way, more);
        done.packed |= more.packed;
        const weight_t load = heaviest_part(assignment), about_sought = way.sought + way.sought / hair;
        const bool as_light = heaviest_part(other) <= (load > way.sought ? std::max(load, about_sought) : way.sought);
        if (!as_light || double_cut(other) >= double_cut(assignment) / 4 * 3) break;
        done.moved += more.moved;
        done.absorbed += more.absorbed;
        done.noise = more.noise;
        noise = done.noise >= noisy;
        std::swap(assignment, other);
    }
    if (done.noise >= noisy) absorb_all(assignment, way.sought, done, true);
    return done;
}

// With whole pieces first where only so all parts are light enough, or where that ends in no heavier part and no more
// cut than without: a hair of balance that does not suffice is not worth a multiple of the cut.
Done mend(Assignment& assignment, Way way) {
    const Done begun = begin(assignment, way, way.sought);
    Assignment other = assignment;
    const Done done = finish_noise_too(assignment, way, begun);
    if (!done.packed) return done;
    const weight_t load = std::max(heaviest_part(assignment), way.sought), cut = double_cut(assignment);
    if (load == way.sought && cut == 0) return done;
    way.whole_pieces = false;
    const Done without = finish_noise_too(other, way, begun);
    const weight_t other_load = std::max(heaviest_part(other), way.sought);
    const bool suffices = load == way.sought && other_load > way.sought;
    if (suffices || (load <= other_load && cut <= double_cut(other))) return done;
    std::swap(assignment, other);
    return without;
}

}  // namespace

Repaired repair(GraphView graph, std::span<const part_t> labels, part_t nparts, weight_t sought, weight_t guaranteed,
                bool absorb_fragments) {
    if (nparts < 1 || nparts > graph.n_vertices() || std::ssize(labels) != graph.n_vertices()) {
        throw std::invalid_argument(std::to_string(labels.size()) + " labels of " + std::to_string(graph.n_vertices()) +
                                    " vertices cannot be repaired to " + std::to_string(nparts) + " parts");
    }
    Assignment assignment(graph, labels, nparts);
    const Done done = mend(assignment, {sought, guaranteed, absorb_fragments, true});
    if (std::ranges::count(assignment.sizes, 0) > 0 || heaviest_part(assignment) > guaranteed) {
        throw std::logic_error("repaired labels break the promise");
    }
    return {std::move(assignment.labels), done.filled, done.moved, done.absorbed};
}

}  // namespace meshpart
