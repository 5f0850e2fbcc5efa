// A file in memory, read-only, without a descriptor that stays open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace meshpart {

// The bytes of a file, mapped for as long as this lives. Pages are read when they are touched, and shared with other
// processes that map the file. It must not be cut short meanwhile.
class MappedFile {
  public:
    // Throws std::system_error if the file cannot be opened or mapped.
    explicit MappedFile(const std::string& path);
    MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    MappedFile& operator=(MappedFile&&) = delete;
    ~MappedFile();

    std::span<const std::uint8_t> bytes() const { return bytes_; }

  private:
    std::span<const std::uint8_t> bytes_;
};

}  // namespace meshpart
