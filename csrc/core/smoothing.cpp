#include "smoothing.hpp"

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "exchange.hpp"

namespace meshpart {
namespace {

constexpr int partners_tried = 8;

class Smoothing {
  public:
    Smoothing(Assignment& assignment, weight_t limit)
        : assignment_(assignment),
          connections_(assignment.nparts()),
          limit_(limit),
          waits_(assignment.labels.size(), 0),
          work_left_(8 * (std::ssize(assignment.labels) + std::ssize(assignment.graph.rows.entries))) {}

    void run(std::span<const part_t> before) {
        for (index_t v = 0; v < std::ssize(before); ++v) {
            if (assignment_.labels[v] != before[v]) wait_with_neighbours(v);
        }
        for (; !waiting_.empty() && work_left_ > 0; waiting_.pop_front()) {
            const index_t v = waiting_.front();
            waits_[v] = 0;
            look_at(v);
        }
    }

  private:
    // A part that a vertex touches, and by how much more than its own.
    struct Wish {
        part_t to;
        weight_t gain;
    };

    Assignment& assignment_;
    Connections connections_;
    weight_t limit_;
    Vector<char> waits_;
    std::deque<index_t> waiting_;
    std::unordered_map<std::uint64_t, std::vector<index_t>> wishing_;  // from one part to another that has no room
    index_t work_left_;

    void look_at(index_t v) {
        const part_t part = assignment_.labels[v];
        if (const Wish wish = best_wish(v, true); wish.gain > 0 && assignment_.sizes[part] > 1) {
            move(v, wish.to);
            return;
        }
        const Wish wish = best_wish(v, false);
        if (wish.gain >= 0 && !exchanged(v, wish)) wishing_[from_to(part, wish.to)].push_back(v);
    }

    // The part that v touches most, of those with room for it or of all others; a gain of -1 if it touches none.
    Wish best_wish(index_t v, bool with_room) {
        const part_t part = assignment_.labels[v];
        const weight_t weight = assignment_.graph.vertex_weight(v);
        work_left_ -= std::ssize(assignment_.graph.rows[v]) + 1;
        connections_.read(assignment_, v);
        Wish best{part, -1};
        for (const part_t to : connections_.parts()) {
            if (to == part || (with_room && assignment_.loads[to] + weight > limit_)) continue;
            const weight_t gain = connections_.to(to) - connections_.to(part);
            if (gain > best.gain || (gain == best.gain && to < best.to)) best = {to, gain};
        }
        return best;
    }

    // Exchanges v for a vertex that wishes to go the other way, if that lowers the cut.
    bool exchanged(index_t v, Wish wish) {
        const part_t part = assignment_.labels[v];
        const auto found = wishing_.find(from_to(wish.to, part));
        if (found == wishing_.end()) return false;
        auto& partners = found->second;
        for (int tried = 0; tried < partners_tried && !partners.empty(); ++tried) {
            const index_t u = partners.back();
            partners.pop_back();
            if (assignment_.labels[u] != wish.to) continue;
            const weight_t shifted = assignment_.graph.vertex_weight(v) - assignment_.graph.vertex_weight(u);
            const bool fits =
                assignment_.loads[wish.to] + shifted <= limit_ && assignment_.loads[part] - shifted <= limit_;
            work_left_ -= std::ssize(assignment_.graph.rows[u]) + 1;
            connections_.read(assignment_, u);
            const weight_t back = connections_.to(part) - connections_.to(wish.to);
            // An edge between the two stays cut, though each of them alone would mend it.
            if (!fits || wish.gain + back - 2 * edge_between(assignment_.graph, u, v) <= 0) continue;
            move(v, wish.to);
            move(u, part);
            return true;
        }
        return false;
    }

    void move(index_t v, part_t to) {
        assignment_.move(v, to);
        wait_with_neighbours(v);
    }

    void wait_with_neighbours(index_t v) {
        wait(v);
        for (const index_t u : assignment_.graph.rows[v]) wait(u);
    }
    void wait(index_t v) {
        if (waits_[v]) return;
        waits_[v] = 1;
        waiting_.push_back(v);
    }

    static std::uint64_t from_to(part_t from, part_t to) {
        return static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint64_t>(to);
    }
};

}  // namespace

void smooth(Assignment& assignment, std::span<const part_t> before, weight_t limit) {
    Smoothing(assignment, limit).run(before);
}

}  // namespace meshpart
