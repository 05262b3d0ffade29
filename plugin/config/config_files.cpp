#include "plugin/config/config_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "backends/address/source_text.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "plugin/eval/evaluate.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

struct Extension {
  std::string_view suffix;
  std::string_view hidden_by;  // the extension of a file that replaces this one, or empty
  ConfigKind kind;
  bool json;

  // Nothing replaces the files that only OpenTofu reads.
  bool opentofu_only() const { return hidden_by.empty(); }
};

// Longer suffixes first.
constexpr std::array kExtensions = {
    Extension{".tofutest.json", "", ConfigKind::test, true},
    Extension{".tofutest.hcl", "", ConfigKind::test, false},
    Extension{".tftest.json", ".tofutest.json", ConfigKind::test, true},
    Extension{".tftest.hcl", ".tofutest.hcl", ConfigKind::test, false},
    Extension{".tofu.json", "", ConfigKind::module, true},
    Extension{".tf.json", ".tofu.json", ConfigKind::module, true},
    Extension{".tofu", "", ConfigKind::module, false},
    Extension{".tf", ".tofu", ConfigKind::module, false},
};

const Extension* find_extension(std::string_view name) {
  const auto* found = std::ranges::find_if(kExtensions, [&](const auto& one) { return name.ends_with(one.suffix); });
  return found == kExtensions.end() ? nullptr : &*found;
}

bool is_ignored(std::string_view name) {
  return name.empty() || name.front() == '.' || name.back() == '~' || (name.front() == '#' && name.back() == '#') ||
         name == kOwnOverrideName;
}

ConfigFile::Role role_of(std::string_view name, const Extension& extension) {
  if (extension.kind == ConfigKind::test) {
    return ConfigFile::Role::test;
  }
  const std::string_view base = name.substr(0, name.size() - extension.suffix.size());
  return base == "override" || base.ends_with("_override") ? ConfigFile::Role::override_file
                                                           : ConfigFile::Role::primary;
}

// Returns the names of the files in a directory, from disk and overlay, and whether each is a link that is read.
// Errors: NOT_FOUND, IO_ERROR.
Result<std::map<std::string, bool>> list_names(const fs::path& directory, const Documents& documents) {
  std::map<std::string, bool> names;
  for (const auto& [path, text] : documents) {
    if (path.parent_path() == directory) {
      names.emplace(path.filename().string(), false);
    }
  }
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  if (error == std::errc::no_such_file_or_directory) {
    if (names.empty()) {
      return fail(Code::not_found, fmt::format("the directory \"{}\" does not exist", directory.string()),
                  "check the path; a local module source is taken from the directory of the file that names it");
    }
    return names;
  }
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    // A link to a directory is read as a file, and rejected, as in the clients. A directory listing usually contains
    // the type of an entry.
    const bool is_link = entry->is_symlink(ignored);
    if (is_link || !entry->is_directory(ignored)) {
      names.emplace(entry->path().filename().string(), is_link);
    }
  }
  if (error) {
    return fail(Code::io_error,
                fmt::format("cannot list the directory \"{}\": {}", directory.string(), error.message()));
  }
  return names;
}

// `allowance`: of all files of the module.
Result<void> read_text(ConfigText& file, const fs::path& place, const Documents& documents, hcl::Allowance& allowance) {
  MODLOCK_TRY(auto text, read_document(place / file.name, documents).map_error([&](Error error) {
    if (error.code == Code::limit_exceeded) {
      error.location = Location{file.path, std::nullopt};
      error.hint = "split it into several files";
    }
    return error;
  }));
  if (!text) {
    return fail(Error{.code = Code::io_error,
                      .message = fmt::format("the file \"{}\" is in its directory but cannot be read", file.path),
                      .location = Location{file.path, std::nullopt},
                      .hint = "it may be a dangling link; remove or repair it"});
  }
  file.text = std::move(*text);
  if (allowance.add_text(file.text.size()) > kMaxModuleBytes) {
    return fail({.code = Code::limit_exceeded,
                 .message = fmt::format("the files of this module have more than {} bytes", kMaxModuleBytes),
                 .location = Location{file.path, std::nullopt},
                 .hint = "split it into several modules"});
  }
  return {};
}

