#include "plugin/diff/package_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <deque>
#include <set>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "plugin/hcl/json_syntax.h"
#include "plugin/hcl/value.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// The members of JSON syntax that are blocks, for all that is compared.
constexpr std::array kProvisionerBlocks = {hcl::BlockSchema{"connection", 0}};
constexpr hcl::BodySchema kProvisioner{.blocks = kProvisionerBlocks, .open = true};
constexpr std::array kLifecycleBlocks = {hcl::BlockSchema{"precondition", 0}, hcl::BlockSchema{"postcondition", 0}};
constexpr hcl::BodySchema kLifecycle{.blocks = kLifecycleBlocks, .open = true};
constexpr std::array kResourceBlocks = {hcl::BlockSchema{"provisioner", 1, &kProvisioner},
                                        hcl::BlockSchema{"connection", 0},
                                        hcl::BlockSchema{"lifecycle", 0, &kLifecycle}};
constexpr hcl::BodySchema kResource{.blocks = kResourceBlocks, .open = true};
constexpr std::array kVariableBlocks = {hcl::BlockSchema{"validation", 0}};
constexpr hcl::BodySchema kVariable{.blocks = kVariableBlocks, .open = true};
constexpr std::array kCheckBlocks = {hcl::BlockSchema{"data", 2, &kResource}, hcl::BlockSchema{"assert", 0}};
constexpr hcl::BodySchema kCheck{.blocks = kCheckBlocks, .open = true};
constexpr std::array kTerraformBlocks = {hcl::BlockSchema{"required_providers", 0},
                                         hcl::BlockSchema{"provider_meta", 1}};
constexpr hcl::BodySchema kTerraform{.blocks = kTerraformBlocks, .open = true};
constexpr hcl::BodySchema kOpen{.open = true};
constexpr std::array kFileBlocks = {
    hcl::BlockSchema{"terraform", 0, &kTerraform}, hcl::BlockSchema{"provider", 1, &kOpen},
    hcl::BlockSchema{"variable", 1, &kVariable},   hcl::BlockSchema{"locals", 0},
    hcl::BlockSchema{"module", 1, &kOpen},         hcl::BlockSchema{"resource", 2, &kResource},
    hcl::BlockSchema{"data", 2, &kResource},       hcl::BlockSchema{"ephemeral", 2, &kResource},
    hcl::BlockSchema{"action", 2, &kOpen},         hcl::BlockSchema{"output", 1, &kOpen},
    hcl::BlockSchema{"check", 1, &kCheck},         hcl::BlockSchema{"import", 0, &kOpen},
    hcl::BlockSchema{"moved", 0, &kOpen},          hcl::BlockSchema{"removed", 0, &kResource}};
constexpr hcl::BodySchema kFile{.blocks = kFileBlocks, .open = true};

void merge_into(MergedBlock& merged, const ConfigText& file, const hcl::Block& block, bool replaces) {
  for (const hcl::Attribute& attribute : block.body.attributes) {
    merged.arguments.insert_or_assign(std::string(attribute.name), Argument{&attribute, &file});
  }
  for (const hcl::Block& inner : block.body.blocks) {
    if (replaces) {
      std::erase_if(merged.blocks, [&](const auto& old) {
        return old.second->type == inner.type && old.first->role == ConfigFile::Role::primary;
      });
    }
    merged.blocks.emplace_back(&file, &inner);
  }
}

