// Processes that the core starts.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/helper_process.hpp"

using namespace meshpart;

namespace {

const auto nothing = [] {};

bool is_open(int descriptor) {
    return fcntl(descriptor, F_GETFD) >= 0;
}

}  // namespace

TEST_CASE("a descriptor is none that a helper has, is not passed on, and is closed at its end") {
    int number = -1;
    {
        Descriptor one(open("/dev/null", O_RDONLY));
        number = one.number();
        CHECK(number > memory_descriptor);
        CHECK((fcntl(number, F_GETFD) & FD_CLOEXEC) != 0);
        const Descriptor same(std::move(one));
        CHECK(same.number() == number);
        CHECK(is_open(number));
    }
    CHECK(!is_open(number));
    CHECK_THROWS_AS(Descriptor(open("/none", O_RDONLY)), MethodFailure);
}

TEST_CASE("shared memory is as large as asked for, to the byte") {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4097}, (std::size_t{1} << 24) + 5}) {
        const Descriptor memory = shared_memory(bytes, nothing);
        struct stat found{};
        REQUIRE(fstat(memory.number(), &found) == 0);
        CHECK(found.st_size == static_cast<off_t>(bytes));
    }
}

TEST_CASE("a helper's end is told, once") {
    const Descriptor memory = shared_memory(1, nothing);
    HelperProcess process("/bin/true", memory);
    const auto status = process.wait(nothing);
    REQUIRE(status);
    CHECK(*status == 0);
    CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("what poll throws ends the helper, and soon") {
    const Descriptor memory = shared_memory(1, nothing);
    const auto start = std::chrono::steady_clock::now();
    {
        HelperProcess process("/usr/bin/yes", memory);  // writes to /dev/null for ever
        int polls = 0;
        const auto poll = [&] {
            if (++polls == 3) throw std::runtime_error("stop");
        };
        CHECK_THROWS_WITH(process.wait(poll), "stop");
    }
    CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("a helper that is not there is named") {
    const Descriptor memory = shared_memory(1, nothing);
    CHECK_THROWS_WITH_AS(HelperProcess("/none/here", memory), doctest::Contains("cannot start /none/here"),
                         MethodFailure);
}
