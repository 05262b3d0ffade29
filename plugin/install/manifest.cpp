#include "plugin/install/manifest.h"

#include <fmt/ranges.h>
#include <json/value.h>

#include <algorithm>

#include "backends/address/source_text.h"
#include "backends/base/collections.h"
#include "backends/base/entry_name.h"
#include "backends/base/files.h"
#include "plugin/functions/json_text.h"
#include "protocol/base/json.h"

namespace modlock {
namespace {

Error unusable(const std::filesystem::path& path, std::string_view reason) {
  return Error{.code = Code::io_error,
               .message = fmt::format("the module manifest {} cannot be used: {}", path.string(), reason),
               .hint = "`" + tofu_modlock("install") + "` moves it to modules.json.broken and writes a new one"};
}

bool read_member(const Json::Value& object, const char* name, std::string& into) {
  const Json::Value& member = object[name];
  if (member.isString()) {
    into = member.asString();
  }
  return member.isString() || member.isNull();
}

// Clients read the name of a member without its case, and the last of several applies: "dir" would hide "Dir".
bool is_misspelled(const Json::Value& object, std::initializer_list<std::string_view> names) {
  const auto members = object.getMemberNames();
  return std::ranges::any_of(members, [&](const std::string& member) {
    return std::ranges::any_of(names,
                               [&](std::string_view name) { return member != name && fold(member) == fold(name); });
  });
}

namespace fs = std::filesystem;

// Clients clean the path when they read it. A local module in a linked package was recorded by the path of the link
// before 0.3.0.
bool is_same_place(const ManifestRecord& record, const ModuleNode& node, const fs::path& root) {
  std::error_code ignored;
  return clean_path(record.directory) == clean_path(node.manifest_directory) ||
         (node.is_local() && fs::equivalent(root / record.directory, root / node.manifest_directory, ignored));
}

Result<Manifest> parse_manifest(std::string_view text, const std::filesystem::path& path) {
  if (text.empty()) {
    return Manifest{};
  }
  auto json = parse_json(text);
  if (!json) {
    return fail(unusable(path, json.error().message));
  }
  if (!json->isObject() || is_misspelled(*json, {"Modules"}) ||
      !((*json)["Modules"].isArray() || (*json)["Modules"].isNull())) {
    return fail(unusable(path, "it has no list \"Modules\""));
  }
  Manifest manifest;
  for (const Json::Value& item : (*json)["Modules"]) {
    ManifestRecord record;
    if (item.isObject() && is_misspelled(item, {"Key", "Source", "Version", "Dir"})) {
      return fail(unusable(path, "the name of a member is in another case than clients write it"));
    }
    if (!item.isObject() || !read_member(item, "Key", record.key) || !read_member(item, "Source", record.source) ||
        !read_member(item, "Version", record.version) || !read_member(item, "Dir", record.directory)) {
      return fail(unusable(path, "a record is not an object of strings"));
    }
    std::string key = record.key;
    if (!manifest.emplace(std::move(key), std::move(record)).second) {
      return fail(unusable(path, "two records have the same key"));
    }
  }
  return manifest;
}

}  // namespace

Result<Manifest> read_manifest(const fs::path& path, std::optional<Error>* broken) {
  const auto text = read_file(path);
  if (!text) {
    return text.error().code == Code::not_found ? Manifest() : Result<Manifest>(fail(text.error()));
  }
  auto manifest = parse_manifest(*text, path);
  if (!manifest && broken != nullptr) {
    *broken = std::move(manifest.error());
    return Manifest();
  }
  return manifest;
}

std::set<std::filesystem::path> installed_directories(const Manifest& manifest, const std::filesystem::path& root) {
  std::set<std::filesystem::path> directories = {root};
  for (const auto& [key, record] : manifest) {
    const std::filesystem::path below = clean_path(record.directory);
    if (below.is_relative() && !below.empty() && *below.begin() != ".." && below != ".") {
      directories.insert(root / below);
    }
  }
  return directories;
}

std::string write_manifest(const Manifest& manifest) {
  const auto records = mapped(manifest, [](const auto& entry) {
    const auto& [key, source, version, directory] = entry.second;
    return fmt::format(R"({{"Key":{},"Source":{}{},"Dir":{}}})", eval::json_string(key), eval::json_string(source),
                       version.empty() ? "" : ",\"Version\":" + eval::json_string(version),
                       eval::json_string(directory));
  });
  return fmt::format(R"({{"Modules":[{}]}})", fmt::join(records, ","));
}

Result<Diagnostics> replace_manifest(const fs::path& path, const fs::path& directory, const Manifest& manifest,
                                     std::optional<Error> broken) {
  Diagnostics warnings;
  if (broken) {
    const fs::path aside = path.string() + ".broken";
    std::error_code error;
    fs::rename(directory / path.filename(), directory / aside.filename(), error);
    if (error) {
      return fail(
          with_note(*std::move(broken), fmt::format("it cannot be moved to {}: {}", aside.string(), error.message())));
    }
    broken->hint =
        fmt::format("it was moved to {}, and a new one was written: delete it if it is not needed", aside.string());
    warnings.push_back({Severity::warning, *std::move(broken)});
  }
  MODLOCK_TRY(write_file_atomically(directory / path.filename(), write_manifest(manifest)));
  return warnings;
}

ManifestRecord make_record(const ModuleNode& node, const ModuleLock* entry, const OverrideSources& overridden) {
  const std::string* source = find_in(overridden, node.key);
  const bool has_version = node.address.source.is_registry() && entry != nullptr;
  return {.key = node.key,
          .source = source == nullptr ? node.address.normalised.reveal() : *source,
          .version = has_version ? entry->version.value_or("") : "",
          .directory = node.manifest_directory};
}

std::optional<Verdict> check_manifest_record(const ModuleNode& node, const ModuleLock* entry, const Manifest& manifest,
                                             const fs::path& root) {
  const ManifestRecord* record = find_in(manifest, node.key);
  const bool is_taken = record != nullptr && is_source_of(record->source, node, entry);
  const bool is_here = is_taken && is_same_place(*record, node, root);
  if (is_taken && !is_here && path_is_directory(root / record->directory)) {
    return Verdict{.subject = node.subject(),
                   .kind = VerdictKind::tampered,
                   .expected = node.manifest_directory,
                   .actual = record->directory,
                   .detail = fmt::format("modules.json points to \"{}\" instead of \"{}\"",
                                         escape_controls(record->directory), escape_controls(node.manifest_directory))};
  }
  if (node.is_local() || (is_here && record->version == make_record(node, entry).version)) {
    return std::nullopt;
  }
  return Verdict{.subject = node.subject(),
                 .kind = VerdictKind::missing,
                 .detail = "the package is there, but modules.json does not name it as a client would"};
}

}  // namespace modlock
