#include "halo_plans.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <vector>

#include "checks.hpp"

namespace meshpart {
namespace {

// Entries of Held::ids that one part holds of one other.
struct Run {
    part_t holder, owner;
    index_t begin, end;
};

// The runs of a row, by owner ascending.
template <class Visit>
void for_each_run(const Held& held, index_t row, Visit&& visit) {
    for (index_t begin = held.ids.offsets[row], end; begin < held.ids.offsets[row + 1]; begin = end) {
        end = begin + 1;
        while (end < held.ids.offsets[row + 1] && held.owners[end] == held.owners[begin]) ++end;
        visit(Run{held.holders[row], held.owners[begin], begin, end});
    }
}

// The runs that each of `parts` owns, part after part, by holder ascending.
struct Sends {
    std::vector<index_t> offsets;
    std::vector<Run> runs;

    std::span<const Run> operator[](index_t part) const {
        return std::span(runs).subspan(offsets[part], offsets[part + 1] - offsets[part]);
    }
};

Sends sends_of(std::span<const part_t> parts, const Held& held) {
    std::vector<Run> runs;
    std::vector<index_t> senders;
    for (index_t row = 0; row < held.ids.n_rows(); ++row) {
        for_each_run(held, row, [&](const Run& run) {
            const index_t sender = position(parts, run.owner);
            if (sender < 0) return;
            runs.push_back(run);
            senders.push_back(sender);
        });
    }
    const Csr by_sender = invert(std::span<const index_t>(senders), std::ssize(parts));
    Sends result{{by_sender.offsets.begin(), by_sender.offsets.end()}, {}};
    result.runs.reserve(runs.size());
    for (const index_t entry : by_sender.entries) result.runs.push_back(runs[entry]);
    return result;
}

}  // namespace

HaloPlans halo_plans(std::span<const part_t> parts, const Held& held, std::span<const std::int32_t> ranks) {
    constexpr part_t nobody = std::numeric_limits<part_t>::max();
    const Sends sends = sends_of(parts, held);
    HaloPlans result;
    for (index_t i = 0; i < std::ssize(parts); ++i) {
        std::vector<Run> received;
        const index_t row = position(held.holders, parts[i]);
        assert(row >= 0);
        for_each_run(held, row, [&](const Run& run) { received.push_back(run); });
        auto receive = received.begin();
        auto send = sends[i].begin();
        while (receive != received.end() || send != sends[i].end()) {
            const part_t from = receive == received.end() ? nobody : receive->owner;
            const part_t to = send == sends[i].end() ? nobody : send->holder;
            result.neighbours.entries.push_back(std::min(from, to));
            if (to <= from) {
                for (index_t entry = send->begin; entry < send->end; ++entry) {
                    require_in_range(held.ids.entries[entry], std::ssize(ranks));
                    result.send_indices.push_back(ranks[held.ids.entries[entry]]);
                }
                ++send;
            }
            result.send_offsets.push_back(std::ssize(result.send_indices));
            result.receive_counts.push_back(from <= to ? receive->end - receive->begin : 0);
            if (from <= to) ++receive;
        }
        result.neighbours.close_row();
    }
    return result;
}

}  // namespace meshpart
