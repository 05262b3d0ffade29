#include "backends/package/tree_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "backends/base/digest.h"
#include "backends/base/parallel.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

using Digest = std::array<std::uint8_t, 32>;

constexpr std::size_t kDigits = 64;
constexpr std::size_t kWorthThreads = 64;  // files; below that starting threads costs more than it saves
constexpr std::size_t kMostThreads = 4;

Result<Digest> digest_of(const TreeEntry& entry, const FileDigests& known) {
  const auto found = known.find(entry.path.string());
  return entry.type == TreeEntry::Type::file && found != known.end() ? found->second : digest_of_entry(entry);
}

}  // namespace

std::string TreeSummary::text() const {
  std::string out;
  for (const FileDigest& file : files) {
    out.append(file.sha256).append("  ").append(file.name).append("\n");
  }
  return out;
}

const FileDigest* TreeSummary::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(files, name, {}, &FileDigest::name);
  return found != files.end() && found->name == name ? &*found : nullptr;
}

std::string TreeSummary::h1() const {
  Sha256 sha;
  sha.update(text());
  return "h1:" + base64(sha.finish());
}

std::optional<TreeSummary> parse_tree_summary(std::string_view text) {
  TreeSummary summary;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (end == std::string_view::npos || line.size() <= kDigits + 2 || line.substr(kDigits, 2) != "  ") {
      return std::nullopt;
    }
    summary.files.push_back({std::string(line.substr(kDigits + 2)), std::string(line.substr(0, kDigits))});
    text.remove_prefix(end + 1);
  }
  return summary;
}

Result<Digest> digest_of_entry(const TreeEntry& entry) {
  if (entry.type != TreeEntry::Type::link_as_text) {
    return sha256_file(entry.path);
  }
  std::error_code error;
  const fs::path target = fs::read_symlink(entry.path, error);
  if (error) {
    return system_failure("read the link", entry.path, error.value());
  }
  Sha256 sha;
  sha.update(target.native());
  return sha.finish();
}

Result<std::vector<TreeEntry>> list_tree(const fs::path& root, TreeRules rules) {
  MODLOCK_TRY(auto scan, scan_tree(root, rules));
  std::vector<TreeEntry> entries;
  entries.reserve(scan.entries.size());
  for (ScannedEntry& entry : scan.entries) {
    fs::path path = root / entry.name;
    entries.push_back({std::move(entry), std::move(path)});
  }
  return entries;
}

Result<void> refuse_override(const std::vector<TreeEntry>& entries) {
  constexpr std::string_view kOverrideFile = "modlock_override.tf";
  for (const TreeEntry& entry : entries) {
    if (std::string_view(entry.name).substr(entry.name.rfind('/') + 1) == kOverrideFile) {
      return fail(Code::archive_unsafe,
                  fmt::format("the package contains \"{}\", a name that only tofu-modlock may write", entry.name),
                  "ask the author of the package to remove the file");
    }
  }
  return {};
}

std::string hash_modes(const std::vector<TreeEntry>& entries) {
  constexpr unsigned kOwnerMayExecute = 0100;
  Sha256 sha;
  for (const TreeEntry& entry : entries) {
    const bool is_executable = (entry.mode & kOwnerMayExecute) != 0;
    sha.update(entry.type != TreeEntry::Type::file ? "link " : is_executable ? "executable " : "file ");
    sha.update(entry.name);
    sha.update("\n");
  }
  return hex(sha.finish());
}

bool has_copied_modes(const std::vector<TreeEntry>& entries) {
  return std::ranges::all_of(entries, [](const TreeEntry& entry) {
    return entry.type != TreeEntry::Type::file || entry.mode == 0644 || entry.mode == 0755;
  });
}

Result<TreeSummary> summarise_entries(const std::vector<TreeEntry>& entries, const FileDigests& known,
                                      const Context& context) {
  std::vector<Result<Digest>> digests(entries.size());
  const std::size_t threads = std::min(core_count(), kMostThreads);
  parallel_for(entries.size(), entries.size() < kWorthThreads ? 1 : threads, [&](std::size_t i) {
    const Result<void> go_on = context.check();
    digests[i] = go_on ? digest_of(entries[i], known) : Result<Digest>(fail(go_on.error()));
  });
  TreeSummary summary;
  summary.files.reserve(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    MODLOCK_TRY(const auto digest, std::move(digests[i]));
    summary.files.push_back({entries[i].name, hex(digest)});
  }
  return summary;
}

Result<TreeSummary> summarise_tree(const fs::path& root, const Context& context) {
  MODLOCK_TRY(auto entries, list_tree(root));
  return summarise_entries(entries, {}, context);
}

Result<std::string> hash_tree(const fs::path& root, const Context& context) {
  return summarise_tree(root, context).map([](const TreeSummary& summary) { return summary.h1(); });
}

Result<std::string> former_hash_of_tree(const fs::path& root, const Context& context) {
  constexpr std::array<std::string_view, 5> kLeftOut = {".hg", ".svn", ".bzr", "CVS", "_darcs"};
  MODLOCK_TRY(auto summary, summarise_tree(root, context));
  std::erase_if(summary.files, [&](const FileDigest& file) {
    const fs::path path(file.name);
    return std::ranges::any_of(
        path, [&](const fs::path& part) { return std::ranges::find(kLeftOut, part.native()) != kLeftOut.end(); });
  });
  return summary.h1();
}

}  // namespace modlock
