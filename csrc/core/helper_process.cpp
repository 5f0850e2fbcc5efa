#include "helper_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <system_error>
#include <vector>

extern char** environ;

namespace meshpart {
namespace {

constexpr int tick_ms = 50;

[[noreturn]] void fail(const std::string& what, int error) {
    throw MethodFailure(what + ": " + std::generic_category().message(error));
}

int make_memory() {
#ifdef __linux__
    constexpr unsigned not_executable = 8;  // MFD_NOEXEC_SEAL, which some systems ask for and those before 6.3 refuse
    const int made = memfd_create("meshpart", MFD_CLOEXEC | not_executable);
    return made < 0 && errno == EINVAL ? memfd_create("meshpart", MFD_CLOEXEC) : made;
#else
    static std::atomic<unsigned> count{0};
    const std::string name = "/meshpart." + std::to_string(getpid()) + "." + std::to_string(count++);
    const int made = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (made >= 0) shm_unlink(name.c_str());
    return made;
#endif
}

int reserve(int descriptor, off_t start, off_t size) {
#ifdef __APPLE__
    return ftruncate(descriptor, start + size) == 0 ? 0 : errno;
#else
    return posix_fallocate(descriptor, start, size);
#endif
}

std::array<Descriptor, 2> make_lifeline() {
    int ends[2] = {-1, -1};
#ifdef SOCK_CLOEXEC
    constexpr int type = SOCK_STREAM | SOCK_CLOEXEC;
#else
    constexpr int type = SOCK_STREAM;
#endif
    if (socketpair(AF_UNIX, type, 0, ends) != 0) fail("no socket for a helper process", errno);
    Descriptor first(ends[0]);
    return {std::move(first), Descriptor(ends[1])};
}

// How the process is to start: nothing of ours but two descriptors; every signal as by default, but for the terminal's
// Ctrl-C, which is ours to act on.
class Start {
  public:
    Start(int lifeline, int memory) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawnattr_init(&attributes_);
        for (const int standard : {0, 1, 2}) {
            posix_spawn_file_actions_addopen(&actions_, standard, "/dev/null", standard == 0 ? O_RDONLY : O_WRONLY, 0);
        }
        posix_spawn_file_actions_adddup2(&actions_, lifeline, lifeline_descriptor);
        posix_spawn_file_actions_adddup2(&actions_, memory, memory_descriptor);
        sigset_t defaults, blocked;
        sigfillset(&defaults);
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGINT);
        posix_spawnattr_setsigdefault(&attributes_, &defaults);
        posix_spawnattr_setsigmask(&attributes_, &blocked);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    }
    Start(const Start&) = delete;
    Start& operator=(const Start&) = delete;
    ~Start() {
        posix_spawnattr_destroy(&attributes_);
        posix_spawn_file_actions_destroy(&actions_);
    }

    pid_t process(const std::string& path) {
        std::string name = path;
        char* arguments[] = {name.data(), nullptr};
        pid_t process = -1;
        // Large pages for its heap, where the system offers them to those who ask: filling fresh memory took KaHIP half
        // of its time on 300 000 cells in mode fast, and takes a quarter so.
        std::string large_pages = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1";
        std::vector<char*> environment;
        for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
        if (getenv("GLIBC_TUNABLES") == nullptr) environment.push_back(large_pages.data());
        environment.push_back(nullptr);
        const int error = posix_spawn(&process, path.c_str(), &actions_, &attributes_, arguments, environment.data());
        if (error != 0) fail("cannot start " + path, error);
        return process;
    }

  private:
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

}  // namespace

Descriptor::Descriptor(int made) : number_(-1) {
    if (made < 0) fail("no descriptor for a helper process", errno);
    number_ = fcntl(made, F_DUPFD_CLOEXEC, memory_descriptor + 1);
    const int error = errno;
    close(made);
    if (number_ < 0) fail("no descriptor for a helper process", error);
}

Descriptor::~Descriptor() {
    if (number_ >= 0) close(number_);
}

Descriptor shared_memory(std::size_t bytes, const std::function<void()>& poll) {
    Descriptor memory(make_memory());
    // In steps, for a signal undoes the step it comes in: a host's timer could else keep a long one from ever ending.
    constexpr off_t step = off_t{1} << 24;
    const auto size = static_cast<off_t>(bytes);
    for (off_t start = 0; start < size;) {
        const int error = reserve(memory.number(), start, std::min(step, size - start));
        if (error == 0) {
            start += step;
        } else if (error == EINTR) {
            poll();
        } else if (error == ENOMEM || error == ENOSPC) {
            throw std::bad_alloc();
        } else {
            fail("no shared memory of " + std::to_string(bytes) + " bytes", error);
        }
    }
    return memory;
}

HelperProcess::HelperProcess(const std::string& path, const Descriptor& memory)
    : HelperProcess(path, memory, make_lifeline()) {}

HelperProcess::HelperProcess(const std::string& path, const Descriptor& memory, std::array<Descriptor, 2> lifeline)
    : lifeline_(std::move(lifeline[0])), process_(Start(lifeline[1].number(), memory.number()).process(path)) {}

HelperProcess::~HelperProcess() {
    if (process_ < 0 || reaped(WNOHANG)) return;
    kill(process_, SIGKILL);
    while (!reaped(0)) {
    }
}

std::optional<int> HelperProcess::wait(const std::function<void()>& poll) {
    for (;;) {
        // Its end of the socket closes when it ends, at once; later where another process got a copy by a fork.
        pollfd end{lifeline_.number(), POLLIN, 0};
        const bool closed = ::poll(&end, 1, tick_ms) > 0;
        if (reaped(closed ? 0 : WNOHANG)) return status_;
        poll();
    }
}

bool HelperProcess::reaped(int flags) {
    int status = 0;
    const pid_t found = waitpid(process_, &status, flags);
    if (found == process_) {
        status_ = status;
    } else if (found == 0 || errno != ECHILD) {
        return false;  // it runs, or a signal came
    }
    process_ = -1;
    return true;
}

}  // namespace meshpart
