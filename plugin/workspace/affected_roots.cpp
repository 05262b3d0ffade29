#include "plugin/workspace/affected_roots.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "backends/address/source.h"
#include "backends/address/version.h"
#include "backends/base/files.h"
#include "plugin/config/parsed_module.h"
#include "plugin/config/roots.h"
#include "plugin/hcl/value.h"
#include "plugin/settings/settings.h"
#include "protocol/base/json.h"
#include "protocol/base/object_reader.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// Whether it has the name of a settings file, and is in the root or above it.
bool is_settings_of(const fs::path& root, const fs::path& file) {
  const fs::path directory = file.parent_path();
  return file.filename() == kSettingsFileName && (directory == root || lies_plainly_below(root, directory));
}

// Adds a root that cannot be read, for a change of one of these files: an error unless it is known to read none of
// them.
void add_unreadable(const std::string& root, Error error, const std::vector<fs::path>& files, const Context& context,
                    AffectedRoots& affected) {
  const auto reads = reads_any(root, files, context);
  if (reads && !*reads) {
    error.notes.push_back(fmt::format("the root module {} does not read what changed and is skipped", root));
    affected.skipped.push_back(std::move(error));
    return;
  }
  error.notes.push_back(reads ? fmt::format("the root module {} reads what changed", root)
                              : fmt::format("cannot determine whether the root module {} reads what changed", root));
  affected.roots.push_back({.root = root, .error = std::move(error)});
}

// Returns an error for a file of the root whose text at the revision is not available.
std::optional<Error> find_unknown(const InspectedRoot& inspected, const RevisionDiff& diff) {
  for (const fs::path& unknown : diff.unknown) {
    for (const messages::InspectedFile& file : inspected.inspected.files) {
      const fs::path path = (inspected.directory / file.path).lexically_normal();
      if (path == unknown || lies_plainly_below(path, unknown)) {
        return Error{.code = Code::io_error,
                     .message = fmt::format("cannot read {} at revision {}", unknown.string(), diff.revision),
                     .hint = "a submodule or a symbolic link to a directory cannot be compared: run " +
                             tofu_modlock("upgrade", "--target") + " for what changed"};
      }
    }
  }
  return std::nullopt;
}

// Returns what changed in a root since the revision.
Result<ConfigurationChange> changed_since(const std::string& root, const RevisionDiff& diff,
                                          const InspectRoot& inspect) {
  MODLOCK_TRY(auto inspected, inspect(root, {}));
  const InspectedRoot now{root, std::move(inspected)};
  if (auto unknown = find_unknown(now, diff)) {
    return fail(std::move(*unknown));
  }
  auto before = inspect(root, diff.documents);
  if (!before) {
    return fail(with_note(std::move(before.error()),
                          fmt::format("this is the state of the root module {} at revision {}", root, diff.revision)));
  }
  return compare_configurations(root, diff, *before, now.inspected);
}

// Adds the directories that are called as local modules. Returns whether all sources are known.
bool add_calls(const ParsedModule& module, const fs::path& directory, std::vector<fs::path>& called) {
  bool is_complete = !module.incomplete;
  for (const ModuleCallSyntax& call : module.calls) {
    const Argument source = call.find("source");
    if (source.attribute == nullptr) {
      continue;
    }
    const auto value = hcl::static_string(source.attribute->value, source.file->path, "the source", Code::config_parse);
    is_complete = is_complete && value;
    if (value && (value->starts_with("./") || value->starts_with("../") || value->starts_with('/'))) {
      called.push_back(document_path(directory / *value));
    }
  }
  return is_complete;
}

// The same for the files of a directory; for a root also for its test files.
bool read_calls(const fs::path& directory, bool is_root, const Context& context, std::vector<fs::path>& called) {
  const auto module = read_module(directory, {}, ClientKind::opentofu, context);
  if (!module) {
    return module.error().code == Code::not_found;
  }
  const bool is_complete = add_calls(**module, directory, called);
  if (!is_root) {
    return is_complete;
  }
  const auto tests = read_test_files(**module, {}, ClientKind::opentofu);
  return tests && add_calls(**tests, directory, called) && is_complete;
}

DataEntry read_entry(ObjectReader& in) {
  const auto text = [&](const char* name) { return in.string(name).value_or(""); };
  DataEntry entry{.subject = text("subject"),
                  .dep_name = text("depName"),
                  .package_name = text("packageName"),
                  .dep_type = text("depType"),
                  .package_file = text("packageFile"),
                  .current_value = text("currentValue"),
                  .new_value = text("newValue"),
                  .new_version = text("newVersion")};
  if (const auto constraint = in.string("newConstraint")) {
    entry.new_value = *constraint;
  }
  if (entry.subject.empty() && entry.dep_name.empty() && entry.package_name.empty()) {
    in.reject("depName", "expected a depName, a packageName or a subject");
  }
  if (entry.new_value.empty() && entry.new_version.empty()) {
    in.reject("newValue", "expected a newValue or a newVersion");
  }
  return entry;
}

