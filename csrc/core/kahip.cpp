#include "kahip.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "checks.hpp"
#include "helper_process.hpp"
#include "kahip_job.hpp"

namespace meshpart {
namespace {

constexpr index_t largest = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void throw_too_large(const std::string& what, index_t most) {
    throw std::length_error(what + " is too much for KaHIP, whose limit is " + std::to_string(most) +
                            "; the method \"sfc\" has no such limit, or cut the mesh into fewer pieces first");
}

[[noreturn]] void throw_changed(const std::string& what) {
    throw std::out_of_range(what + ": an array has changed since it was checked");
}

void require(bool holds, const std::string& what) {
    if (!holds) throw std::invalid_argument("KaHIP was given " + what);
}

KahipJob describe(GraphView graph, const KahipOptions& options) {
    const index_t n = graph.n_vertices(), m = std::ssize(graph.rows.entries);
    const index_t n_vertex_weights = std::ssize(graph.vertex_weights), n_edge_weights = std::ssize(graph.edge_weights);
    require_kahip_can_number(n, m);
    require(n_vertex_weights == 0 || n_vertex_weights == n, std::to_string(n_vertex_weights) + " vertex weights");
    require(n_edge_weights == 0 || n_edge_weights == m, std::to_string(n_edge_weights) + " edge weights");
    require(options.nparts >= 1 && options.nparts <= n, std::to_string(options.nparts) + " parts");
    require(options.imbalance > 0 && options.imbalance < 1e6, "the imbalance " + std::to_string(options.imbalance));
    require(options.mode >= 0 && options.mode <= 5, "the mode " + std::to_string(options.mode));
    return {.magic = KahipJob::signature,
            .n_vertices = n,
            .n_entries = m,
            .imbalance = options.imbalance,
            .nparts = options.nparts,
            .seed = options.seed,
            .mode = options.mode,
            .has_vertex_weights = n_vertex_weights > 0,
            .has_edge_weights = n_edge_weights > 0,
            .state = KahipState::waiting};
}

// Each number is read once: the caller's arrays may be changing.
void copy_offsets(std::span<const index_t> offsets, index_t n_entries, std::int32_t* to) {
    index_t before = 0;
    for (const index_t offset : offsets) {
        require_in_range(offset, n_entries + 1);
        if (offset < before) throw_changed("offset " + std::to_string(offset) + " follows " + std::to_string(before));
        *to++ = static_cast<std::int32_t>(offset);
        before = offset;
    }
    if (before != n_entries) throw_changed("the last offset is " + std::to_string(before));
}

void copy_targets(std::span<const index_t> targets, index_t n_vertices, std::int32_t* to) {
    for (const index_t target : targets) {
        require_in_range(target, n_vertices);
        *to++ = static_cast<std::int32_t>(target);
    }
}

void copy_weights(const char* of_what, std::span<const weight_t> weights, std::int32_t* to) {
    weight_t sum = 0;
    for (const weight_t weight : weights) {
        if (weight < 1) throw_changed(std::string(of_what) + " of " + std::to_string(weight));
        if (weight > largest - sum) throw_too_large("a sum of " + std::string(of_what) + "s", largest);
        sum += weight;
        *to++ = static_cast<std::int32_t>(weight);
    }
}

std::string ending(std::optional<int> status) {
    if (!status) return "ended without a result";
    if (!WIFSIGNALED(*status)) return "ended with status " + std::to_string(WEXITSTATUS(*status)) + " and no result";
    const int signal = WTERMSIG(*status);
    std::string text = "was ended by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
    if (signal == SIGKILL) text += ", perhaps for want of memory";
    if (signal == SIGILL) text += ": the processor lacks instructions that this build of KaHIP uses (AVX2, FMA)";
    return text;
}

}  // namespace

void require_kahip_can_number(index_t n_vertices, index_t n_entries) {
    if (n_vertices >= largest) throw_too_large("a graph of " + std::to_string(n_vertices) + " vertices", largest - 1);
    if (n_entries > largest) {
        throw_too_large("a graph of " + std::to_string(n_entries) + " entries, two an edge,", largest);
    }
}

Vector<part_t> kahip(GraphView graph, const KahipOptions& options, const std::function<void()>& poll) {
    KahipJob size = describe(graph, options);
    const Descriptor memory = shared_memory(size.bytes(), poll);
    SharedMemory shared(memory.number(), size.bytes());
    if (!shared.mapped()) throw std::bad_alloc();
    KahipJob& job = *new (&shared.job()) KahipJob(size);
    copy_offsets(graph.rows.offsets, job.n_entries, job.offsets());
    copy_targets(graph.rows.entries, job.n_vertices, job.targets());
    copy_weights("vertex weight", graph.vertex_weights, job.vertex_weights());
    copy_weights("edge weight", graph.edge_weights, job.edge_weights());

    HelperProcess process(options.helper, memory);
    const std::optional<int> status = process.wait(poll);
    if (job.state == KahipState::out_of_memory) throw MethodFailure("KaHIP's process found too little memory");
    if (job.state != KahipState::done) throw MethodFailure("KaHIP's process " + ending(status));

    Vector<part_t> labels(job.labels(), job.labels() + job.n_vertices);
    for (const part_t label : labels) {
        if (label < 0 || label >= options.nparts) {
            throw MethodFailure("KaHIP gave the label " + std::to_string(label) + " of " +
                                std::to_string(options.nparts) + " parts");
        }
    }
    return labels;
}

}  // namespace meshpart