// Blocks without a name are not merged, but read one by one.
void merge_blocks(ModuleText& module) {
  for (const bool is_override : {false, true}) {
    for (const ConfigText& file : module.files) {
      if ((file.role == ConfigFile::Role::override_file) != is_override) {
        continue;
      }
      for (const hcl::Block& block : file.parsed.body.blocks) {
        if (block.type == "locals") {
          for (const hcl::Attribute& attribute : block.body.attributes) {
            module.locals.insert_or_assign(std::string(attribute.name), Argument{&attribute, &file});
          }
          continue;
        }
        MergedBlock made = MergedBlock::of(file, block);
        const auto known = !is_override || made.labels.empty()
                               ? module.blocks.end()
                               : std::ranges::find_if(module.blocks, [&](const MergedBlock& old) {
                                   return old.type == made.type && old.labels == made.labels;
                                 });
        if (known != module.blocks.end()) {
          merge_into(*known, file, block, true);
        } else {
          module.blocks.push_back(std::move(made));
        }
      }
    }
  }
  for (const MergedBlock& block : module.blocks) {
    module.by_address.emplace(block.address(), &block);
  }
}

// In JSON syntax, the type of a variable is an expression in a string.
void read_types(ConfigText& file) {
  for (hcl::Block& block : file.parsed.body.blocks) {
    for (hcl::Attribute& attribute : block.body.attributes) {
      if (block.type == "variable" && attribute.name == "type") {
        if (auto type = hcl::expression_of(attribute.value, file.path)) {
          attribute.value = std::move(*type);
        }
      }
    }
  }
}

Result<ModuleText> read_module_text(const fs::path& root, const std::string& directory, ClientKind tool,
                                    const Context& context) {
  ModuleText module;
  module.directory = directory;
  MODLOCK_TRY(auto files, read_config_files(root / directory, root, {}, ConfigKind::module, tool, context));
  module.files = std::move(files);
  // Terraform ignores files of OpenTofu, but who calls the module may run either.
  if (tool == ClientKind::terraform) {
    MODLOCK_TRY(auto more,
                read_config_files(root / directory, root, {}, ConfigKind::module, ClientKind::opentofu, context));
    for (ConfigText& file : more) {
      if (std::ranges::none_of(module.files, [&](const ConfigText& known) { return known.path == file.path; })) {
        module.files.push_back(std::move(file));
      }
    }
  }
  Diagnostics ignored;  // files that cannot be read are found by their own diagnostics
  module.providers = provider_requirements(module.files, tool, ignored);
  for (ConfigText& file : module.files) {
    if (file.json) {
      file.parsed = hcl::parse_json(file.text, file.path, kFile);
      read_types(file);
    }
  }
  merge_blocks(module);
  return module;
}

// Returns the directory of a local source below `directory`; nullopt: it leaves the package.
std::optional<std::string> join_local(const std::string& directory, const std::string& source) {
  const std::string joined = (fs::path(directory) / source).lexically_normal().generic_string();
  std::string plain = joined.ends_with('/') ? joined.substr(0, joined.size() - 1) : joined;
  if (plain == "." || plain.empty()) {
    return "";
  }
  return plain == ".." || plain.starts_with("../") ? std::nullopt : std::optional(std::move(plain));
}

bool is_local_source(const std::string& source) {
  return source.starts_with("./") || source.starts_with("../") || source == "." || source == "..";
}

}  // namespace

MergedBlock MergedBlock::of(const ConfigText& file, const hcl::Block& block) {
  MergedBlock made{.type = block.type, .labels = {}, .file = &file, .block = &block};
  std::ranges::transform(block.labels, std::back_inserter(made.labels),
                         [](const hcl::Label& label) { return label.text; });
  merge_into(made, file, block, false);
  return made;
}

std::string MergedBlock::address() const {
  const bool is_plain = type == "resource" && !labels.empty();
  return fmt::format("{}{}", is_plain ? "" : type + (labels.empty() ? "" : "."), fmt::join(labels, "."));
}

const Argument* MergedBlock::find(std::string_view name) const {
  const auto found = arguments.find(name);
  return found == arguments.end() ? nullptr : &found->second;
}

std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> ModuleText::moves() const {
  std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> found;
  for (const MergedBlock& block : blocks) {
    const Argument* from = block.type == "moved" ? block.find("from") : nullptr;
    if (const Argument* to = block.find("to"); from != nullptr && to != nullptr) {
      found.emplace_back(address_names(*from), address_names(*to));
    }
  }
  return found;
}

