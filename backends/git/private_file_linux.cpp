#include "backends/git/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "backends/base/descriptor.h"
#include "backends/base/digest.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> unwritten(const fs::path& path, int reason) {
  return fail(Code::io_error,
              fmt::format("no file for a key can be written below \"{}\": {}", path.parent_path().string(),
                          std::generic_category().message(reason)),
              "make room there, or name another directory in TMPDIR");
}

}  // namespace

Result<PrivateFile> PrivateFile::create(std::string_view content) {
  std::error_code failed;
  const fs::path directory = fs::temp_directory_path(failed);
  PrivateFile file(directory / ("modlock-" + random_hex(16)));
  const Descriptor descriptor(::open(file.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!descriptor.valid()) {
    return unwritten(file.path(), errno);
  }
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return unwritten(file.path(), errno);
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return file;
}

PrivateFile::~PrivateFile() {
  std::error_code ignored;
  if (!path_.empty()) {
    fs::remove(path_, ignored);
  }
}

PrivateFile::PrivateFile(PrivateFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}

}  // namespace modlock::git
