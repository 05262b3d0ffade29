#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "backends/files/descriptor.h"
#include "plugin/mirror/private_file.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

bool write_all(const Descriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return false;
    }
    bytes.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return true;
}

tl::unexpected<Error> cannot_write(const fs::path& path) {
  return fail(Code::io_error,
              fmt::format("cannot write {}: {}", path.string(), std::generic_category().message(errno)));
}

}  // namespace

Result<PrivateFile> PrivateFile::create(std::string_view name, std::string_view content) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    return fail(Code::io_error, fmt::format("there is no directory for temporary files: {}", error.message()),
                "create it, or name another one in TMPDIR");
  }
  std::string directory = (fs::absolute(parent, error) / "tofu-modlock-XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr) {
    return cannot_write(directory);
  }
  PrivateFile made(fs::path(directory) / name);
  const Descriptor file(::open(made.path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid() || !write_all(file, content)) {
    return cannot_write(made.path_);
  }
  return made;
}

PrivateFile::~PrivateFile() {
  if (!path_.empty()) {
    ::unlink(path_.c_str());
    ::rmdir(path_.parent_path().c_str());
  }
}

}  // namespace modlock