void drop_prefix_through(std::string& text, std::string_view mark) {
  if (const std::size_t at = text.find(mark); at != std::string::npos) {
    text.erase(0, at + mark.size());
  }
}

// Converts "git::ssh://git@example.com/acme/vpc.git//net?ref=v1" to "example.com/acme/vpc".
std::string plain_name(std::string_view source) {
  std::string text(source.substr(0, source.find('?')));
  drop_prefix_through(text, "::");
  drop_prefix_through(text, "://");
  text.erase(std::min(text.find("//"), text.size()));
  drop_prefix_through(text, "@");
  std::ranges::replace(text, ':', '/');
  if (const std::size_t at = text.find("/modules/"); at != std::string::npos && at == text.find('/')) {
    text.erase(at, std::string_view("/modules").size());  // as in registry sources in the lock file
  }
  text.erase(text.find_last_not_of('/') + 1);
  if (text.ends_with(".git")) {
    text.erase(text.size() - 4);
  }
  return text;
}

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

// Returns the reference, or else the digest, that a source names.
std::string reference_of(const std::string& source) {
  const auto parsed = parse_identity(source);
  const std::string named = parsed ? parsed->named_reference() : "";
  return parsed && named.empty() ? parsed->named_id() : named;
}

// Returns the new version of an update: for a tag of a monorepo, the text after the last slash.
std::optional<std::string> version_of(const DataEntry& entry) {
  for (const std::string& text : {entry.new_version, entry.new_value}) {
    if (const auto version = Version::parse(std::string_view(text).substr(text.rfind('/') + 1))) {
      return version->to_string();
    }
  }
  return std::nullopt;
}

// The text in the configuration for a call or a provider.
struct Found {
  std::string subject;
  std::string text;
  bool is_constraint = true;
};

// Returns the required update; nullopt: the lock changes without one.
std::optional<messages::Update> update_of(const DataEntry& entry, const Found& found) {
  const bool is_done = !entry.new_value.empty() && without_blanks(found.text) == without_blanks(entry.new_value);
  messages::Update update;
  update.subject = found.subject;
  if (is_done && !found.is_constraint) {
    return std::nullopt;
  }
  if (!found.is_constraint || !entry.new_version.empty()) {
    update.new_version = version_of(entry);
  }
  if (found.is_constraint && !is_done && !entry.new_value.empty()) {
    update.new_constraint = entry.new_value;
  }
  return update.new_version || update.new_constraint ? std::optional(std::move(update)) : std::nullopt;
}

bool concerns(const DataEntry& entry, std::string_view name, const std::string& text) {
  const bool is_named = names_source(entry.dep_name, name) || names_source(entry.package_name, name);
  const std::string found = without_blanks(text);
  return is_named && (entry.current_value.empty() || found == without_blanks(entry.current_value) ||
                      (!entry.new_value.empty() && found == without_blanks(entry.new_value)));
}

// Returns the calls and providers of a root that an entry is for.
std::vector<Found> find_places(const InspectedRoot& root, const DataEntry& entry, const fs::path& repository) {
  const fs::path file = entry.package_file.empty() ? fs::path() : (repository / entry.package_file).lexically_normal();
  const auto concerned = [&](const std::string& name, const std::string& text, const Location& location) {
    const bool is_there = file.empty() || (root.directory / location.path).lexically_normal() == file;
    return is_there && concerns(entry, name, text);
  };
  std::vector<Found> found;
  if (!entry.subject.empty()) {
    if (file.empty() || root.reads(file)) {
      found.push_back({entry.subject, "", !entry.new_value.empty()});
    }
    return found;
  }
  const bool is_for_provider = entry.dep_type.find("provider") != std::string::npos;
  for (const messages::InspectedModule& module : root.inspected.modules) {
    const std::string source = module.source.value_or("");
    const std::string constraint = module.constraint.value_or("");
    const std::string text = constraint.empty() ? reference_of(source) : constraint;
    if (!is_for_provider && !source.empty() && concerned(source, text, module.location)) {
      found.push_back({"module." + module.key, text, !constraint.empty()});
    }
  }
  for (const messages::InspectedProvider& provider : root.inspected.providers) {
    const auto constraint = std::ranges::find_if(provider.constraints, [&](const auto& one) {
      return entry.dep_type != "module" && concerned(provider.address, one.text, one.location);
    });
    if (constraint != provider.constraints.end()) {
      found.push_back({"provider." + provider.address, constraint->text, true});
    }
  }
  return found;
}

}  // namespace

