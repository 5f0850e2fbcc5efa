#include "hand_over.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "csr.hpp"

namespace meshpart {
namespace {

// The lightest part, as parts become heavier or lighter.
class Lightest {
  public:
    explicit Lightest(const Assignment& assignment) : assignment_(assignment) {
        for (part_t part = 0; part < assignment.nparts(); ++part) changed(part);
    }

    void changed(part_t part) { queue_.emplace(assignment_.loads[part], part); }
    part_t operator()() {
        while (queue_.top().first != assignment_.loads[queue_.top().second]) queue_.pop();
        return queue_.top().second;
    }

  private:
    using Entry = std::pair<weight_t, part_t>;

    const Assignment& assignment_;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

class HandOver {
  public:
    HandOver(Assignment& assignment, weight_t limit)
        : assignment_(assignment), connections_(assignment.nparts()), lightest_(assignment), limit_(limit) {}

    // Until the part is light enough: one part takes its vertices for as long as they fit, then the lightest then.
    void relieve(part_t part, std::span<const index_t> vertices) {
        to_ = lightest_();
        moves_ = {};
        for (const index_t v : vertices) consider(v);
        while (!moves_.empty() && assignment_.loads[part] > limit_) {
            const Move move = moves_.top();
            moves_.pop();
            if (assignment_.labels[move.vertex] != part) continue;
            if (!fits(move.vertex)) {
                lightest_.changed(to_);
                to_ = lightest_();
                if (!fits(move.vertex)) continue;
            }
            if (rescored(move.vertex) && cost(move.vertex) != move.cost) {
                consider(move.vertex);
                continue;
            }
            assignment_.move(move.vertex, to_);
            ++found_;
            for (const index_t u : assignment_.graph.rows[move.vertex]) {
                if (assignment_.labels[u] == part && rescored(u)) consider(u);
            }
        }
        lightest_.changed(to_);
        lightest_.changed(part);
    }

  private:
    struct Move {
        double cost;    // in cut, for the weight
        index_t found;  // of vertices that cost the same the one found last goes first: so a compact piece goes
        index_t vertex;

        bool operator<(const Move& other) const {
            return std::tie(other.cost, found, other.vertex) < std::tie(cost, other.found, vertex);
        }
    };

    void consider(index_t vertex) {
        if (assignment_.graph.vertex_weight(vertex) > 0) moves_.push({cost(vertex), found_, vertex});
    }
    double cost(index_t vertex) {
        connections_.read(assignment_, vertex);
        const weight_t cut = connections_.to(assignment_.labels[vertex]) - connections_.to(to_);
        const auto weight = static_cast<double>(assignment_.graph.vertex_weight(vertex));
        return static_cast<double>(cut) * (cut < 0 ? weight : 1 / weight);
    }
    bool fits(index_t vertex) const {
        return assignment_.loads[to_] + assignment_.graph.vertex_weight(vertex) <= limit_;
    }
    bool rescored(index_t vertex) const { return std::ssize(assignment_.graph.rows[vertex]) <= largest_rescored; }

    Assignment& assignment_;
    Connections connections_;
    Lightest lightest_;
    const weight_t limit_;
    std::priority_queue<Move> moves_;
    part_t to_ = 0;
    index_t found_ = 0;
};

}  // namespace

void hand_over(Assignment& assignment, weight_t limit) {
    std::vector<part_t> heavy;
    for (part_t part = 0; part < assignment.nparts(); ++part) {
        if (assignment.loads[part] > limit) heavy.push_back(part);
    }
    if (heavy.empty()) return;
    std::ranges::stable_sort(heavy, std::greater<>{}, [&](part_t part) { return assignment.loads[part]; });
    const Csr vertices = members(assignment, heavy);
    HandOver pieces(assignment, limit);
    for (index_t i = 0; i < std::ssize(heavy); ++i) pieces.relieve(heavy[i], vertices.view()[i]);
}

}  // namespace meshpart
