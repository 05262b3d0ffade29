#include "backends/base/system_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace modlock {
namespace {

std::string_view hint_for(int reason) {
  switch (reason) {
    case ENOSPC:
    case EDQUOT:
      return "free some space there, then run it again";
    case EACCES:
    case EPERM:
      return "give the user that runs this permission there";
    case EROFS:
      return "the file system is mounted read-only: make it writable or choose another directory";
    default:
      return {};
  }
}

}  // namespace

tl::unexpected<Error> system_failure(std::string_view what, const std::filesystem::path& path, int reason) {
  return fail(Code::io_error,
              fmt::format("cannot {} \"{}\": {}", what, path.string(), std::generic_category().message(reason)),
              std::string(hint_for(reason)));
}

}  // namespace modlock
