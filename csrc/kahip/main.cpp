// The helper executable: runs kaffpa once on the graph in the memory that the core shares with it. See core/kahip.hpp.
#include <fcntl.h>
#include <kaHIP_interface.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <thread>

#ifdef __linux__
#include <sys/prctl.h>

#include <csignal>
#endif

#include "core/helper_process.hpp"
#include "core/kahip_job.hpp"

namespace {

using meshpart::KahipJob;
using meshpart::KahipState;

static_assert(sizeof(kahip_idx) == sizeof(std::int32_t), "the core hands the graph over in 32-bit numbers");

// Ends this process when the core's does, by whatever: the socket's other end closes then.
void end_with_the_core() {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // at the end of the thread that waits for us, should a fork hold the socket open
#endif
    std::thread([] {
        char byte = 0;
        while (read(meshpart::lifeline_descriptor, &byte, 1) != 0) {
            if (errno != EINTR) break;
        }
        _exit(1);
    }).detach();
}

KahipState run(KahipJob& job) {
    kahip_idx n = static_cast<kahip_idx>(job.n_vertices), nparts = job.nparts, cut = 0;
    try {
        kaffpa(&n, job.has_vertex_weights ? job.vertex_weights() : nullptr, job.offsets(),
               job.has_edge_weights ? job.edge_weights() : nullptr, job.targets(), &nparts, &job.imbalance, true,
               job.seed, job.mode, &cut, job.labels());
    } catch (const std::bad_alloc&) {
        return KahipState::out_of_memory;
    }
    return KahipState::done;
}

}  // namespace

int main() {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    struct stat memory{};
    if (fstat(meshpart::memory_descriptor, &memory) != 0 || memory.st_size < off_t{sizeof(KahipJob)}) return 2;
    const auto size = static_cast<std::size_t>(memory.st_size);
    meshpart::SharedMemory shared(meshpart::memory_descriptor, size);
    if (!shared.mapped()) return 3;
    KahipJob& job = shared.job();
    if (job.magic != KahipJob::signature || job.bytes() != size) return 4;
    end_with_the_core();
    job.state = run(job);
    _exit(0);  // without taking apart what the system takes apart sooner
}
