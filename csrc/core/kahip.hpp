// KaHIP's kaffpa, run in a process of its own.
#pragma once

#include <functional>
#include <string>

#include "graph.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

struct KahipOptions {
    part_t nparts;     // 1..n_vertices
    double imbalance;  // 0.03 is three per cent; 0 may never end
    int seed;
    int mode;            // as in kaHIP_interface.h: fast, eco, strong, and the three again for social networks, 0..5
    std::string helper;  // the path of the helper executable
};

// Labels 0..nparts-1 of the vertices, some of which may not occur (P. Sanders, C. Schulz, "Think Locally, Act Globally:
// Highly Balanced Graph Partitioning", SEA 2013).
//
// kaffpa has global state, cannot be stopped and may crash: each call has its own process, the helper executable, and
// the graph goes there through shared memory. Calls may run side by side; equal input gives equal labels.
//
//   graph  symmetric and without loops; weights are at least 1, and each kind's sum is below 2^31
//   poll   called about every 50 ms while the process runs. It may throw: then the process is killed first
//
// Throws std::length_error if the graph is too large for KaHIP's 32-bit numbers, std::out_of_range for an id or an
// offset, std::invalid_argument for an option or a weight that cannot be right, std::bad_alloc for want of memory, and
// MethodFailure (of helper_process.hpp) if the process cannot be started, crashes or is killed.
Vector<part_t> kahip(GraphView graph, const KahipOptions& options, const std::function<void()>& poll);

// Throws std::length_error unless KaHIP can number that many vertices, and entries of rows.
void require_kahip_can_number(index_t n_vertices, index_t n_entries);

}  // namespace meshpart
