#include "fitting.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "csr.hpp"
#include "exchange.hpp"

namespace meshpart {
namespace {

constexpr int partners_tried = 16;
constexpr weight_t well_above = 256;  // the share of the limit that is worth fragments

struct Step {
    part_t partner = -1;
    index_t out = -1, back = -1;  // back is -1 for a move
};

class Fitting {
  public:
    Fitting(Assignment& assignment, weight_t limit)
        : assignment_(assignment),
          connections_(assignment.nparts()),
          limit_(limit),
          work_left_(4 * (std::ssize(assignment.labels) + std::ssize(assignment.graph.rows.entries)) + 100000) {
        std::vector<part_t> parts(assignment.nparts());
        std::iota(parts.begin(), parts.end(), 0);
        const Csr rows = meshpart::members(assignment, parts);
        for (const part_t part : parts) {
            const auto row = rows.view()[part];
            members_.emplace_back(row.begin(), row.end());
            by_load_.emplace(assignment.loads[part], part);
        }
    }

    void run() {
        while (work_left_ > 0 && by_load_.rbegin()->first > limit_) {
            const part_t part = by_load_.rbegin()->second;
            const Step step = best_step(part);
            if (step.partner < 0) break;
            move(step.out, step.partner);
            if (step.back >= 0) move(step.back, part);
        }
    }

  private:
    // What leaves the heavier of the two parts lightest, once within the limit at the least cost in cut.
    Step best_step(part_t part) {
        Step best;
        std::pair<weight_t, weight_t> best_rank;
        int tried = 0;
        for (auto place = by_load_.begin(); place->second != part && tried < partners_tried; ++place, ++tried) {
            const auto [load, partner] = *place;
            const weight_t most = by_load_.rbegin()->first - load - 1;  // what may go without making it as heavy
            const auto consider = [&](const Candidate& a, index_t back, weight_t shifted, weight_t cost) {
                if (shifted <= 0 || shifted > most) return;
                const weight_t heavier = std::max(assignment_.loads[part] - shifted, load + shifted);
                const std::pair rank(std::max(heavier, limit_), cost);
                if (best.partner >= 0 && rank >= best_rank) return;
                best = {partner, a.vertex, back};
                best_rank = rank;
            };
            const auto out = candidates(part, partner), back = candidates(partner, part);
            for (const Candidate& a : out) {
                if (assignment_.sizes[part] > 1) consider(a, -1, a.weight, a.cost);
                for (const Candidate& b : back) {
                    const weight_t shared = 2 * edge_between(assignment_.graph, a.vertex, b.vertex);
                    consider(a, b.vertex, a.weight - b.weight, a.cost + b.cost + shared);
                }
            }
            work_left_ -= std::ssize(out) * (std::ssize(back) + 1);
        }
        return best;
    }

    std::vector<Candidate> candidates(part_t from, part_t to) {
        std::vector<Candidate> found;
        for (const index_t v : members_[from]) {
            work_left_ -= std::ssize(assignment_.graph.rows[v]) + 1;
            connections_.read(assignment_, v);
            found.push_back({connections_.to(from) - connections_.to(to), v, assignment_.graph.vertex_weight(v)});
        }
        keep_cheapest(found);
        return found;
    }

    void move(index_t vertex, part_t to) {
        const part_t from = assignment_.labels[vertex];
        for (const part_t part : {from, to}) by_load_.erase({assignment_.loads[part], part});
        std::erase(members_[from], vertex);
        members_[to].push_back(vertex);
        assignment_.move(vertex, to);
        for (const part_t part : {from, to}) by_load_.emplace(assignment_.loads[part], part);
    }

    Assignment& assignment_;
    Connections connections_;
    const weight_t limit_;
    index_t work_left_;
    std::vector<std::vector<index_t>> members_;  // of each part
    std::set<std::pair<weight_t, part_t>> by_load_;
};

}  // namespace

void fit(Assignment& assignment, weight_t limit) {
    const weight_t above = *std::ranges::max_element(assignment.loads) - limit;
    if (above <= 0) return;
    Assignment fitted = assignment;
    Fitting(fitted, limit).run();
    const weight_t left = *std::ranges::max_element(fitted.loads) - limit;
    if (left <= 0 || (above > limit / well_above && left <= above / 2)) std::swap(assignment, fitted);
}

}  // namespace meshpart
