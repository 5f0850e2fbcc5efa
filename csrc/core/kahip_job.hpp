// The memory that the core and its helper executable share: one call of kaffpa.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace meshpart {

// How far a job has come.
enum class KahipState : std::int32_t { waiting = 0, done = 1, out_of_memory = 2 };

// The head of the memory. The arrays follow: offsets (n_vertices + 1), targets (n_entries), vertex weights, edge
// weights (each where there are any), labels (n_vertices), all int32 without gaps.
struct KahipJob {
    static constexpr std::uint64_t signature = 0x6b61'6666'7061'0001;  // changes with the layout

    std::uint64_t magic;
    std::int64_t n_vertices;
    std::int64_t n_entries;
    double imbalance;
    std::int32_t nparts;
    std::int32_t seed;
    std::int32_t mode;
    std::int32_t has_vertex_weights;
    std::int32_t has_edge_weights;
    KahipState state;  // written last

    std::int32_t* offsets() { return reinterpret_cast<std::int32_t*>(this + 1); }
    std::int32_t* targets() { return offsets() + n_vertices + 1; }
    std::int32_t* vertex_weights() { return targets() + n_entries; }
    std::int32_t* edge_weights() { return vertex_weights() + (has_vertex_weights ? n_vertices : 0); }
    std::int32_t* labels() { return edge_weights() + (has_edge_weights ? n_entries : 0); }
    std::size_t bytes() {
        return static_cast<std::size_t>(reinterpret_cast<std::byte*>(labels() + n_vertices) -
                                        reinterpret_cast<std::byte*>(this));
    }
};
static_assert(sizeof(KahipJob) % alignof(std::int32_t) == 0);

// Shared memory, mapped as long as this lives.
class SharedMemory {
  public:
    SharedMemory(int descriptor, std::size_t bytes)
        : bytes_(bytes), start_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)) {}
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    ~SharedMemory() {
        if (mapped()) munmap(start_, bytes_);
    }

    bool mapped() const { return start_ != MAP_FAILED; }
    KahipJob& job() { return *static_cast<KahipJob*>(start_); }

  private:
    std::size_t bytes_;
    void* start_;
};

}  // namespace meshpart
