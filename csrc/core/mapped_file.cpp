#include "mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace meshpart {
namespace {

[[noreturn]] void fail(int error, const std::string& path) {
    throw std::system_error(error, std::generic_category(), path);
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
    // Without waiting for a writer of what is no file, but a pipe.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) fail(errno, path);
    struct stat status{};
    int error = ::fstat(descriptor, &status) == 0 ? 0 : errno;
    if (error == 0 && !S_ISREG(status.st_mode)) error = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    void* begin = nullptr;
    if (error == 0 && status.st_size > 0) {
        begin = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_SHARED, descriptor, 0);
        if (begin == MAP_FAILED) error = errno;
    }
    ::close(descriptor);
    if (error != 0) fail(error, path);
    if (begin != nullptr) bytes_ = {static_cast<const std::uint8_t*>(begin), static_cast<std::size_t>(status.st_size)};
}

MappedFile::~MappedFile() {
    if (bytes_.data() != nullptr) ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace meshpart
