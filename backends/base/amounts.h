#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace modlock {

// Returns "1 package", "2 packages"; "2 repositories" if `many` is the plural.
inline std::string counted(std::size_t count, std::string_view what, std::string_view many = {}) {
  return fmt::format("{} {}{}", count, count == 1 || many.empty() ? what : many,
                     count == 1 || !many.empty() ? "" : "s");
}

// Returns "1.5 MiB", or, below 0.1 MiB, "12 KiB": whole ones, rounded up.
inline std::string size_text(std::uint64_t bytes) {
  const double mebibytes = static_cast<double>(bytes) / 1048576.0;
  return mebibytes < 0.1 ? fmt::format("{} KiB", (bytes + 1023U) / 1024U) : fmt::format("{:.1f} MiB", mebibytes);
}

}  // namespace modlock