// Parsing takes most of the time if there are many files; for a few, threads cost more than they save. All texts are
// read first, because what one may need depends on the size of all.
Result<void> read_texts(std::vector<ConfigText>& files, const fs::path& place, const Documents& documents,
                        ConfigKind kind, const Context& context, ConfigParts parts) {
  constexpr std::size_t kMany = 16;
  const std::size_t width = files.size() < kMany ? 1 : core_count();
  const auto allowance = std::make_shared<hcl::Allowance>();
  for (ConfigText& file : files) {
    MODLOCK_TRY(context.check());
    MODLOCK_TRY(read_text(file, place, documents, *allowance));
  }
  parallel_for(files.size(), width, [&](std::size_t i) {
    parse_text(files[i], kind, parts, {.stops = [&] { return !context.check(); }, .allowance = allowance});
    hcl::name_conflict_markers(files[i].parsed, files[i].text);
  });
  return context.check();
}

// Whether normalizing a relative path does not change it.
bool is_plain(std::string_view path) {
  while (true) {
    const std::string_view part = path.substr(0, path.find('/'));
    if (part.empty() || part == "." || part == "..") {
      return false;
    }
    if (part.size() == path.size()) {
      return true;
    }
    path.remove_prefix(part.size() + 1);
  }
}

// The members that are blocks in JSON syntax: those that are read. All others, known to a client or not, are arguments.
constexpr hcl::BodySchema kOpenBody{.open = true};
constexpr std::array kTerraformBlocks = {
    hcl::BlockSchema{"backend", 1},
    hcl::BlockSchema{"cloud", 0},
    hcl::BlockSchema{"required_providers", 0},
};
constexpr hcl::BodySchema kTerraform{.blocks = kTerraformBlocks, .open = true};
constexpr std::array kLanguageSchemas = {hcl::BlockSchema{"compatible_with", 0}};
constexpr hcl::BodySchema kLanguage{.blocks = kLanguageSchemas, .open = true};
constexpr std::array kModuleBlocks = {hcl::BlockSchema{"_", 0}};
constexpr hcl::BodySchema kModule{.blocks = kModuleBlocks, .open = true};
constexpr std::array kCheckBlocks = {hcl::BlockSchema{"data", 2, &kOpenBody}};
constexpr hcl::BodySchema kCheck{.blocks = kCheckBlocks, .open = true};
constexpr std::array kModuleFileBlocks = {
    hcl::BlockSchema{"terraform", 0, &kTerraform},
    hcl::BlockSchema{"language", 0, &kLanguage},
    hcl::BlockSchema{"provider", 1, &kOpenBody},
    hcl::BlockSchema{"variable", 1, &kOpenBody},
    hcl::BlockSchema{"locals", 0},
    hcl::BlockSchema{"module", 1, &kModule},
    hcl::BlockSchema{"resource", 2, &kOpenBody},
    hcl::BlockSchema{"data", 2, &kOpenBody},
    hcl::BlockSchema{"ephemeral", 2, &kOpenBody},
    hcl::BlockSchema{"action", 2, &kOpenBody},
    hcl::BlockSchema{"check", 1, &kCheck},
    hcl::BlockSchema{"import", 0, &kOpenBody},
};
constexpr hcl::BodySchema kModuleFile{.blocks = kModuleFileBlocks, .open = true};

constexpr std::array kRunBlocks = {hcl::BlockSchema{"module", 0}, hcl::BlockSchema{"variables", 0}};
constexpr hcl::BodySchema kRun{.blocks = kRunBlocks, .open = true};
constexpr std::array kTestFileBlocks = {
    hcl::BlockSchema{"run", 1, &kRun},
    hcl::BlockSchema{"provider", 1, &kOpenBody},
};
constexpr hcl::BodySchema kTestFile{.blocks = kTestFileBlocks, .open = true};

// The types of top-level blocks that the clients know, and the arguments that read_module() uses. "*": all content.
constexpr std::pair<std::string_view, std::string_view> kKnownBlocks[] = {
    {" check language locals module terraform variable ", "*"},
    {" action data ephemeral resource ", " provider "},
    {" provider ", " alias version "},
    {" import ", " to provider "},
    {" moved output removed required_providers ", ""},
};

