#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "backends/base/descriptor.h"
#include "backends/base/files.h"
#include "backends/base/mapped_file.h"

namespace modlock {

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0) {
    return system_failure("read", path, errno);
  }
  MappedFile mapped;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    return mapped;
  }
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) {
    return system_failure("read", path, errno);
  }
  mapped.mapping_ = std::shared_ptr<void>(address, [size](void* begin) { ::munmap(begin, size); });
  mapped.content_ = {static_cast<const char*>(address), size};
  return mapped;
}

}  // namespace modlock
