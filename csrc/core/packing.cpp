#include "packing.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "csr.hpp"
#include "pieces.hpp"

namespace meshpart {
namespace {

constexpr int partners_tried = 16;
constexpr std::size_t paired = 48;  // of so many pieces of different weight every two are tried together

// One or two pieces of a part that go together, or none.
struct Bundle {
    weight_t weight = 0;
    index_t count = 0;
    index_t first = -1, second = -1;

    auto rank() const { return std::tuple(weight, count, first, second); }
};

class Packing {
  public:
    Packing(Assignment& assignment, weight_t limit, const Pieces& pieces)
        : assignment_(assignment),
          limit_(limit),
          pieces_(pieces.all),
          vertices_(invert(pieces.of, std::ssize(pieces.all))),
          ascending_(pieces.all.size()),
          members_(assignment.loads.size()),
          work_left_(4 * (std::ssize(assignment.labels) + std::ssize(assignment.graph.rows.entries)) + 100000) {
        std::iota(ascending_.begin(), ascending_.end(), 0);
        std::ranges::sort(ascending_, {}, [&](index_t piece) { return rank(piece); });
        for (part_t part = 0; part < assignment.nparts(); ++part) by_load_.emplace(assignment.loads[part], part);
    }

    bool run() {
        const auto heavy = too_heavy();
        find_members();
        for (const part_t part : heavy) shed(part);
        find_members();
        for (const part_t part : heavy) {
            while (excess(part) > 0 && work_left_ > 0 && exchange(part)) {
            }
        }
        return moved_;
    }

  private:
    struct Step {
        weight_t left, moved;  // what is still too much in the part, and what changes its place
        part_t partner = -1;
        Bundle out{}, back{};
        index_t cleared = -1;  // the partner's piece that makes room, if one has to
        part_t cleared_to = -1;
    };

    std::vector<part_t> too_heavy() const {
        std::vector<part_t> heavy;
        for (auto place = by_load_.rbegin(); place != by_load_.rend() && place->first > limit_; ++place) {
            heavy.push_back(place->second);
        }
        return heavy;
    }

    void find_members() {
        for (auto& row : members_) row.clear();
        for (const index_t piece : ascending_) members_[part_of(piece)].push_back(piece);
    }

    // Gives the lightest part, again and again, the heaviest piece that fits and does not take more than is too much.
    // What is left weighs the limit at least, so that the part is not emptied.
    void shed(part_t part) {
        for (auto piece = members_[part].rbegin(); piece != members_[part].rend() && excess(part) > 0; ++piece) {
            const auto [load, lightest] = *by_load_.begin();
            const weight_t weight = pieces_[*piece].weight;
            if (weight > 0 && weight <= std::min(excess(part), limit_ - load)) move(*piece, lightest);
        }
    }

    // Makes a part that is too heavy lighter by one exchange with one of the lightest parts, in which another of them
    // may take a piece first; false if none does.
    bool exchange(part_t part) {
        std::vector<part_t> partners;
        for (const auto& [load, partner] : by_load_) {
            if (load >= limit_ || std::ssize(partners) == partners_tried) break;
            partners.push_back(partner);
        }
        Step best{excess(part), 0};
        const auto outs = bundles(part);
        for (std::size_t i = 0; i < partners.size() && best.left > 0; ++i) {
            try_with(part, outs, {0, 0, partners[i]}, best);
        }
        for (std::size_t i = 0; partners.size() > 1 && i < partners.size() && best.left > 0; ++i) {
            clear_and_try(part, outs, partners[i], partners[i == 0], best);
        }
        if (best.partner < 0) return false;
        if (best.cleared >= 0) hand({0, 1, best.cleared}, best.partner, best.cleared_to);
        hand(best.out, part, best.partner);
        hand(best.back, best.partner, part);
        return true;
    }

    // With one piece of the partner after another moved to a third part.
    void clear_and_try(part_t part, std::span<const Bundle> outs, part_t partner, part_t third, Step& best) {
        weight_t last = 0;
        for (const index_t piece : members_[partner]) {
            const weight_t weight = pieces_[piece].weight;
            if (weight > limit_ - assignment_.loads[third] || best.left == 0 || work_left_ <= 0) break;
            if (weight == last) continue;
            last = weight;
            try_with(part, outs, {0, weight, partner, {}, {}, piece, third}, best);
        }
    }