AffectedRoots find_affected(const std::vector<std::string>& roots, const std::vector<DataEntry>& entries,
                            const fs::path& repository, const InspectRoot& inspect, const Context& context) {
  std::vector<fs::path> files;
  bool affects_all = false;
  for (const DataEntry& entry : entries) {
    affects_all = affects_all || entry.package_file.empty();
    files.push_back((repository / entry.package_file).lexically_normal());
  }
  AffectedRoots affected;
  for (const std::string& root : roots) {
    auto inspected = inspect(root, {});
    const InspectedRoot now{root, inspected.value_or(messages::ConfigInspectResult())};
    if (!inspected && affects_all) {
      affected.roots.push_back({.root = root, .error = std::move(inspected.error())});
    } else if (!inspected) {
      add_unreadable(root, std::move(inspected.error()), files, context, affected);
    } else if (affects_all || std::ranges::any_of(files, [&](const fs::path& file) { return now.reads(file); })) {
      affected.roots.push_back({.root = root, .updates = updates_for(now, entries, repository)});
    }
  }
  return affected;
}

AffectedRoots find_affected(const std::vector<std::string>& roots, const RevisionDiff& diff, const InspectRoot& inspect,
                            const Context& context) {
  AffectedRoots affected;
  for (const std::string& root : diff.files.empty() ? std::vector<std::string>() : roots) {
    auto change = changed_since(root, diff, inspect);
    if (!change) {
      add_unreadable(root, std::move(change.error()), diff.files, context, affected);
    } else if (change->is_changed) {
      affected.roots.push_back({.root = root, .targets = std::move(change->targets)});
    }
  }
  return affected;
}

std::optional<bool> reads_any(const fs::path& root, const std::vector<fs::path>& files, const Context& context) {
  std::set<fs::path> directories;  // with the targets of symbolic links
  std::vector<fs::path> waiting = {document_path(root)};
  bool is_complete = true;
  while (!waiting.empty()) {
    const fs::path directory = std::move(waiting.back());
    waiting.pop_back();
    const bool is_root = directories.empty();
    if (directories.insert(directory).second) {
      std::error_code error;
      directories.insert(fs::weakly_canonical(directory, error));
      is_complete = read_calls(directory, is_root, context, waiting) && is_complete;
    }
  }
  const bool reads = std::ranges::any_of(files, [&](const fs::path& file) {
    return directories.count(file.parent_path()) != 0 || is_settings_of(root, file);
  });
  return reads ? std::optional(true) : is_complete ? std::optional(false) : std::nullopt;
}

Result<std::vector<DataEntry>> read_update_data(const fs::path& path) {
  MODLOCK_TRY(const auto text, read_file(path));
  auto parsed = parse_json(text);
  if (!parsed) {
    Error error = std::move(parsed.error());
    error.code = Code::invalid_params;
    error.message = path.string() + ": " + error.message;
    return fail(std::move(error));
  }
  const Json::Value* list = &*parsed;
  if (parsed->isObject()) {
    list = &(*parsed)[parsed->isMember("updates") ? "updates" : "upgrades"];
  }
  if (!list->isArray()) {
    return fail(Code::invalid_params, path.string() + ": expected a list of updates",
                "write a list of objects, or an object that has one as updates or upgrades");
  }
  std::vector<DataEntry> entries;
  for (const Json::Value& item : *list) {
    ObjectReader in(item, fmt::format("entry {}", entries.size() + 1));
    entries.push_back(read_entry(in));
    if (auto read = in.finish(); !read) {
      constexpr std::string_view kPrefix = "decode: ";
      std::string& message = read.error().message;
      message.replace(0, message.starts_with(kPrefix) ? kPrefix.size() : 0, path.string() + ": ");
      return fail(std::move(read.error()));
    }
  }
  return entries;
}

bool names_source(std::string_view name, std::string_view source) {
  const std::string wanted = plain_name(name);
  const std::string found = plain_name(source);
  return !wanted.empty() && (found == wanted || found.ends_with("/" + wanted));
}

bool InspectedRoot::reads(const fs::path& file) const {
  return is_settings_of(directory, file) ||
         std::ranges::any_of(inspected.files, [&](const messages::InspectedFile& read) {
           return (directory / read.path).lexically_normal() == file;
         });
}

std::vector<messages::Update> updates_for(const InspectedRoot& root, const std::vector<DataEntry>& entries,
                                          const fs::path& repository) {
  std::vector<messages::Update> updates;
  for (const DataEntry& entry : entries) {
    for (const Found& found : find_places(root, entry, repository)) {
      if (auto update = update_of(entry, found)) {
        updates.push_back(std::move(*update));
      }
    }
  }
  return updates;
}

}  // namespace modlock
