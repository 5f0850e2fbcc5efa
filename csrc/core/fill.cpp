#include "fill.hpp"

#include <algorithm>
#include <cstdlib>
#include <queue>
#include <span>
#include <tuple>
#include <vector>

#include "breadth_first.hpp"
#include "csr.hpp"

namespace meshpart {
namespace {

// Which parts each part is cut into: row p lists the empty parts that part p fills, ascending.
Csr choose_donors(const Assignment& assignment) {
    struct Donor {
        weight_t share;  // of the weight, for each of its pieces
        index_t vertices;
        part_t part;
        index_t pieces;

        auto rank() const { return std::tuple(share, vertices, -part); }
        bool operator<(const Donor& other) const { return rank() < other.rank(); }
    };
    const auto donor = [&](part_t part, index_t pieces) {
        return Donor{assignment.loads[part] / pieces, assignment.sizes[part] / pieces, part, pieces};
    };
    std::priority_queue<Donor> donors;
    std::vector<part_t> empty, filled_by;
    for (part_t part = 0; part < assignment.nparts(); ++part) {
        if (assignment.sizes[part] > 1) donors.push(donor(part, 1));
        if (assignment.sizes[part] == 0) empty.push_back(part);
    }
    for (std::size_t i = 0; i < empty.size(); ++i) {
        const auto [share, vertices, part, pieces] = donors.top();
        donors.pop();
        filled_by.push_back(part);
        if (assignment.sizes[part] > pieces + 1) donors.push(donor(part, pieces + 1));
    }
    Csr rows = invert(std::span<const part_t>(filled_by), assignment.nparts());
    for (index_t& entry : rows.entries) entry = empty[entry];
    return rows;
}

// Where to cut units, in their order, between two sets of parts: the earliest of the places that leave each part a unit
// at which the weight before the cut is nearest the first set's share.
index_t best_cut(const GraphView& graph, std::span<const index_t> units, index_t parts_before, index_t parts_after) {
    weight_t total = 0;
    for (const index_t v : units) total += graph.vertex_weight(v);
    const index_t parts = parts_before + parts_after;
    const weight_t share = total / parts * parts_before + total % parts * parts_before / parts;
    index_t best = parts_before;
    weight_t before = 0, least = 0;
    for (index_t i = 0; i <= std::ssize(units) - parts_after; ++i) {
        const weight_t distance = std::abs(before - share);
        if (i == parts_before || (i > parts_before && distance < least)) best = i, least = distance;
        before += graph.vertex_weight(units[i]);
    }
    return best;
}

class Bisection {
  public:
    explicit Bisection(Assignment& assignment) : assignment_(assignment), search_(assignment.graph) {}

    // Shares units out among parts, at least one for each.
    void cut(std::span<index_t> units, std::span<const part_t> parts) {
        if (parts.size() == 1) {
            for (const index_t v : units) {
                if (assignment_.labels[v] != parts.front()) assignment_.move(v, parts.front());
            }
            return;
        }
        search_.sort(units);
        const auto half = (parts.size() + 1) / 2;
        const auto at = best_cut(assignment_.graph, units, half, parts.size() - half);
        cut(units.first(at), parts.first(half));
        cut(units.subspan(at), parts.subspan(half));
    }

  private:
    Assignment& assignment_;
    BreadthFirst search_;
};

}  // namespace

void fill_empty_parts(Assignment& assignment) {
    if (std::ranges::count(assignment.sizes, 0) == 0) return;
    const Csr fills = choose_donors(assignment);
    std::vector<part_t> donors;
    for (part_t part = 0; part < assignment.nparts(); ++part) {
        if (!fills.view()[part].empty()) donors.push_back(part);
    }
    Csr units = members(assignment, donors);

    Bisection bisection(assignment);
    std::vector<part_t> parts;
    for (index_t i = 0; i < std::ssize(donors); ++i) {
        parts.assign(1, donors[i]);
        for (const index_t part : fills.view()[donors[i]]) parts.push_back(static_cast<part_t>(part));
        const index_t begin = units.offsets[i], end = units.offsets[i + 1];
        bisection.cut(std::span(units.entries).subspan(begin, end - begin), parts);
    }
}

}  // namespace meshpart