    // Takes the best of all exchanges of two bundles for `best`, if it is better; of `step` all but these is given.
    void try_with(part_t part, std::span<const Bundle> outs, Step step, Step& best) {
        const weight_t cleared = step.moved, room = limit_ - assignment_.loads[step.partner] + cleared;
        const auto backs = bundles(step.partner, step.cleared);
        const auto consider = [&](const Bundle& out, const Bundle& back) {
            const weight_t shifted = out.weight - back.weight;
            if (shifted <= 0 || shifted > room) return;
            step.left = std::max<weight_t>(excess(part) - shifted, 0);
            step.moved = cleared + out.weight + back.weight;
            step.out = out;
            step.back = back;
            if (std::pair(step.left, step.moved) < std::pair(best.left, best.moved)) best = step;
        };
        const weight_t enough = std::min(excess(part), room);
        std::size_t next = 0;  // the first of `backs` that leaves less than enough shifted
        for (const Bundle& out : outs) {
            while (next < backs.size() && backs[next].weight <= out.weight - enough) ++next;
            if (next > 0) consider(out, backs[next - 1]);
            if (next < backs.size()) consider(out, backs[next]);
        }
        work_left_ -= std::ssize(outs) + std::ssize(backs);
    }

    // Of each weight the bundle of fewest pieces, ascending; without one piece.
    std::vector<Bundle> bundles(part_t part, index_t without = -1) {
        std::vector<Bundle> found(1);
        std::vector<index_t> chosen;  // at most two of one weight
        for (const index_t piece : members_[part]) {
            const auto count = chosen.size();
            if (piece == without) continue;
            if (count > 1 && pieces_[chosen[count - 2]].weight == pieces_[piece].weight) continue;
            chosen.push_back(piece);
            found.push_back({pieces_[piece].weight, 1, piece, -1});
        }
        for (std::size_t i = 0; chosen.size() <= paired && i < chosen.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                found.push_back({pieces_[chosen[i]].weight + pieces_[chosen[j]].weight, 2, chosen[j], chosen[i]});
            }
        }
        std::ranges::sort(found, {}, &Bundle::rank);
        const auto same = std::ranges::unique(found, {}, &Bundle::weight);
        found.erase(same.begin(), same.end());
        work_left_ -= std::ssize(members_[part]) + 4 * std::ssize(found);
        return found;
    }

    void hand(const Bundle& bundle, part_t from, part_t to) {
        for (const index_t piece : {bundle.first, bundle.second}) {
            if (piece < 0) continue;
            std::erase(members_[from], piece);
            const auto by_rank = [&](index_t p) { return rank(p); };
            members_[to].insert(std::ranges::lower_bound(members_[to], rank(piece), {}, by_rank), piece);
            work_left_ -= std::ssize(members_[from]) + std::ssize(members_[to]);
            move(piece, to);
        }
    }

    void move(index_t piece, part_t to) {
        const part_t from = part_of(piece);
        for (const part_t part : {from, to}) by_load_.erase({assignment_.loads[part], part});
        for (const index_t v : vertices_.view()[piece]) assignment_.move(v, to);
        for (const part_t part : {from, to}) by_load_.emplace(assignment_.loads[part], part);
        work_left_ -= pieces_[piece].vertices;
        moved_ = true;
    }

    part_t part_of(index_t piece) const { return assignment_.labels[pieces_[piece].lowest]; }
    weight_t excess(part_t part) const { return assignment_.loads[part] - limit_; }
    std::pair<weight_t, index_t> rank(index_t piece) const { return {pieces_[piece].weight, piece}; }

    Assignment& assignment_;
    const weight_t limit_;
    const std::vector<Piece>& pieces_;
    Csr vertices_;                               // row p: those of piece p
    std::vector<index_t> ascending_;             // the pieces, lightest first
    std::vector<std::vector<index_t>> members_;  // those of each part, likewise
    std::set<std::pair<weight_t, part_t>> by_load_;
    index_t work_left_;
    bool moved_ = false;
};

}  // namespace

bool pack(Assignment& assignment, weight_t limit) {
    if (std::ranges::all_of(assignment.loads, [&](weight_t load) { return load <= limit; })) return false;
    const Pieces pieces = find_pieces(assignment);
    return !are_whole(pieces, assignment) && Packing(assignment, limit, pieces).run();
}

}  // namespace meshpart
