// What KaHIP is given, and what it is not.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <vector>

#include "core/helper_process.hpp"
#include "core/kahip.hpp"
#include "core/kahip_job.hpp"

using namespace meshpart;

namespace {

constexpr index_t largest = 2147483647;

// A path of three vertices.
struct Path {
    std::vector<index_t> offsets{0, 1, 3, 4}, targets{1, 0, 2, 1};
    std::vector<weight_t> vertex_weights, edge_weights;

    GraphView view() const { return {{offsets, targets}, vertex_weights, edge_weights}; }
};

// A helper that ends at once: what is refused is refused before, anything else fails after.
void give(const Path& path, const KahipOptions& options = {2, 0.03, 0, 0, "/bin/true"}) {
    kahip(path.view(), options, [] {});
}

}  // namespace

TEST_CASE("graphs that 32-bit numbers can number pass, larger ones do not") {
    CHECK_NOTHROW(require_kahip_can_number(largest - 1, largest));
    CHECK_THROWS_AS(require_kahip_can_number(largest, 0), std::length_error);
    CHECK_THROWS_AS(require_kahip_can_number(0, largest + 1), std::length_error);
}

TEST_CASE("the arrays of a job lie one after another, without those that are not there") {
    std::vector<std::int32_t> memory(sizeof(KahipJob) / 4 + 100);
    auto& job = *new (memory.data()) KahipJob{};
    job.n_vertices = 3;
    job.n_entries = 4;
    CHECK(job.bytes() == sizeof(KahipJob) + 4 * (4 + 4 + 3));
    job.has_vertex_weights = 1;
    job.has_edge_weights = 1;
    CHECK(job.bytes() == sizeof(KahipJob) + 4 * (4 + 4 + 3 + 4 + 3));
    CHECK(job.targets() - job.offsets() == 4);
    CHECK(job.vertex_weights() - job.targets() == 4);
    CHECK(job.edge_weights() - job.vertex_weights() == 3);
    CHECK(job.labels() - job.edge_weights() == 4);
}

TEST_CASE("a right graph reaches the helper, one that ends without labels is a failure") {
    Path path;
    CHECK_THROWS_WITH_AS(give(path), doctest::Contains("ended with status 0 and no result"), MethodFailure);
    path.vertex_weights = {1, 2, largest - 3};
    path.edge_weights = {1, 1, 1, largest - 3};
    CHECK_THROWS_AS(give(path), MethodFailure);
}

TEST_CASE("ids, offsets and weights that have changed are refused") {
    for (const index_t target : {index_t{-1}, index_t{3}, index_t{1} << 40}) {
        Path path;
        path.targets[2] = target;
        CHECK_THROWS_AS(give(path), std::out_of_range);
    }
    const std::vector<std::vector<index_t>> wrong{
        {0, 3, 1, 4}, {-1, 1, 3, 4}, {0, 1, 3, 5}, {0, 1, 3, 3}, {0, 1, 5, 4}};
    for (const auto& offsets : wrong) {
        Path path;
        path.offsets = offsets;
        CHECK_THROWS_AS(give(path), std::out_of_range);
    }
    Path path;
    path.vertex_weights = {1, 0, 1};
    CHECK_THROWS_AS(give(path), std::out_of_range);
    path.vertex_weights = {1, largest, 1};
    CHECK_THROWS_AS(give(path), std::length_error);
    path.vertex_weights = {1, 1};
    CHECK_THROWS_AS(give(path), std::invalid_argument);
}

TEST_CASE("options that hang or crash KaHIP are refused") {
    const KahipOptions right{2, 0.03, 0, 0, "/bin/true"};
    for (const part_t nparts : {0, -1, 4}) {
        auto options = right;
        options.nparts = nparts;
        CHECK_THROWS_AS(give({}, options), std::invalid_argument);
    }
    for (const double imbalance : {0.0, -0.1, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
        auto options = right;
        options.imbalance = imbalance;
        CHECK_THROWS_AS(give({}, options), std::invalid_argument);
    }
    for (const int mode : {-1, 6}) {
        auto options = right;
        options.mode = mode;
        CHECK_THROWS_AS(give({}, options), std::invalid_argument);
    }
}
