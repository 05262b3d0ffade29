#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "backends/base/descriptor.h"
#include "backends/base/files.h"

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

void release_pages(std::string_view bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size()) / page * page;
  if (begin < end) {
    (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_PAGEOUT);  // unlike MADV_DONTNEED, loses nothing
  }
}

}  // namespace modlock
