#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace modlock {

struct FileDigest {
  std::string name;    // relative to the package, `/`-separated
  std::string sha256;  // 64 lower-case hexadecimal digits
};

// The digests of a package's entries, sorted bytewise by name: what its "h1:" is made of, so that a summary proves
// itself against a known h1.
struct TreeSummary {
  std::vector<FileDigest> files;

  // "<sha256>  <name>" and LF for each file: the text that golang.org/x/mod/sumdb/dirhash Hash1 hashes.
  std::string text() const;
  // "h1:" and the base64 of the SHA-256 of text().
  std::string h1() const;
};

// Reads text(). nullopt where it is nothing like it.
std::optional<TreeSummary> parse_tree_summary(std::string_view text);

}  // namespace modlock
