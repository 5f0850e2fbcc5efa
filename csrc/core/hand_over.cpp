#include "hand_over.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "breadth_first.hpp"

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

// Hands units of one part over, in their order, until it is light enough: one part takes them for as long as they fit.
void hand_over_units(Assignment& assignment, weight_t limit, part_t part, std::span<const index_t> units,
                     Lightest& lightest) {
    part_t to = lightest();
    const auto fits = [&](weight_t weight) { return assignment.loads[to] + weight <= limit; };
    for (const bool more_than_needed : {false, true}) {
        for (const index_t v : units) {
            const weight_t weight = assignment.graph.vertex_weight(v), excess = assignment.loads[part] - limit;
            if (excess <= 0) break;
            if (weight == 0 || assignment.labels[v] != part || (weight > excess && !more_than_needed)) continue;
            if (!fits(weight)) {
                lightest.changed(to);
                to = lightest();
                if (!fits(weight)) continue;
            }
            assignment.move(v, to);
        }
    }
    lightest.changed(to);
    lightest.changed(part);
}

}  // namespace

void hand_over(Assignment& assignment, weight_t limit) {
    std::vector<part_t> heavy;
    for (part_t part = 0; part < assignment.nparts(); ++part) {
        if (assignment.loads[part] > limit) heavy.push_back(part);
    }
    if (heavy.empty()) return;
    std::ranges::stable_sort(heavy, std::greater<>{}, [&](part_t part) { return assignment.loads[part]; });
    Csr units = members(assignment, heavy);
    BreadthFirst search(assignment.graph);
    Lightest lightest(assignment);
    for (index_t i = 0; i < std::ssize(heavy); ++i) {
        const auto row = std::span(units.entries).subspan(units.offsets[i], units.offsets[i + 1] - units.offsets[i]);
        search.sort(row);
        hand_over_units(assignment, limit, heavy[i], row, lightest);
    }
}

}  // namespace meshpart
