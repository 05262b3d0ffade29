#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/package/tree_scan.h"

// How a file below v2/trees of a store is written (tree_memo.h).
namespace modlock::tree_memo {

struct KnownDirectory {
  std::string_view name;  // relative to the package; "" is the package itself
  FileStamp stamp;
};

struct KnownFile {
  std::string_view name;
  FileStamp stamp;
  std::array<std::uint8_t, 32> sha256 = {};
};

struct Memo {
  // Of the package, where it consists of these directories and files and of nothing else; else empty, and there are no
  // directories.
  std::string_view h1 = {};
  std::vector<KnownDirectory> directories = {};
  std::vector<KnownFile> files = {};  // sorted bytewise by name
};

// Binary, and with a digest of itself at the end.
std::string write(const Memo& memo);
// The reverse. Names are part of the text, and a NUL follows each. Without anything where the text is no whole memo.
Memo read(std::string_view text);

}  // namespace modlock::tree_memo