bool has_word(std::string_view words, std::string_view word) {
  return words.find(fmt::format(" {} ", word)) != std::string_view::npos;
}

const auto* find_known(std::string_view type) {
  const auto* found = std::ranges::find_if(kKnownBlocks, [&](const auto& row) { return has_word(row.first, type); });
  return found == std::end(kKnownBlocks) ? nullptr : found;
}

void trim(hcl::Block& block) {
  const auto* known = find_known(block.type);
  const std::string_view used = known != nullptr ? known->second : " source ";
  if (used != "*") {
    std::erase_if(block.body.attributes, [&](const auto& attribute) { return !has_word(used, attribute.name); });
    block.body.attributes.shrink_to_fit();
    block.body.blocks.clear();
  }
}

using hcl::Keep;

// Leaves of the blocks of a file what is used. Of those that use the same provider and say no more, the first counts.
class UsedParts {
 public:
  UsedParts(const ConfigText& file, bool has_overrides) : file_(file), has_overrides_(has_overrides) {}

  Keep operator()(hcl::Block& block, int depth) {
    const std::string_view type = block.type;
    const std::size_t labels = block.labels.size();
    if (depth > 1) {
      const bool is_used = has_word(" _ backend cloud compatible_with data required_providers ", type);
      return depth == 2 && is_used ? Keep::block : Keep::nothing;
    }
    if (type == "variable") {
      const bool is_kept = quoted_type(file_, block) != nullptr;
      return labels == 1 ? (is_kept ? Keep::both : Keep::place) : (is_kept ? Keep::block : Keep::nothing);
    }
    trim(block);
    const bool is_provider = type == "provider";
    const bool is_use = type == "resource" || type == "data" || type == "ephemeral";
    const bool is_named = type == "module" || type == "required_providers" || type == "action" ||
                          (is_use && has_overrides_) || !block.body.attributes.empty() || !block.body.blocks.empty();
    const bool is_kept = is_named || ((is_provider || is_use) && labels == (is_provider ? 1 : 2) &&
                                      providers_.emplace(is_provider, block.labels.front().text).second);
    return is_kept ? Keep::block : Keep::nothing;
  }

 private:
  const ConfigText& file_;
  bool has_overrides_;
  std::set<std::pair<bool, std::string>> providers_;  // those of blocks, and types of what uses them
};

}  // namespace

bool is_known_block(std::string_view type) {
  return find_known(type) != nullptr;
}

const hcl::Attribute* quoted_type(const ConfigText& file, const hcl::Block& variable) {
  const hcl::Attribute* type = file.json ? nullptr : variable.body.find("type");
  const auto text = type != nullptr ? eval::constant_value(type->value, false, file.path) : fail(Error{});
  return text && text->is(eval::Type::Kind::string) ? type : nullptr;
}

void parse_text(ConfigText& file, ConfigKind kind, ConfigParts parts, hcl::ParseOptions options) {
  if (parts != ConfigParts::all) {
    options.keep = UsedParts(file, parts == ConfigParts::used_with_overrides);
  }
  const hcl::BodySchema& schema = kind == ConfigKind::test ? kTestFile : kModuleFile;
  file.parsed = file.json ? hcl::parse_json(file.text, file.path, schema, options)
                          : hcl::parse_native(file.text, file.path, options);
  std::ranges::stable_sort(file.parsed.places, {}, &hcl::BlockPlace::label);
}

std::optional<ConfigKind> config_kind(std::string_view name) {
  const Extension* extension = is_ignored(name) ? nullptr : find_extension(name);
  return extension == nullptr ? std::nullopt : std::optional(extension->kind);
}

fs::path document_path(const fs::path& path) {
  const std::string_view text = path.native();
  if (text.starts_with('/') && is_plain(text.substr(1))) {
    return path;
  }
  std::error_code ignored;
  fs::path absolute = fs::absolute(path, ignored);
  if (absolute.empty()) {
    absolute = path;
  }
  absolute = absolute.lexically_normal();
  return absolute.has_filename() || absolute == absolute.root_path() ? absolute : absolute.parent_path();
}

