#include "plugin/diff/package_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "plugin/diff/canonical_text.h"
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
constexpr std::array kTerraformBlocks = {hcl::BlockSchema{"required_providers", 0}};
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
    merged.arguments.insert_or_assign(attribute.name, Argument{&attribute, &file});
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
            module.locals.insert_or_assign(attribute.name, Argument{&attribute, &file});
          }
          continue;
        }
        MergedBlock made{.type = block.type, .labels = {}, .file = &file, .block = &block};
        for (const hcl::Label& label : block.labels) {
          made.labels.push_back(label.text);
        }
        const auto known = !is_override || made.labels.empty()
                               ? module.blocks.end()
                               : std::find_if(module.blocks.begin(), module.blocks.end(), [&](const MergedBlock& old) {
                                   return old.type == made.type && old.labels == made.labels;
                                 });
        if (known != module.blocks.end()) {
          merge_into(*known, file, block, true);
        } else {
          merge_into(made, file, block, false);
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
  ModuleText module{.directory = directory, .files = {}, .blocks = {}, .by_address = {}, .locals = {}, .providers = {}};
  MODLOCK_TRY(auto files, read_config_files(root / directory, root, {}, ConfigKind::module, tool, context));
  module.files = std::move(files);
  // Terraform ignores files of OpenTofu, but who calls the module may run either.
  if (tool == ClientKind::terraform) {
    MODLOCK_TRY(auto more,
                read_config_files(root / directory, root, {}, ConfigKind::module, ClientKind::opentofu, context));
    for (ConfigText& file : more) {
      if (std::none_of(module.files.begin(), module.files.end(),
                       [&](const ConfigText& known) { return known.path == file.path; })) {
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

// Types that pass values on: what they get is what a reference to them returns.
bool passes_values(const std::string& type) {
  constexpr std::array<std::string_view, 6> kTypes = {"terraform_data",       "null_resource",    "local_file",
                                                      "local_sensitive_file", "null_data_source", "template_dir"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

constexpr std::array<std::string_view, 5> kWithoutEffect = {"description", "depends_on", "lifecycle", "tags",
                                                            "error_message"};

bool has_effect(std::string_view name) {
  return std::find(kWithoutEffect.begin(), kWithoutEffect.end(), name) == kWithoutEffect.end();
}

// Whether the canonical text of an expression has the directory of the module itself, and not only a path below it.
bool names_module(std::string_view text) {
  constexpr std::string_view kModule = "path.module";
  for (std::size_t at = text.find(kModule); at != std::string_view::npos; at = text.find(kModule, at + 1)) {
    std::size_t end = std::min(text.find_first_not_of(")}", at + kModule.size()), text.size());
    end += text.substr(end).starts_with("/.") ? 2 : text.substr(end).starts_with('/') ? 1 : 0;
    if (end >= text.size() || std::string_view(" \t\n\"'`\\;|&()<>=,:]").find(text[end]) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string MergedBlock::address() const {
  const bool is_plain = type == "resource" && !labels.empty();
  return fmt::format("{}{}", is_plain ? "" : type + (labels.empty() ? "" : "."), fmt::join(labels, "."));
}

const Argument* MergedBlock::find(std::string_view name) const {
  const auto found = arguments.find(name);
  return found == arguments.end() ? nullptr : &found->second;
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

ClosureReader::ClosureReader(const PackageText& package, const Context& context)
    : package_(package), context_(context) {
  for (const auto& [directory, module] : package.modules) {
    for (const MergedBlock& block : module.blocks) {
      const auto target = block.type == "module" ? package.local_target(module, block) : std::nullopt;
      if (target) {
        callers_[*target].emplace_back(&module, &block);
      }
    }
  }
}

void ClosureReader::add(Closure& to, const std::string& label, Closure part) {
  to.digest = sha256_hex(fmt::format("{} {} {}", to.digest, label, part.digest));
  to.texts.merge(part.texts);
  to.names.merge(part.names);
  to.leads_outside = to.leads_outside || part.leads_outside;
}

Closure ClosureReader::of(const ModuleText& module, const Argument& argument) {
  return of(module, *argument.file, argument.attribute->value);
}

Closure ClosureReader::of(const ModuleText& module, const ConfigText& file, const hcl::Expression& expression) {
  Closure closure;
  std::string replaced;
  ExpressionVisit visit;
  visit.text = [&](const std::string& text, const Range&) {
    closure.texts.insert(text);
    closure.leads_outside = closure.leads_outside || is_outside_path(text);
  };
  visit.reference = [&](const std::vector<std::string>& names,
                        const Range&) -> std::optional<ExpressionVisit::Replacement> {
    const std::string& root = names.front();
    const std::size_t count = root == "module" || root == "data" ? 3 : 2;
    const bool is_followed =
        root == "local" || root == "var" || root == "module" || root == "data" || passes_values(root);
    if (!is_followed || names.size() < count) {
      return std::nullopt;
    }
    const std::vector<std::string> followed(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count));
    const Closure& found = named(module, followed);
    if (found.digest.empty()) {
      return std::nullopt;
    }
    closure.names.insert(key_of(module, followed));
    closure.leads_outside = closure.leads_outside || found.leads_outside;
    replaced = found.digest;
    return ExpressionVisit::Replacement{found.digest, count};
  };
  const std::string text = canonical_text(expression, file.path, visit);
  closure.digest = text == replaced ? text : sha256_hex(text);  // a name is the same as its value
  if (names_module(text)) {
    closure.digest = sha256_hex(closure.digest + files_beside(module));
  }
  add_files(closure, module, closure.texts);
  return closure;
}

// A file that a string names counts with its content.
void ClosureReader::add_files(Closure& to, const ModuleText& module, const std::set<std::string>& texts) {
  std::set<std::string> words;
  for (const std::string& text : texts) {
    constexpr std::string_view kSeparators = " \t\n\"'`;|&()<>=,";
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
      std::string word = text.substr(at, end - at);
      at = end + 1;
      if (const std::size_t brace = word.rfind('}'); brace != std::string::npos) {
        word = word.substr(brace + 1);
      }
      word.erase(0, word.find_first_not_of('/'));
      words.insert(std::move(word));
    }
  }
  for (const std::string& word : words) {
    if (const std::string digest = content_digest(module, word); !digest.empty()) {
      to.digest = sha256_hex(to.digest + digest);
    }
  }
}

Closure ClosureReader::of(const ModuleText& module, const ConfigText& file, const hcl::Body& body) {
  std::map<std::string, const hcl::Attribute*> sorted;
  for (const hcl::Attribute& attribute : body.attributes) {
    sorted.emplace(attribute.name, &attribute);
  }
  Closure closure;
  for (const auto& [name, attribute] : sorted) {
    if (has_effect(name)) {
      add(closure, name, of(module, file, attribute->value));
    }
  }
  for (const hcl::Block& block : body.blocks) {
    if (has_effect(block.type)) {
      add(closure, block.type + (block.labels.empty() ? "" : block.labels.front().text), of(module, file, block.body));
    }
  }
  return closure;
}

Closure ClosureReader::of(const ModuleText& module, const MergedBlock& block) {
  Closure closure;
  for (const auto& [name, argument] : block.arguments) {
    if (has_effect(name)) {
      add(closure, name, of(module, argument));
    }
  }
  for (const auto& [file, inner] : block.blocks) {
    if (has_effect(inner->type)) {
      add(closure, inner->type + (inner->labels.empty() ? "" : inner->labels.front().text),
          of(module, *file, inner->body));
    }
  }
  return closure;
}

Closure ClosureReader::condition_of(const ModuleText& module) {
  return named(module, {"conditions"});
}

std::set<std::string> ClosureReader::texts(const Closure& closure) const {
  std::set<std::string> found = closure.texts;
  std::set<std::string> seen = closure.names;
  for (std::vector<std::string> open(seen.begin(), seen.end()); !open.empty();) {
    const auto known = known_.find(open.back());
    open.pop_back();
    if (known == known_.end()) {
      continue;
    }
    const Closure& next = known->second;
    found.insert(next.texts.begin(), next.texts.end());
    for (const std::string& name : next.names) {
      if (seen.insert(name).second) {
        open.push_back(name);
      }
    }
  }
  return found;
}

std::string ClosureReader::key_of(const ModuleText& module, const std::vector<std::string>& names) {
  return fmt::format("{} {}", module.directory, fmt::join(names, "."));
}

// Names are computed from a list, without recursion: a package may chain any number of them.
const Closure& ClosureReader::named(const ModuleText& module, std::vector<std::string> names) {
  Name wanted{&module, std::move(names)};
  const std::string key = key_of(module, wanted.names);
  if (const auto known = known_.find(key); known != known_.end()) {
    return known->second;
  }
  if (missing_ != nullptr) {
    static const Closure kUnknown;
    missing_->push_back(std::move(wanted));
    return kUnknown;
  }
  std::vector<Name> open = {std::move(wanted)};
  while (!open.empty() && context_.check()) {
    const Name next = open.back();
    const std::string next_key = key_of(*next.module, next.names);
    const bool is_new = known_.try_emplace(next_key).second;
    if (!is_new && !next.is_started) {
      open.pop_back();
      continue;
    }
    open.back().is_started = true;
    std::vector<Name> missing;
    missing_ = &missing;
    Closure computed = compute(*next.module, next.names);
    missing_ = nullptr;
    if (missing.empty()) {
      known_[next_key] = std::move(computed);
      open.pop_back();
    } else {
      std::move(missing.rbegin(), missing.rend(), std::back_inserter(open));
    }
  }
  return known_[key];
}

Closure ClosureReader::compute(const ModuleText& module, const std::vector<std::string>& names) {
  if (names[0] == "conditions") {
    return conditions(module);
  }
  if (names[0] == "local") {
    const auto local = module.locals.find(names[1]);
    return local == module.locals.end() ? Closure{} : of(module, local->second);
  }
  if (names[0] == "var") {
    return variable(module, names[1]);
  }
  if (names[0] == "module") {
    const auto call = module.by_address.find("module." + names[1]);
    const auto target = call == module.by_address.end() ? std::nullopt : package_.local_target(module, *call->second);
    const auto called = target ? package_.modules.find(*target) : package_.modules.end();
    if (called == package_.modules.end()) {
      return {};
    }
    const auto output = called->second.by_address.find("output." + names[2]);
    const Argument* value = output == called->second.by_address.end() ? nullptr : output->second->find("value");
    if (value == nullptr) {
      return {};
    }
    Closure known = of(called->second, *value);
    add_files(known, module, texts(known));
    return known;
  }
  const auto block = module.by_address.find(fmt::format("{}", fmt::join(names, ".")));
  return block == module.by_address.end() ? Closure{} : of(module, *block->second);
}

Closure ClosureReader::variable(const ModuleText& module, const std::string& name) {
  Closure known;
  known.digest = module.directory == package_.directory ? sha256_hex("var." + name) : "";
  const auto block = module.by_address.find("variable." + name);
  const Argument* value = block == module.by_address.end() ? nullptr : block->second->find("default");
  if (value != nullptr) {
    add(known, "default", of(module, *value));
  }
  for (const auto& [caller, call] : callers_[module.directory]) {
    if (const Argument* argument = call->find(name)) {
      Closure closure = of(*caller, *argument);
      add_files(closure, module, texts(closure));
      add(known, "argument", std::move(closure));
    }
  }
  return known;
}

Closure ClosureReader::conditions(const ModuleText& module) {
  Closure closure;
  for (const auto& [caller, call] : callers_[module.directory]) {
    for (const char* name : {"count", "for_each", "enabled"}) {
      if (const Argument* argument = call->find(name)) {
        add(closure, name, of(*caller, *argument));
      }
    }
    Closure above = condition_of(*caller);
    if (!above.digest.empty()) {
      add(closure, "in", std::move(above));
    }
  }
  return closure;
}

// Who names the directory of a module may use the files in it: `make -C ${path.module}`.
std::string ClosureReader::files_beside(const ModuleText& module) {
  const std::string below = module.directory.empty() ? "" : module.directory + "/";
  std::string files;
  for (auto file = package_.files.lower_bound(below);
       file != package_.files.end() && file->first.starts_with(below) && context_.check(); ++file) {
    const std::string name = file->first.substr(below.size());
    const bool is_plain = name.find('/') == std::string::npos && !config_kind(name) && !name.starts_with('.');
    if (is_plain && !name.ends_with(".md") && !name.starts_with("LICENSE") && !name.starts_with("CHANGELOG")) {
      files += fmt::format("{} {}\n", name, content_digest(file->first));
    }
  }
  return files;
}

std::string ClosureReader::content_digest(const ModuleText& module, const std::string& path) {
  const auto name = path.empty() ? std::nullopt : join_local(module.directory, path);
  return name ? content_digest(*name) : "";
}

const std::string& ClosureReader::content_digest(const std::string& path) {
  const auto [known, is_new] = content_digests_.try_emplace(path);
  std::string& digest = known->second;
  if (!is_new) {
    return digest;
  }
  if (const auto file = package_.files.find(path); file != package_.files.end()) {
    digest = sha256_hex(package_.content(file->second));
    return digest;
  }
  const std::string below = path + "/";
  const auto module = package_.modules.lower_bound(below);
  const bool has_module = path.empty() || package_.modules.count(path) != 0 ||
                          (module != package_.modules.end() && module->first.starts_with(below));
  if (has_module) {
    return digest;
  }
  std::string files;
  for (auto file = package_.files.lower_bound(below);
       file != package_.files.end() && file->first.starts_with(below) && context_.check(); ++file) {
    files += fmt::format("{} {}\n", file->first.substr(below.size()), content_digest(file->first));
  }
  digest = files.empty() ? "" : sha256_hex(files);
  return digest;
}

}  // namespace modlock
