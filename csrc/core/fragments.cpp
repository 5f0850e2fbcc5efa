#include "fragments.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "csr.hpp"
#include "pieces.hpp"

namespace meshpart {
namespace {

constexpr index_t settled = -1;

auto rank(const Piece& piece) {
    return std::tuple(piece.weight, piece.vertices, -piece.lowest);
}

class Fragments {
  public:
    Fragments(Assignment& assignment, weight_t limit)
        : assignment_(assignment), limit_(limit), touched_(assignment.nparts()) {}

    Absorbed absorb() {
        find_fragments();
        if (fragments_.empty()) return {};
        for (const Piece& fragment : fragments_) absorbed_.apart += fragment.weight;
        std::vector<index_t> waiting(fragments_.size());
        std::iota(waiting.begin(), waiting.end(), 0);
        const index_t most_work = 8 * (std::ssize(assignment_.labels) + std::ssize(assignment_.graph.rows.entries));
        while (!waiting.empty() && work_ < most_work) {
            const auto before = waiting.size();
            std::erase_if(waiting, [&](index_t fragment) { return place(fragment); });
            if (waiting.size() == before) std::erase_if(waiting, [&](index_t fragment) { return stay(fragment); });
        }
        return absorbed_;
    }

  private:
    // The fragments by rank, lightest first, and their vertices.
    void find_fragments() {
        auto pieces = find_pieces(assignment_);
        if (are_whole(pieces, assignment_)) return;
        fragment_ = std::move(pieces.of);
        const std::vector<Piece>& all = pieces.all;

        std::vector<index_t> largest(assignment_.loads.size(), -1);
        for (index_t i = 0; i < std::ssize(all); ++i) {
            index_t& best = largest[assignment_.labels[all[i].lowest]];
            if (best < 0 || rank(all[best]) < rank(all[i])) best = i;
        }
        std::vector<index_t> order;
        for (index_t i = 0; i < std::ssize(all); ++i) {
            if (largest[assignment_.labels[all[i].lowest]] != i) order.push_back(i);
        }
        std::ranges::sort(order, {}, [&](index_t i) { return rank(all[i]); });

        std::vector<index_t> number(all.size(), settled);
        for (const index_t i : order) {
            number[i] = std::ssize(fragments_);
            fragments_.push_back(all[i]);
        }
        std::vector<index_t> of_member, vertex;
        for (index_t v = 0; v < std::ssize(fragment_); ++v) {
            fragment_[v] = number[fragment_[v]];
            if (fragment_[v] == settled) continue;
            of_member.push_back(fragment_[v]);
            vertex.push_back(v);
        }
        members_ = invert(of_member, std::ssize(fragments_));
        for (index_t& member : members_.entries) member = vertex[member];
    }

    // Gives a fragment to the part that it touches most, if there is one with room.
    bool place(index_t fragment) {
        const auto members = members_.view()[fragment];
        const auto& [offsets, targets] = assignment_.graph.rows;
        const part_t own = assignment_.labels[members.front()];
        touched_.clear();
        bool any = false;
        for (const index_t v : members) {
            work_ += offsets[v + 1] - offsets[v] + 1;
            for (index_t e = offsets[v]; e < offsets[v + 1]; ++e) {
                any |= fragment_[targets[e]] != fragment;
                if (fragment_[targets[e]] != settled) continue;
                touched_.add(assignment_.labels[targets[e]], assignment_.graph.edge_weight(e));
            }
        }
        part_t best = own;  // where it touches what others have joined to its own part, it is no fragment any more
        if (!std::ranges::count(touched_.parts(), own)) {
            for (const part_t part : touched_.parts()) {
                if (fragments_[fragment].weight > limit_ - assignment_.loads[part]) continue;
                const weight_t more = touched_.to(part) - touched_.to(best);
                if (best == own || more > 0 || (more == 0 && part < best)) best = part;
            }
            if (best == own && any) return false;
        }
        settle(fragment, best);
        return true;
    }

    // Leaves a fragment where it is if all that wait beside it rank lower.
    bool stay(index_t fragment) {
        for (const index_t v : members_.view()[fragment]) {
            work_ += std::ssize(assignment_.graph.rows[v]) + 1;
            for (const index_t u : assignment_.graph.rows[v]) {
                if (fragment_[u] > fragment) return false;
            }
        }
        settle(fragment, assignment_.labels[members_.view()[fragment].front()]);
        return true;
    }

    void settle(index_t fragment, part_t part) {
        const auto members = members_.view()[fragment];
        const bool moves = part != assignment_.labels[members.front()];
        for (const index_t v : members) {
            if (moves) assignment_.move(v, part);
            fragment_[v] = settled;
        }
        absorbed_.count += moves;
    }

    Assignment& assignment_;
    const weight_t limit_;
    Connections touched_;
    std::vector<Piece> fragments_;
    Csr members_;               // row f: the vertices of fragment f
    Vector<index_t> fragment_;  // (n_vertices): the fragment that each waits in, or settled
    Absorbed absorbed_;
    index_t work_ = 0;
};

}  // namespace

Absorbed absorb_fragments(Assignment& assignment, weight_t limit) {
    return Fragments(assignment, limit).absorb();
}

}  // namespace meshpart
