#include "diffusion.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "exchange.hpp"

namespace meshpart {
namespace {

// The effort, in passes over the graph: more found no better labels on the meshes that this was tried on.
constexpr index_t work_factor = 12;
// Between one least room and the next.
constexpr weight_t step = 8;
// A round helps, where weights differ, if it lowers what is above the limit by this share.
constexpr weight_t least_help = 256;

struct Move {
    double cost;  // for the weight that it takes away
    // Of moves that cost the same, those near the old boundary go first, and of these the one found last: so rows of
    // vertices go, not scattered ones.
    index_t layer, found;
    index_t vertex;
    part_t to;

    bool operator>(const Move& other) const {
        return std::tie(cost, layer, other.found, vertex) > std::tie(other.cost, other.layer, found, other.vertex);
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
          pushed_in_(assignment.labels.size(), 0),
          layers_(assignment.labels.size()),
          most_work_(work_factor * (std::ssize(assignment.labels) + std::ssize(assignment.graph.rows.entries) +
                                    std::ssize(assignment.loads))) {}

    void run() {
        const auto [least, mean, most] = weights();
        // Small units fit where large ones do not: first the room that a usual one needs, then more, then less.
        std::vector<weight_t> rooms;
        for (weight_t room = mean; room <= most / step; room *= step) rooms.push_back(room);
        if (rooms.empty() || rooms.back() < most) rooms.push_back(most);
        for (weight_t room = mean / step; room > least / step; room /= step) rooms.push_back(std::max(room, least));
        for (const weight_t room : rooms) repeat([&] { return round(room, &Diffusion::push); }, least == most);
        if (least == most) return;
        for (weight_t room = mean; room > 0; room /= step) {
            repeat([&] { return round(room, &Diffusion::exchange); }, false);
        }
    }

  private:
    struct Flow {
        index_t round = 0;  // in which the search came here last
        part_t from = 0;    // the part before it, on the way from the source; itself for a source
        part_t source = 0;
        weight_t due = 0;     // what is to come in from there; of a source, what it still has to send
        weight_t passed = 0;  // what is to be passed on
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

    // Does rounds for as long as they help: any help will do, or only that which lowers the weight above the limit by
    // some share, since weights can be fitted ever better.
    template <class Round>
    void repeat(Round&& next_round, bool any) {
        for (weight_t before = above(); before > 0 && work_ < most_work_ && next_round();) {
            const weight_t after = above();
            if (after >= before) undo();
            if (after >= before || (!any && before - after < before / least_help)) break;
            before = after;
        }
    }

    // Plans flows to the parts with that room, and has each part pass on what is due; false if nothing moves.
    bool round(weight_t least_room, void (Diffusion::*pass_on)(part_t)) {
        moved_.clear();
        plan(least_room);
        for (auto place = order_.rbegin(); place != order_.rend(); ++place) {
            Flow& flow = flows_[*place];
            if (flow.from == *place) continue;
            flow.due += flow.passed;
            flows_[flow.from].passed += flow.due;
        }
        for (const part_t part : order_) {
            if (flows_[part].passed > 0 && assignment_.loads[part] > limit_) (this->*pass_on)(part);
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
                    if (source.due == 0) return false;
                    const weight_t room = limit_ - assignment_.loads[next];
                    const weight_t share = room < least_room ? 0 : std::min(room, source.due);
                    flows_[next] = {round_, part, flows_[part].source, share, 0};
                    order_.push_back(next);
                    source.due -= share;
                }
                return true;
            });
        }
    }

    // Passes on what is due from one part, or what it has too much, vertex by vertex.
    void push(part_t part) {
        const weight_t excess = assignment_.loads[part] - limit_;
        found_ = 0;
        ++pushes_;
        reached_from_ = 0;
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
            ++found_;
            reached_from_ = now.layer + 1;
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
        read(vertex);
        Move best{0, layer(vertex), found_, -1, part};
        for (const part_t to : connections_.parts()) {
            const Flow& flow = flows_[to];
            if (!receives(to, part)) continue;
            if (weight > 0 && assignment_.loads[to] + weight > limit_ + flow.passed) continue;
            const weight_t more = best.vertex < 0 ? 1 : connections_.to(to) - connections_.to(best.to);
            if (more > 0 || (more == 0 && to < best.to)) best = {0, best.layer, found_, vertex, to};
        }
        // A vertex without weight goes last: it only clears the way for others.
        const auto cost = static_cast<double>(connections_.to(part) - connections_.to(best.to));
        const auto taken = static_cast<double>(std::min(weight, excess));
        best.cost = weight == 0 ? std::numeric_limits<double>::max() : cost < 0 ? cost * taken : cost / taken;
        return best;
    }

