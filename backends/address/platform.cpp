#include "backends/address/platform.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"

namespace modlock {
namespace {

bool is_platform_part(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return ascii::is_alnum(c) || c == '-'; });
}

}  // namespace

Result<Platform> Platform::parse(std::string_view text) {
  const std::size_t underscore = text.find('_');
  if (underscore != std::string_view::npos) {
    const std::string_view os = text.substr(0, underscore);
    const std::string_view arch = text.substr(underscore + 1);
    if (is_platform_part(os) && is_platform_part(arch)) {
      return Platform{std::string(os), std::string(arch)};
    }
  }
  return fail(Code::invalid_params,
              fmt::format("expected a platform such as \"linux_amd64\", found \"{}\"", escape_controls(text)),
              "name an operating system and an architecture, joined by one underscore");
}

Platform Platform::current() {
#if defined(__x86_64__)
  constexpr const char* kArch = "amd64";
#elif defined(__aarch64__)
  constexpr const char* kArch = "arm64";
#elif defined(__i386__)
  constexpr const char* kArch = "386";
#elif defined(__arm__)
  constexpr const char* kArch = "arm";
#else
#error "Go's name of this architecture is not known here"
#endif
#if defined(__linux__)
  return {"linux", kArch};
#elif defined(__APPLE__)
  return {"darwin", kArch};
#else
#error "Go's name of this operating system is not known here"
#endif
}

}  // namespace modlock
