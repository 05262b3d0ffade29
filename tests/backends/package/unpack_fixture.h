#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backends/package/unpack.h"
#include "tests/support/archive_writer.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// What ordinary archives hold, and what tells go-getter's way from others: modes, links, directories before and after
// what is in them, names that must be cleaned, that are long or no ASCII, version control.
std::vector<ArchiveEntry> ordinary_zip_entries();
std::vector<ArchiveEntry> ordinary_tar_entries();
// A zip with a file "name", which a field that Go does not read calls "other" (0x7075, Info-ZIP Unicode Path).
std::string zip_with_unicode_path();

// "<mode> <name>/" of each directory below `root` and "<mode> <name> <content>" of each file, sorted by name.
std::string describe_tree(const std::filesystem::path& root);

// "fine", or "CODE: message".
template <typename T>
std::string outcome(const Result<T>& result) {
  return result ? "fine" : std::string(to_string(result.error().code)) + ": " + result.error().message;
}

// An archive on disk and a directory beside it.
struct Unpacking {
  explicit Unpacking(std::string_view bytes) { directory.write("archive", bytes); }

  Result<void> run(ArchiveFormat format, const UnpackLimits& limits = {}, const Context& context = {}) {
    std::filesystem::create_directories(tree);
    return unpack_archive(archive, format, tree, "https://example.com/x", context, limits)
        .map([this](FileDigests found) { digests = std::move(found); });
  }

  TemporaryDirectory directory;
  std::filesystem::path archive = directory / "archive";
  std::filesystem::path tree = directory / "tree";
  FileDigests digests;  // what run() returned
};

}  // namespace modlock::test