    // How far from the boundary, as it was before this push, a vertex was when it was first looked at.
    index_t layer(index_t vertex) {
        if (pushed_in_[vertex] != pushes_) {
            pushed_in_[vertex] = pushes_;
            layers_[vertex] = reached_from_;
        }
        return layers_[vertex];
    }

    void carry_out(const Move& move, part_t part) {
        const weight_t weight = assignment_.graph.vertex_weight(move.vertex);
        this->move(move.vertex, move.to);
        passed(part, move.to, weight);
    }

    // Passes on what is due from one part by one exchange with each of those after it.
    void exchange(part_t part) {
        struct Out {
            part_t to;
            Candidate candidate;
        };
        std::vector<Out> outs;
        work_ += boundary_.visit(part, [&](index_t v) {
            read(v);
            for (const part_t to : connections_.parts()) {
                if (receives(to, part)) outs.push_back({to, candidate(v, part, to)});
            }
            return true;
        });
        std::ranges::stable_sort(outs, {}, &Out::to);
        std::vector<Candidate> out, back;
        for (auto begin = outs.begin(), end = begin; begin != outs.end() && work_ < most_work_; begin = end) {
            const part_t to = begin->to;
            const weight_t excess = assignment_.loads[part] - limit_;
            if (excess <= 0) break;
            out.clear();
            back.clear();
            for (; end != outs.end() && end->to == to; ++end) {
                if (assignment_.labels[end->candidate.vertex] == part) out.push_back(end->candidate);
            }
            work_ += boundary_.visit(to, [&](index_t v) {
                read(v);
                if (std::ranges::count(connections_.parts(), part)) back.push_back(candidate(v, to, part));
                return true;
            });
            const weight_t most = limit_ + flows_[to].passed - assignment_.loads[to];
            const auto found = best_exchange(assignment_.graph, out, back, excess, most);
            if (found.out < 0) continue;
            move(found.out, to);
            move(found.back, part);
            passed(part, to, found.shifted);
        }
    }

    Candidate candidate(index_t vertex, part_t from, part_t to) const {  // after read(vertex)
        return {connections_.to(from) - connections_.to(to), vertex, assignment_.graph.vertex_weight(vertex)};
    }

    bool receives(part_t to, part_t from) const {
        const Flow& flow = flows_[to];
        return flow.round == round_ && flow.from == from && to != from && flow.due > 0;
    }
    void passed(part_t from, part_t to, weight_t weight) {
        for (weight_t* left : {&flows_[from].passed, &flows_[to].due}) *left = std::max<weight_t>(*left - weight, 0);
    }

    void read(index_t vertex) {
        connections_.read(assignment_, vertex);
        work_ += degree(vertex);
    }
    void move(index_t vertex, part_t to) {
        moved_.emplace_back(vertex, assignment_.labels[vertex]);
        boundary_.move(vertex, to);
        work_ += degree(vertex);
    }

    void undo() {
        for (; !moved_.empty(); moved_.pop_back()) boundary_.move(moved_.back().first, moved_.back().second);
    }

    index_t degree(index_t vertex) const { return std::ssize(assignment_.graph.rows[vertex]); }

    Assignment& assignment_;
    Boundary boundary_;
    Connections connections_;
    const weight_t limit_;
    std::vector<Flow> flows_;                        // (nparts)
    std::vector<part_t> order_;                      // the parts as the search came to them
    std::vector<std::pair<index_t, part_t>> moved_;  // in this round: which vertices, and whence
    Vector<index_t> pushed_in_, layers_;             // (n_vertices)
    index_t pushes_ = 0, reached_from_ = 0;
    index_t round_ = 0, found_ = 0, work_ = 0;
    const index_t most_work_;
};

}  // namespace

void diffuse(Assignment& assignment, weight_t limit) {
    if (std::ranges::all_of(assignment.loads, [&](weight_t load) { return load <= limit; })) return;
    Diffusion(assignment, limit).run();
}

}  // namespace meshpart
