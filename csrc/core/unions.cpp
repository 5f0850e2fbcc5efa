#include "unions.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "checks.hpp"
#include "parallel.hpp"

namespace meshpart {
namespace {

// Counts one union after another. An element counts from the first union that brings it to the last that keeps it.
class UnionCounter {
  public:
    UnionCounter(CsrView sets, index_t n_elements) : sets_(sets), counts_(n_elements, 0), is_inside_(n_elements, 0) {}

    // Cheap if the sets begin as those of the union before did.
    void count(std::span<const index_t> sets) {
        const auto alike = std::ranges::mismatch(sets, current_).in1 - sets.begin();
        shrink_to(alike);
        for (const index_t set : sets.subspan(alike)) unite_with(set);
        current_ = sets;
        ++n_counted_;
    }

    std::span<const index_t> finish() {
        shrink_to(0);
        current_ = {};
        return counts_;
    }

  private:
    CsrView sets_;
    Vector<index_t> counts_;
    Vector<std::uint8_t> is_inside_;
    std::span<const index_t> current_;  // the sets that are united
    std::vector<index_t> inside_;       // their elements, in the order in which they came
    std::vector<index_t> starts_;       // of what each of the sets brought
    index_t n_counted_ = 0;

    void unite_with(index_t set) {
        require_in_range(set, sets_.n_rows());
        starts_.push_back(std::ssize(inside_));
        for (const index_t element : sets_[set]) {
            if (is_inside_[element]) continue;
            is_inside_[element] = 1;
            inside_.push_back(element);
            counts_[element] -= n_counted_;
        }
    }

    void shrink_to(index_t n_sets) {
        if (std::ssize(starts_) == n_sets) return;
        for (index_t i = starts_[n_sets]; i < std::ssize(inside_); ++i) {
            is_inside_[inside_[i]] = 0;
            counts_[inside_[i]] += n_counted_;
        }
        inside_.resize(starts_[n_sets]);
        starts_.resize(n_sets);
    }
};

// Row s: the unions whose first set is s; row n_sets: those of no set.
Csr by_first_set(CsrView unions, index_t n_sets, int threads) {
    Vector<index_t> first(unions.n_rows());
    for (index_t u = 0; u < unions.n_rows(); ++u) {
        first[u] = unions[u].empty() ? n_sets : unions[u][0];
        if (!unions[u].empty()) require_in_range(first[u], n_sets);
    }
    return invert(std::span<const index_t>(first), n_sets + 1, threads);
}

}  // namespace

Vector<index_t> union_counts(CsrView sets, CsrView unions, index_t n_elements, int threads) {
    constexpr index_t grain = 16;
    require_in_range(sets.entries, n_elements, threads);
    Csr first = by_first_set(unions, sets.n_rows(), threads);
    std::vector<std::unique_ptr<UnionCounter>> counters(threads);
    parallel_for(sets.n_rows(), threads, grain, [&](index_t begin, index_t end, int worker) {
        auto& own = counters[worker];
        if (!own) own = std::make_unique<UnionCounter>(sets, n_elements);
        for (index_t set = begin; set < end; ++set) {
            const auto alike =
                std::span(first.entries).subspan(first.offsets[set], first.offsets[set + 1] - first.offsets[set]);
            std::ranges::sort(alike, std::ranges::lexicographical_compare, [&](index_t u) { return unions[u]; });
            for (const index_t u : alike) own->count(unions[u]);
        }
    });
    Vector<index_t> result(n_elements, 0);
    for (const auto& own : counters) {
        if (own) std::ranges::transform(result, own->finish(), result.begin(), std::plus{});
    }
    return result;
}

}  // namespace meshpart
