// A process that the core starts for what could crash, hang or print, the memory it shares with it, and its certain
// end.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace meshpart {

// A partitioning method that failed, through no fault of its input.
struct MethodFailure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Descriptors as the helper finds them. Its standard ones are /dev/null.
inline constexpr int lifeline_descriptor = 3;  // a socket whose other end the core holds: at its end the core is gone
inline constexpr int memory_descriptor = 4;    // the shared memory

// Owns a file descriptor, which no program that this process starts gets to see, and which is none of those above.
class Descriptor {
  public:
    // Takes one from a call that made it, negative if the call failed: throws MethodFailure then.
    explicit Descriptor(int made);
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor();

    int number() const { return number_; }

  private:
    int number_;
};

// Memory without a name, all of it there: throws std::bad_alloc where the system has no more. `poll` is called when a
// signal arrives and may throw.
Descriptor shared_memory(std::size_t bytes, const std::function<void()>& poll);

// A process that ends when this object does, if not before; nothing is left of it then. It also learns of the end of
// this process, however that comes.
class HelperProcess {
  public:
    // Throws MethodFailure, which names the path, if it cannot be started.
    HelperProcess(const std::string& path, const Descriptor& memory);
    HelperProcess(const HelperProcess&) = delete;
    HelperProcess& operator=(const HelperProcess&) = delete;
    ~HelperProcess();

    // Waits for its end. Returns its status as of waitpid, or nothing if someone else was told: a host that ignores
    // SIGCHLD, or waits for any process. `poll` is called about every 50 ms and may throw.
    std::optional<int> wait(const std::function<void()>& poll);

  private:
    HelperProcess(const std::string& path, const Descriptor& memory, std::array<Descriptor, 2> lifeline);
    bool reaped(int flags);

    Descriptor lifeline_;
    pid_t process_ = -1;  // -1 when it has ended
    std::optional<int> status_;
};

}  // namespace meshpart
