#include "plugin/resolve/module_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/source_text.h"
#include "backends/base/collections.h"
#include "backends/base/entry_name.h"
#include "backends/base/parallel.h"
#include "plugin/config/config_files.h"
#include "plugin/config/roots.h"

namespace modlock {

namespace fs = std::filesystem;

namespace {

// Errors of a file are shown with its line, so a symbolic link must not point to a file that is not configuration.
Result<std::shared_ptr<const ParsedModule>> checked(std::shared_ptr<const ParsedModule> module,
                                                    const std::vector<fs::path>& bounds) {
  for (const ConfigText& file : module->files) {
    if (!file.is_link) {
      continue;
    }
    auto inside = confine(module->directory / file.path, bounds);
    if (!inside && inside.error().code == Code::path_outside_root) {
      return fail(
          Error{.code = Code::path_outside_root,
                .message = fmt::format(
                    "the file \"{}\" is a symbolic link to a file outside the directories that may be read", file.path),
                .hint = "replace the link with the file, or allow its directory with --workspace-root"});
    }
    MODLOCK_TRY(inside);
  }
  return module;
}

bool lies_inside(const fs::path& path, const fs::path& directory) {
  const auto [end, _] = std::mismatch(directory.begin(), directory.end(), path.begin(), path.end());
  return end == directory.end() || (std::next(end) == directory.end() && end->empty());
}

// Returns the directory before symbolic links are resolved.
fs::path named_directory(const ModuleNode& node, const ModuleNode& parent) {
  const fs::path named = (parent.directory / node.address.source.path).lexically_normal();
  return named.has_filename() ? named : named.parent_path();
}

// Returns the deepest directory that contains both or is one of them.
fs::path enclosing_directory(const fs::path& one, const fs::path& other) {
  fs::path enclosing;
  const auto end = std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first;
  for (auto name = one.begin(); name != end; ++name) {
    enclosing /= *name;
  }
  return enclosing;
}

void resolve_links(ModuleNode& node, const fs::path& base) {
  std::error_code missing;
  const fs::path real_base = fs::canonical(base, missing);
  const fs::path below = fs::canonical(node.directory, missing).lexically_relative(real_base);
  if (missing || below.empty() || below == node.directory.lexically_relative(base)) {
    return;
  }
  node.directory = clean_path((base / below).generic_string());
  node.manifest_directory = join_relative(node.manifest_package, below.generic_string());
}

}  // namespace

Result<std::shared_ptr<const ParsedModule>> ModuleReader::read(const fs::path& directory,
                                                               const std::vector<fs::path>& bounds) {
  const fs::path place = document_path(directory);
  if (const auto* known = find_in(known_, place)) {
    return checked(*known, bounds);
  }
  MODLOCK_TRY(const auto module, read_module(place, documents_, tool_, context_));
  return checked(known_.emplace(place, module).first->second, bounds);
}

Result<std::shared_ptr<const ParsedModule>> ModuleReader::read_tests(const ParsedModule& root,
                                                                     const std::vector<fs::path>& bounds) const {
  MODLOCK_TRY(auto tests, read_test_files(root, documents_, tool_));
  return checked(std::move(tests), bounds);
}

void ModuleReader::read_ahead(const std::set<fs::path>& directories) {
  std::set<fs::path> unread;
  for (const fs::path& directory : directories) {
    if (fs::path place = document_path(directory); !known_.contains(place)) {
      unread.insert(std::move(place));
    }
  }
  const std::vector<fs::path> places(unread.begin(), unread.end());
  std::vector<std::shared_ptr<const ParsedModule>> found(places.size());
  // A large module is read in parallel on its own.
  constexpr std::size_t kWorthThreads = 4;
  parallel_for(places.size(), places.size() < kWorthThreads ? 1 : core_count(), [&](std::size_t i) {
    found[i] = read_module(places[i], documents_, tool_, context_).value_or(nullptr);
  });
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (found[i] != nullptr) {
      known_.emplace(places[i], std::move(found[i]));
    }
  }
}

void place_local_module(ModuleNode& node, const ModuleNode& parent, const fs::path& root) {
  node.directory = named_directory(node, parent);
  node.manifest_directory = join_relative(parent.manifest_directory, node.address.source.path);
  node.package_directory = parent.package_directory;
  node.manifest_package = parent.manifest_package;
  if (parent.address.source.is_directory()) {
    // A client makes a link to such a package, and resolves it for the calls inside.
    std::error_code missing;
    const fs::path package = fs::canonical(node.package_directory, missing);
    node.manifest_package = package.string();
    node.manifest_directory = join_relative(node.manifest_package,
                                            node.directory.lexically_relative(node.package_directory).generic_string());
  }
  resolve_links(node, node.package_directory.empty() ? root : node.package_directory);
}

std::optional<Error> misspelled_source(const ModuleNode& node, const ModuleNode& parent) {
  fs::path directory = named_directory(node, parent);
  for (const fs::path& part : fs::path(node.address.source.path)) {
    if (part == "." || part == ".." || part.empty()) {
      continue;
    }
    if (!folds_case(directory)) {
      return std::nullopt;
    }
    if (const auto name = name_on_disk(directory)) {
      return Error{.code = Code::config_parse,
                   .message = fmt::format("the local source \"{}\" of module \"{}\" names the directory \"{}\"",
                                          node.call.source.text, node.key, *name),
                   .location = node.call.source.location,
                   .hint = fmt::format("write \"{}\" as it is spelled: on Linux, \"{}\" is not found", *name,
                                       directory.filename().string())};
    }
    directory = directory.parent_path();
  }
  return std::nullopt;
}

std::vector<fs::path> bounds_of(const ModuleNode& node, const std::vector<fs::path>& bounds) {
  if (!node.package_directory.empty()) {
    return {node.package_directory};
  }
  std::vector<fs::path> own = bounds;
  own.push_back(node.directory);
  return own;
}

Result<void> check_local_bounds(const ModuleNode& node, const ModuleNode& parent, const WalkRequest& request) {
  const auto refuse = [&](Code code, std::string_view why, Hint hint, std::vector<std::string> notes = {}) {
    return fail(Error{
        .code = code,
        .message = fmt::format("the local source \"{}\" of module \"{}\" {}", node.call.source.text, node.key, why),
        .location = node.call.source.location,
        .notes = std::move(notes),
        .hint = std::move(hint)});
  };
  if (!node.package_directory.empty()) {
    return lies_inside(node.directory, node.package_directory)
               ? Result<void>()
               : refuse(Code::source_invalid, "points outside the package that it is called from",
                        "call the other module by its own remote source address");
  }
  auto confined = confine(node.directory, request.bounds);
  if (!confined && request.follows_local_sources) {
    const fs::path named = named_directory(node, parent);
    confined = confine(named, {enclosing_directory(named, request.root)});
  }
  if (confined) {
    return {};
  }
  const Error& error = confined.error();
  return error.code == Code::path_outside_root
             ? refuse(error.code, "points outside the directories that may be read",
                      "allow the directory with --workspace-root, or move the module into the repository of the root")
             : refuse(error.code, "cannot be followed", "repair the links and permissions on the way there",
                      {error.message});
}

}  // namespace modlock
