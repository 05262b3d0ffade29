#include "plugin/install/tree_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "backends/address/source_text.h"
#include "backends/base/collections.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/text.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPointerStart = "version https://git-lfs.github.com/spec/v1\n";

// Returns whether OpenTofu loads the file (internal/configs/parser_config_dir.go); never if its name begins with a dot.
bool is_configuration(std::string_view name) {
  constexpr std::array<std::string_view, 4> kSuffixes = {".tf", ".tofu", ".tf.json", ".tofu.json"};
  const std::string_view own_name = name.substr(name.rfind('/') + 1);
  return !own_name.starts_with('.') &&
         std::ranges::any_of(kSuffixes, [&](std::string_view suffix) { return own_name.ends_with(suffix); });
}

// Returns the target of the link `name` of a package according to its text, relative to the package; nullopt if `name`
// is not a link.
std::optional<std::string> link_target(const fs::path& package, const std::string& name) {
  std::error_code error;
  const fs::path target = fs::read_symlink(package / name, error);
  return error ? std::nullopt
               : std::optional((fs::path(name).parent_path() / target).lexically_normal().generic_string());
}

std::optional<std::uint64_t> size_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? std::nullopt : std::optional<std::uint64_t>(size);
}

std::string digest_with_lf(const fs::path& file) {
  constexpr std::uint64_t kLongestText = std::uint64_t{16} << 20U;
  const auto text = size_of(file).value_or(kLongestText) < kLongestText ? read_file(file) : Result<std::string>();
  std::string lf;
  for (std::size_t i = 0; text && i < text->size(); ++i) {
    if (text->compare(i, 2, "\r\n") != 0) {
      lf += (*text)[i];
    }
  }
  return lf.empty() ? "" : sha256_hex(lf);
}

// Returns the Git LFS pointer for a content, in the format of the Git LFS specification.
std::string pointer_text(std::string_view sha256, std::uint64_t size) {
  return fmt::format("{}oid sha256:{}\nsize {}\n", kPointerStart, sha256, size);
}

}  // namespace

Result<std::vector<std::string>> find_lfs_pointers(const std::vector<TreeEntry>& entries) {
  constexpr std::uint64_t kLongestPointer = 1024;  // bytes, by the specification of Git LFS
  constexpr std::uint64_t kLongestAttributes = std::uint64_t{1} << 20U;
  const auto is_short_file = [](const TreeEntry& entry, std::uint64_t longest) {
    return entry.type == TreeEntry::Type::file && size_of(entry.path).value_or(longest + 1) <= longest;
  };
  bool has_filter = false;
  for (const TreeEntry& entry : entries) {
    const bool is_attributes = entry.name == ".gitattributes" || entry.name.ends_with("/.gitattributes");
    if (is_attributes && is_short_file(entry, kLongestAttributes)) {
      MODLOCK_TRY(const auto text, read_file(entry.path));
      has_filter = has_filter || text.find("filter=lfs") != std::string::npos;
    }
  }
  std::vector<std::string> pointers;
  for (const TreeEntry& entry : entries) {
    if (has_filter && is_short_file(entry, kLongestPointer)) {
      MODLOCK_TRY(const auto text, read_file(entry.path));
      if (text.starts_with(kPointerStart)) {
        pointers.push_back(entry.name);
      }
    }
  }
  return pointers;
}

Result<std::optional<Diagnostic>> check_lfs_pointers(const fs::path& directory, const ModuleNode& node,
                                                     bool is_strict) {
  MODLOCK_TRY(const auto entries, list_tree(directory));
  MODLOCK_TRY(const auto pointers, find_lfs_pointers(entries));
  if (pointers.empty()) {
    return std::nullopt;
  }
  constexpr std::size_t kShown = 3;
  const auto names = mapped(pointers, [](const std::string& name) { return '"' + escape_controls(name) + '"'; });
  Error error{.code = is_strict ? Code::source_unsupported : Code::lfs_pointer,
              .message = fmt::format("module \"{}\" has Git LFS pointers in place of the content of {}", node.key,
                                     some_of(names, kShown)),
              .subject = node.subject(),
              .hint = "use a source that has the content, if the module needs it"};
  if (is_strict) {
    error.hint += "; otherwise run: " + tofu_modlock("install", "--no-strict");
    return fail(std::move(error));
  }
  return Diagnostic{Severity::warning, std::move(error)};
}

bool is_dotfile(std::string_view name) {
  return name.starts_with('.') || name.find("/.") != std::string_view::npos;
}

TreeDifference compare_trees(const TreeSummary& locked, const TreeSummary& installed, const fs::path& package) {
  TreeDifference difference;
  const auto added = [&](const std::string& name) {
    (is_configuration(name) ? difference.tampered : difference.harmless).push_back(name + " was added");
  };
  // The locked digest of a link is that of its target. If the target is a dotfile that was not copied, the link
  // dangles.
  const auto lost_its_dotfile = [&](const FileDigest& file) {
    const auto target = link_target(package, file.name);
    const FileDigest* meant = target && is_dotfile(*target) ? locked.find(*target) : nullptr;
    return meant != nullptr && meant->sha256 == file.sha256 && installed.find(*target) == nullptr;
  };
  const auto is_meant_by = [&](const FileDigest& pointer, const FileDigest& content) {
    const auto size = size_of(package / content.name);
    return size && sha256_hex(pointer_text(content.sha256, *size)) == pointer.sha256;
  };
  auto have = installed.files.begin();
  for (const FileDigest& file : locked.files) {
    for (; have != installed.files.end() && have->name < file.name; ++have) {
      added(have->name);
    }
    if (have == installed.files.end() || have->name != file.name) {
      (is_dotfile(file.name) ? difference.harmless : difference.tampered).push_back(file.name + " was deleted");
      continue;
    }
    if (have->sha256 != file.sha256) {
      if (lost_its_dotfile(file)) {
        difference.harmless.push_back(file.name + " links to a file that was deleted");
      } else if (is_meant_by(file, *have)) {
        difference.from_pointers.push_back(file.name + " is the content that its Git LFS pointer names");
      } else if (digest_with_lf(package / file.name) == file.sha256) {
        difference.tampered.push_back(file.name + " was changed: its line endings are CRLF");
        ++difference.line_endings;
      } else {
        difference.tampered.push_back(file.name + " was changed");
      }
    }
    ++have;
  }
  for (; have != installed.files.end(); ++have) {
    added(have->name);
  }
  return difference;
}

}  // namespace modlock