bool is_in(std::string_view words, std::string_view word) {
  return fmt::format(" {} ", words).find(fmt::format(" {} ", word)) != std::string::npos;
}

std::string source_text(const ConfigText& file, const Range& range) {
  std::string out;
  for (const char c : std::string_view(file.text).substr(range.start.byte, range.end.byte - range.start.byte)) {
    const bool is_blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!is_blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  return out;
}

void visit_attributes(const hcl::Body& body, const std::function<void(const hcl::Attribute&)>& visit) {
  std::ranges::for_each(body.attributes, visit);
  for (const hcl::Block& inner : body.blocks) {
    visit_attributes(inner.body, visit);
  }
}

std::vector<std::string> address_names(const Argument& argument) {
  std::vector<std::string> names(1);
  int depth = 0;
  for (const char c : source_text(*argument.file, argument.attribute->value.range)) {
    depth += c == '[' ? 1 : 0;
    if (depth == 0 && c == '.') {
      names.emplace_back();
    } else if (depth == 0 && c != '"' && c != ' ') {
      names.back() += c;
    }
    depth -= c == ']' ? 1 : 0;
  }
  return names;
}

std::optional<std::string> literal_text(const Argument* argument) {
  if (argument == nullptr) {
    return std::nullopt;
  }
  const hcl::Expression& value = argument->attribute->value;
  if (const auto* json = std::get_if<hcl::JsonString>(&value.node)) {
    return json->text.find("${") == std::string::npos ? std::optional(json->text) : std::nullopt;
  }
  const auto read = hcl::static_value(value, argument->file->path);
  const std::string* text = read ? read->as_string() : nullptr;
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

Result<PackageText> PackageText::read(const fs::path& root, const std::string& directory, ClientKind tool,
                                      const Context& context) {
  PackageText package;
  package.root = root;
  package.directory = directory;
  MODLOCK_TRY(auto entries, list_tree(root));
  for (TreeEntry& entry : entries) {
    std::string name = entry.name;
    package.files.emplace(std::move(name), std::move(entry));
  }
  std::deque<std::string> open = {directory};
  bool may_call_all = false;
  while (!open.empty()) {
    const std::string next = std::move(open.front());
    open.pop_front();
    if (package.modules.count(next) != 0) {
      continue;
    }
    std::error_code ignored;
    if (next != directory && !fs::is_directory(root / next, ignored)) {
      continue;
    }
    MODLOCK_TRY(auto read, read_module_text(root, next, tool, context));
    read.scope = next == directory ? "" : (next.empty() ? "." : next) + ": ";
    const ModuleText& module = package.modules.emplace(next, std::move(read)).first->second;
    for (const MergedBlock& block : module.blocks) {
      if (block.type != "module") {
        continue;
      }
      if (auto target = package.local_target(module, block)) {
        open.push_back(std::move(*target));
      } else if (!may_call_all && block.find("source") != nullptr && !literal_text(block.find("source"))) {
        may_call_all = true;
        for (const auto& [name, entry] : package.files) {
          if (config_kind(fs::path(name).filename().string()) == ConfigKind::module) {
            open.push_back(fs::path(name).parent_path().generic_string());
          }
        }
      }
    }
  }
  return package;
}

std::optional<std::string> PackageText::local_target(const ModuleText& module, const MergedBlock& call) const {
  const auto source = literal_text(call.find("source"));
  return source && is_local_source(*source) ? join_local(module.directory, *source) : std::nullopt;
}

const ModuleText* PackageText::called(const ModuleText& module, const MergedBlock& call) const {
  const auto target = call.type == "module" ? local_target(module, call) : std::nullopt;
  const auto found = target ? modules.find(*target) : modules.end();
  return found == modules.end() ? nullptr : &found->second;
}

std::string PackageText::content(const TreeEntry& entry) const {
  if (entry.type == TreeEntry::Type::link_as_text) {
    std::error_code ignored;
    return fs::read_symlink(entry.path, ignored).string();
  }
  return read_file(entry.path).value_or(std::string());
}

bool is_outside_path(std::string_view text) {
  return text.starts_with("/") || text.starts_with("~") || text.starts_with("../") ||
         text.find("${path.root}") != std::string_view::npos || text.find("${path.cwd}") != std::string_view::npos;
}

void leave_first(std::vector<std::string>& parts) {
  constexpr std::size_t kMost = 4;
  if (parts.size() > kMost) {
    parts[kMost] = fmt::format("{} more", parts.size() - kMost);
    parts.resize(kMost + 1);
  }
}

void NamedFiles::add(const NamedFiles& more) {
  digest += more.digest;
  for (auto name = more.changed.begin(); name != more.changed.end() && changed.size() < kMostChanged; ++name) {
    changed.insert(*name);
  }
}

template <typename Condition>
NamedFiles FileContents::list(const std::string& below, Condition is_selected) {
  NamedFiles files;
  for (auto file = package_.files.lower_bound(below); file != package_.files.end() && file->first.starts_with(below);
       ++file) {
    const std::string name = file->first.substr(below.size());
    if (is_selected(name)) {
      files.digest += name + " ";
      files.add(at(file->first));
    }
  }
  files.digest = files.digest.empty() ? "" : sha256_hex(files.digest);
  return files;
}

const NamedFiles& FileContents::matching(const std::string& prefix, const std::string& ending) {
  const auto [known, is_new] = by_pattern_.try_emplace(prefix + "*" + ending);
  if (is_new) {
    known->second = list(prefix, [&](std::string_view name) { return name.ends_with(ending); });
  }
  return known->second;
}

const NamedFiles& FileContents::beside(const ModuleText& module) {
  const auto [known, is_new] = by_module_.try_emplace(module.directory);
  if (is_new) {
    known->second = list(module.path(), [](const std::string& name) {
      return name.find('/') == std::string::npos && !config_kind(name) && !name.starts_with('.') &&
             !name.ends_with(".md") && !name.starts_with("LICENSE") && !name.starts_with("CHANGELOG");
    });
  }
  return known->second;
}

NamedFiles FileContents::named_in(const ModuleText& module, const std::string& text) {
  constexpr std::string_view kSeparators = " \t\n\"'`;|&()<>=,";
  std::set<std::string> paths;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
    std::string word = text.substr(at, end - at);
    word.erase(0, word.rfind('}') + 1);
    word.erase(0, word.find_first_not_of('/'));
    paths.insert(std::move(word));
    at = end + 1;
  }
  NamedFiles found;
  for (const std::string& path : paths) {
    found.add(at(module, path));
  }
  return found;
}

NamedFiles FileContents::at(const ModuleText& module, const std::string& path) {
  const auto name = path.empty() ? std::nullopt : join_local(module.directory, path);
  return name ? at(*name) : NamedFiles();
}

const NamedFiles& FileContents::at(const std::string& path) {
  const auto [known, is_new] = by_path_.try_emplace(path);
  NamedFiles& files = known->second;
  if (!is_new) {
    return files;
  }
  if (const auto file = package_.files.find(path); file != package_.files.end()) {
    files.digest = sha256_hex(package_.content(file->second));
    files.changed.insert(package_.changed.lower_bound(path), package_.changed.upper_bound(path));
    return files;
  }
  const std::string inner = path + "/";
  const auto module = package_.modules.lower_bound(inner);
  const bool has_module = path.empty() || package_.modules.count(path) != 0 ||
                          (module != package_.modules.end() && module->first.starts_with(inner));
  return files = has_module ? NamedFiles() : list(inner, [](std::string_view) { return true; });
}

}  // namespace modlock
