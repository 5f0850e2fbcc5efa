#include "diffusion.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace meshpart {
namespace {

constexpr index_t work_factor = 32;     // the effort, in passes over the graph
constexpr index_t largest_rescored = 256;  // vertices with more edges are not looked at again whenever a neighbour moves
constexpr weight_t step = 8;            // between one least room and the next

struct Move {
    double cost;  // for the weight that it takes away
    index_t vertex;
    part_t to;

    bool operator>(const Move& other) const {
        return std::tie(cost, vertex, to) > std::tie(other.cost, other.vertex, other.to);
    }
};

class Diffusion {
  public:
    Diffusion(Assignment& assignment, weight_t limit)
        : assignment_(assignment),
          boundary_(assignment),
          connections_(assignment.nparts()),
          limit_(limit),
          flows_(assignment.loads.size()),
          most_work_(work_factor * (std::ssize(assignment.labels) + std::ssize(assignment.graph.rows.entries) +
                                    std::ssize(assignment.loads))) {}

    void run() {
        const auto [least, mean, most] = weights();
        // Small units fit where large ones do not: first the room that a usual one needs, then more, then less.
        std::vector<weight_t> rooms;
        for (weight_t room = mean; room <= most / step; room *= step) rooms.push_back(room);
        if (rooms.empty() || rooms.back() < most) rooms.push_back(most);
        for (weight_t room = mean / step; room > least / step; room /= step) rooms.push_back(std::max(room, least));
        for (const weight_t room : rooms) {
            weight_t before = above();
            while (before > 0 && work_ < most_work_ && round(room)) {
                const weight_t after = above();
                if (after >= before) undo();
                const bool enough = least == most ? after < before : before - after > before / 16;
                before = std::min(before, after);
                if (!enough) break;
            }
        }
    }

  private:
    struct Flow {
        index_t round = 0;     // in which the search came here last
        part_t from = 0;       // the part before it, on the way from the source; itself for a source
        part_t source = 0;
        weight_t due = 0;      // what is to come in from there; of a source, what it still has to send
        weight_t passed = 0;   // what is to be passed on
    };

    // The least positive weight of a unit, the mean, and the largest.
    std::tuple<weight_t, weight_t, weight_t> weights() const {
        const index_t n = std::ssize(assignment_.labels);
        weight_t least = std::numeric_limits<weight_t>::max(), total = 0, most = 0;
        for (index_t v = 0; v < n; ++v) {
            const weight_t weight = assignment_.graph.vertex_weight(v);
            if (weight > 0) least = std::min(least, weight);
            most = std::max(most, weight);
            total += weight;
        }
        return {least, std::max(total / n, least), most};
    }

    weight_t above() const {
        weight_t sum = 0;
        for (const weight_t load : assignment_.loads) sum += std::max<weight_t>(load - limit_, 0);
        return sum;
    }

    // Plans flows to the parts with that room and carries them out; false if there is nowhere to go.
    bool round(weight_t least_room) {
        moved_.clear();
        plan(least_room);
        for (auto place = order_.rbegin(); place != order_.rend(); ++place) {
            Flow& flow = flows_[*place];
            if (flow.from == *place) continue;
            flow.due += flow.passed;
            flows_[flow.from].passed += flow.due;
        }
        for (const part_t part : order_) {
            if (flows_[part].passed > 0) push(part);
        }
        return !moved_.empty();
    }

    // Searches from the sources outward, until each has found as much room as it needs or there is none left.
    void plan(weight_t least_room) {
        ++round_;
        order_.clear();
        work_ += std::ssize(assignment_.loads);
        for (part_t part = 0; part < assignment_.nparts(); ++part) {
            const weight_t excess = assignment_.loads[part] - limit_;
            if (excess <= 0) continue;
            flows_[part] = {round_, part, part, std::max(excess, least_room), 0};
            order_.push_back(part);
        }
        for (std::size_t i = 0; i < order_.size() && work_ < most_work_; ++i) {
            const part_t part = order_[i];
            Flow& source = flows_[flows_[part].source];
            if (source.due == 0) continue;
            work_ += boundary_.visit(part, [&](index_t v) {
                for (const index_t u : assignment_.graph.rows[v]) {
                    const part_t next = assignment_.labels[u];
                    if (flows_[next].round == round_) continue;
                    const weight_t room = limit_ - assignment_.loads[next];
                    const weight_t share = room < least_room ? 0 : std::min(room, source.due);
                    flows_[next] = {round_, part, flows_[part].source, share, 0};
                    order_.push_back(next);
                    source.due -= share;
                }
                return source.due > 0;
            });
        }
    }

