#include "backends/package/tree_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <thread>

#include "backends/crypto/digest.h"
#include "backends/files/system_error.h"
#include "backends/package/link_target.h"
#include "backends/parallel.h"
#include "backends/source_text.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

using Digest = std::array<std::uint8_t, 32>;

constexpr std::size_t kWorthThreads = 64;  // files; below that starting threads costs more than it saves
constexpr std::size_t kMostThreads = 4;

tl::unexpected<Error> unsafe(const std::string& name, std::string_view why) {
  return fail(Code::archive_unsafe, fmt::format("the entry \"{}\" of the package {}", escape_controls(name), why),
              "the package cannot be used as it is: ask its author to remove the entry");
}

class Lister {
 public:
  explicit Lister(const fs::path& root) : root_(root) {}

  Result<std::vector<TreeEntry>> run() {
    if (auto ok = list(root_, ""); !ok) {
      return fail(ok.error());
    }
    std::sort(entries_.begin(), entries_.end(),
              [](const TreeEntry& left, const TreeEntry& right) { return left.name < right.name; });
    return std::move(entries_);
  }

 private:
  Result<void> list(const fs::path& directory, const std::string& prefix) {
    std::error_code error;
    std::vector<fs::directory_entry> found;
    for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
      found.push_back(*at);
    }
    if (error) {
      return system_failure("read the directory", directory, error.value());
    }
    for (const fs::directory_entry& entry : found) {
      const std::string name = entry.path().filename().string();
      if (is_version_control_name(name)) {
        continue;
      }
      if (auto ok = add(entry, prefix + name); !ok) {
        return ok;
      }
    }
    return {};
  }

  Result<void> add(const fs::directory_entry& entry, const std::string& name) {
    if (name.find('\n') != std::string::npos) {
      return unsafe(name, "has a line break in its name");
    }
    std::error_code error;
    switch (entry.symlink_status(error).type()) {
      case fs::file_type::directory:
        return list(entry.path(), name + "/");
      case fs::file_type::regular:
        entries_.push_back({name, entry.path(), TreeEntry::Type::file});
        return {};
      case fs::file_type::symlink:
        return add_link(entry, name);
      case fs::file_type::none:
      case fs::file_type::not_found:
        return system_failure("read", entry.path(), error ? error.value() : ENOENT);
      default:
        return unsafe(name, "is a device, a pipe or a socket");
    }
  }

  Result<void> add_link(const fs::directory_entry& entry, const std::string& name) {
    const Result<LinkTarget> target = follow_link(root_, name);
    if (!target) {
      return fail(target.error());
    }
    const bool is_content = *target == LinkTarget::file;
    entries_.push_back(
        {name, entry.path(), is_content ? TreeEntry::Type::link_to_file : TreeEntry::Type::link_as_text});
    return {};
  }

  const fs::path& root_;
  std::vector<TreeEntry> entries_;
};

Result<Digest> digest_of(const TreeEntry& entry, const FileDigests& known) {
  if (const auto found = known.find(entry.path.string()); entry.type == TreeEntry::Type::file && found != known.end()) {
    return found->second;
  }
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

}  // namespace

Result<std::vector<TreeEntry>> list_tree(const fs::path& root) {
  return Lister(root).run();
}

Result<TreeSummary> summarise_entries(const std::vector<TreeEntry>& entries, const FileDigests& known,
                                      const Context& context) {
  std::vector<Result<Digest>> digests(entries.size());
  const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
  parallel_for(entries.size(), entries.size() < kWorthThreads ? 1 : threads, [&](std::size_t i) {
    const Result<void> go_on = context.check();
    digests[i] = go_on ? digest_of(entries[i], known) : Result<Digest>(fail(go_on.error()));
  });
  TreeSummary summary;
  summary.files.reserve(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!digests[i]) {
      return fail(std::move(digests[i].error()));
    }
    summary.files.push_back({entries[i].name, hex(digests[i]->data(), digests[i]->size())});
  }
  return summary;
}

Result<TreeSummary> summarise_tree(const fs::path& root, const Context& context) {
  auto entries = list_tree(root);
  if (!entries) {
    return fail(std::move(entries.error()));
  }
  return summarise_entries(*entries, {}, context);
}

Result<std::string> hash_tree(const fs::path& root, const Context& context) {
  return summarise_tree(root, context).map([](const TreeSummary& summary) { return summary.h1(); });
}

}  // namespace modlock