std::string relative_to_root(const fs::path& path, const fs::path& root) {
  const fs::path below = document_path(path);
  const fs::path above = document_path(root);
  const std::string_view rest =
      std::string_view(below.native()).substr(std::min(above.native().size(), below.native().size()));
  if (below.native().starts_with(above.native()) && rest.size() > 1 && rest.front() == '/') {
    return std::string(rest.substr(1));
  }
  return below.lexically_relative(above).generic_string();
}

std::string join_relative(const std::string& parent, const std::string& below) {
  if (is_plain(parent) && is_plain(below)) {
    return parent + "/" + below;
  }
  // Without a slash at the end, as clients write it.
  return below.empty() ? parent : clean_path((fs::path(parent) / below).generic_string());
}

bool has_configuration(const fs::path& directory) {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const bool is_directory = entry->symlink_status(error).type() == fs::file_type::directory;
    if (config_kind(entry->path().filename().string()) == ConfigKind::module && !is_directory) {
      return true;
    }
  }
  return static_cast<bool>(error);  // reading it reports why
}

const DocumentText* find_document(const fs::path& path, const Documents& documents) {
  const auto found = documents.find(path);
  if (found == documents.end()) {
    return nullptr;
  }
  *found->second.is_read = true;
  return &found->second;
}

Result<std::optional<std::string>> read_document(const fs::path& path, const Documents& documents, std::size_t limit) {
  if (const DocumentText* document = find_document(path, documents)) {
    return document->text;
  }
  std::error_code ignored;
  if (const auto size = fs::file_size(path, ignored); !ignored && size > limit) {
    return fail(Code::limit_exceeded,
                fmt::format("the file \"{}\" has {} bytes, at most {} are read", path.string(), size, limit));
  }
  Result<std::string> text = read_file(path);
  if (text) {
    return std::move(*text);
  }
  if (text.error().code == Code::not_found) {
    return std::nullopt;
  }
  return fail(std::move(text).error());
}

Result<std::optional<std::string>> read_once(const fs::path& path, const Documents& documents) {
  if (documents.read == nullptr || documents.count(path) != 0) {
    return read_document(path, documents);
  }
  const std::lock_guard guard(documents.read->mutex);
  const auto [known, is_new] = documents.read->texts.try_emplace(path);
  if (is_new) {
    known->second = read_document(path, documents);
  }
  return known->second;
}

Result<std::vector<ConfigText>> read_config_files(const fs::path& directory, const fs::path& root,
                                                  const Documents& documents, ConfigKind kind, ClientKind tool,
                                                  const Context& context, ConfigParts parts) {
  const fs::path place = document_path(directory);
  MODLOCK_TRY(const auto names, list_names(place, documents));
  const std::string parent = relative_to_root(place, root);
  std::vector<ConfigText> files;
  for (const auto& [name, is_link] : names) {
    const Extension* extension = is_ignored(name) ? nullptr : find_extension(name);
    if (extension == nullptr || extension->kind != kind ||
        (tool == ClientKind::terraform && extension->opentofu_only())) {
      continue;
    }
    const std::string base = name.substr(0, name.size() - extension->suffix.size());
    if (tool == ClientKind::opentofu && !extension->hidden_by.empty() &&
        names.count(base + std::string(extension->hidden_by)) != 0) {
      continue;
    }
    files.push_back({.role = role_of(name, *extension),
                     .name = name,
                     .path = parent == "." ? name : parent + "/" + name,
                     .json = extension->json,
                     .is_link = is_link,
                     .text = {}});
    if (parts == ConfigParts::used && files.back().role == ConfigFile::Role::override_file) {
      parts = ConfigParts::used_with_overrides;
    }
  }
  MODLOCK_TRY(read_texts(files, place, documents, kind, context, parts));
  return files;
}

std::vector<ConfigFile> report_files(const std::vector<ConfigText>& files, Diagnostics& diagnostics) {
  std::vector<ConfigFile> hashes;
  hashes.reserve(files.size());
  for (const ConfigText& file : files) {
    hashes.push_back({file.path, file.role, sha256_hex(file.text)});
    diagnostics.insert(diagnostics.end(), file.parsed.diagnostics.begin(), file.parsed.diagnostics.end());
  }
  return hashes;
}

}  // namespace modlock