    // Passes on what is due from one part, or what it has too much.
    void push(part_t part) {
        const weight_t excess = assignment_.loads[part] - limit_;
        if (excess <= 0) return;
        std::vector<Move> found;
        work_ += boundary_.visit(part, [&](index_t v) {
            if (const Move move = best_move(v, part, excess); move.vertex >= 0) found.push_back(move);
            return true;
        });
        std::priority_queue<Move, std::vector<Move>, std::greater<>> moves(std::greater<>{}, std::move(found));
        while (!moves.empty() && assignment_.loads[part] > limit_ && flows_[part].passed > 0 && work_ < most_work_ &&
               assignment_.sizes[part] > 1) {
            const Move move = moves.top();
            moves.pop();
            if (assignment_.labels[move.vertex] != part) continue;
            const Move now = best_move(move.vertex, part, excess);
            if (now.vertex < 0) continue;
            if (std::pair(now.cost, now.to) != std::pair(move.cost, move.to)) {
                if (degree(move.vertex) <= largest_rescored) moves.push(now);
                continue;
            }
            carry_out(now, part);
            for (const index_t u : assignment_.graph.rows[now.vertex]) {
                if (assignment_.labels[u] != part || degree(u) > largest_rescored) continue;
                if (const Move next = best_move(u, part, excess); next.vertex >= 0) moves.push(next);
            }
        }
    }

    // Where a vertex of `part` goes at the least cost, among the parts that are to receive something from it; vertex -1
    // if it fits into none.
    Move best_move(index_t vertex, part_t part, weight_t excess) {
        const weight_t weight = assignment_.graph.vertex_weight(vertex);
        connections_.read(assignment_, vertex);
        work_ += degree(vertex);
        Move best{0, -1, part};
        for (const part_t to : connections_.parts()) {
            const Flow& flow = flows_[to];
            if (flow.round != round_ || flow.from != part || to == part || flow.due <= 0) continue;
            if (weight > 0 && assignment_.loads[to] + weight > limit_ + flow.passed) continue;
            const weight_t more = best.vertex < 0 ? 1 : connections_.to(to) - connections_.to(best.to);
            if (more > 0 || (more == 0 && to < best.to)) best = {0, vertex, to};
        }
        // A vertex without weight goes last: it only clears the way for others.
        const auto cost = static_cast<double>(connections_.to(part) - connections_.to(best.to));
        const auto taken = static_cast<double>(std::min(weight, excess));
        best.cost = weight == 0 ? std::numeric_limits<double>::max() : cost < 0 ? cost * taken : cost / taken;
        return best;
    }

    void carry_out(const Move& move, part_t part) {
        const weight_t weight = assignment_.graph.vertex_weight(move.vertex);
        moved_.emplace_back(move.vertex, part);
        boundary_.move(move.vertex, move.to);
        work_ += degree(move.vertex);
        for (weight_t* left : {&flows_[part].passed, &flows_[move.to].due}) *left = std::max<weight_t>(*left - weight, 0);
    }

    void undo() {
        for (; !moved_.empty(); moved_.pop_back()) boundary_.move(moved_.back().first, moved_.back().second);
    }

    index_t degree(index_t vertex) const { return std::ssize(assignment_.graph.rows[vertex]); }

    Assignment& assignment_;
    Boundary boundary_;
    Connections connections_;
    const weight_t limit_;
    std::vector<Flow> flows_;    // (nparts)
    std::vector<part_t> order_;  // the parts as the search came to them
    std::vector<std::pair<index_t, part_t>> moved_;  // in this round: which vertices, and whence
    index_t round_ = 0, work_ = 0;
    const index_t most_work_;
};

}  // namespace

void diffuse(Assignment& assignment, weight_t limit) {
    if (std::ranges::all_of(assignment.loads, [&](weight_t load) { return load <= limit; })) return;
    Diffusion(assignment, limit).run();
}

}  // namespace meshpart
