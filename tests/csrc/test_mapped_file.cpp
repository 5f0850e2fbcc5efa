// Files in memory.
#include <dirent.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "core/mapped_file.hpp"

using namespace meshpart;

namespace {

const std::filesystem::path temporary = std::filesystem::temp_directory_path();

// A file that is there while this lives.
struct TemporaryFile {
    std::string path = (temporary / "meshpart-mapped-XXXXXX").string();

    explicit TemporaryFile(const std::string& text) {
        const int descriptor = mkstemp(path.data());
        REQUIRE(descriptor >= 0);
        REQUIRE(write(descriptor, text.data(), text.size()) == std::ssize(text));
        close(descriptor);
    }
    ~TemporaryFile() { std::remove(path.c_str()); }
};

std::string text(const MappedFile& file) {
    return {file.bytes().begin(), file.bytes().end()};
}

int count_descriptors() {
    int count = 0;
    DIR* const folder = opendir("/proc/self/fd");
    while (readdir(folder) != nullptr) ++count;
    closedir(folder);
    return count;
}

int error_of(const std::filesystem::path& path) {
    try {
        const MappedFile file(path.string());
    } catch (const std::system_error& error) {
        return error.code().value();
    }
    return 0;
}

}  // namespace

TEST_CASE("a mapped file is its bytes, and stays so when it is moved or its name is gone") {
    MappedFile moved = [] {
        const TemporaryFile file("what is in it");
        MappedFile mapped(file.path);
        CHECK(text(mapped) == "what is in it");
        return MappedFile(std::move(mapped));
    }();
    CHECK(text(moved) == "what is in it");
}

TEST_CASE("a mapped file keeps no descriptor open") {
    const TemporaryFile file("bytes");
    const int before = count_descriptors();
    const MappedFile one(file.path), other(file.path);
    CHECK(count_descriptors() == before);
}

TEST_CASE("an empty file has no bytes") {
    const TemporaryFile file("");
    CHECK(MappedFile(file.path).bytes().empty());
}

TEST_CASE("what is no file is an error of the system") {
    CHECK(error_of(temporary / "there" / "is" / "no" / "such" / "file") == ENOENT);
    CHECK(error_of(temporary) == EISDIR);
    CHECK(error_of("/dev/null") == EINVAL);
}
