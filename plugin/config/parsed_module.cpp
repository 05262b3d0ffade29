#include "plugin/config/parsed_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "plugin/config/state_providers.h"
#include "plugin/hcl/json_reader.h"
#include "protocol/base/result.h"
#include "protocol/base/utf8.h"

namespace modlock {
namespace {

Location place_of(const ModuleCallSyntax& call) {
  return {call.file->path, call.block->header_range};
}

// Collects the calls of one module: primary files first, then the overrides in their order.
class CallCollector {
 public:
  CallCollector(const std::vector<ConfigText>& files, Diagnostics& diagnostics)
      : files_(files), diagnostics_(diagnostics) {}

  std::vector<ModuleCallSyntax> collect() {
    for (const auto role : {ConfigFile::Role::primary, ConfigFile::Role::override_file}) {
      for_each_block(files_, role, "module", [&](const ConfigText& file, const hcl::Block& block) {
        if (has_name(file, block)) {
          role == ConfigFile::Role::primary ? add(file, block) : override_call(file, block);
        }
      });
    }
    std::ranges::sort(calls_, {}, &ModuleCallSyntax::name);
    return std::move(calls_);
  }

 private:
  void report(const ConfigText& file, const Range& range, std::string message, std::string hint) {
    diagnostics_.push_back(config_error(file, range, std::move(message), std::move(hint)));
  }

  bool has_name(const ConfigText& file, const hcl::Block& block) {
    if (block.labels.size() != 1) {
      const Range& range = block.labels.size() > 1 ? block.labels[1].range : block.header_range;
      report(file, range,
             fmt::format("a module block needs one label, the name of the call, found {}",
                         block.labels.empty() ? "none" : std::to_string(block.labels.size())),
             "write module \"name\" { … }");
      return false;
    }
    const hcl::Label& label = block.labels.front();
    if (!is_identifier(label.text)) {
      report(file, label.range,
             fmt::format("the name of a module call must be an identifier, found \"{}\"", label.text),
             "use a letter or underscore, then letters, digits, underscores and dashes");
      return false;
    }
    return true;
  }

  ModuleCallSyntax* find(const std::string& name) {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &calls_[found->second];
  }

  void add(const ConfigText& file, const hcl::Block& block) {
    const std::string& name = block.labels.front().text;
    if (const ModuleCallSyntax* first = find(name)) {
      report(file, block.header_range, fmt::format("module \"{}\" is called twice", name),
             "rename one of the two, or move it to an override file");
      diagnostics_.back().what.related.push_back({"the first call is here", place_of(*first)});
      return;
    }
    ModuleCallSyntax call{.name = name, .title = fmt::format("module \"{}\"", name), .file = &file, .block = &block};
    merge_arguments(call, block, file);
    places_.emplace(name, calls_.size());
    calls_.push_back(std::move(call));
  }

  void override_call(const ConfigText& file, const hcl::Block& block) {
    const std::string& name = block.labels.front().text;
    if (ModuleCallSyntax* call = find(name)) {
      merge_arguments(*call, block, file);
    }
  }

  const std::vector<ConfigText>& files_;
  Diagnostics& diagnostics_;
  std::vector<ModuleCallSyntax> calls_;
  std::map<std::string, std::size_t, std::less<>> places_;  // in calls_, by name
};

// Finds blocks of other types that have a source.
class UnknownSourceFinder {
 public:
  std::vector<UnknownSource> find(const std::vector<ConfigText>& files) {
    for (const ConfigText& file : files) {
      file_ = &file;
      for (const hcl::Block& block : file.parsed.body.blocks) {
        if (!is_known_block(block.type) && block.body.find("source") != nullptr) {
          std::string address = block.type;
          for (const hcl::Label& label : block.labels) {
            address += "." + label.text;
          }
          add(std::move(address), block.header_range);
        }
      }
      for (const hcl::Attribute& attribute : file.parsed.body.attributes) {
        if (file.json && !is_known_block(attribute.name)) {
          hcl::JsonReader value(file.text, attribute.value.range.start);
          search(value, cut_text(std::string(attribute.name), kLongestAddress), kMostLabels);
        }
      }
    }
    return std::move(found_);
  }

 private:
  static constexpr int kMostLabels = 3;
  static constexpr std::size_t kLongestAddress = 200;  // each block has its own copy

  // JSON syntax: each label is a level of objects.
  void search(hcl::JsonReader& value, const std::string& address, int labels) {
    const bool is_object = value.peek() == '{';
    if ((!is_object && value.peek() != '[') || labels < 0) {
      value.skip();
      return;
    }
    for (bool more = value.open(); more; more = value.another()) {
      const hcl::Expression key = is_object ? value.read_name() : hcl::Expression();
      const auto* name = std::get_if<hcl::JsonString>(&key.node);
      const bool is_source = name != nullptr && name->text == "source";
      if (is_source) {
        add(address, key.range);
      }
      search(value, name == nullptr ? address : cut_text(address + "." + name->text, kLongestAddress),
             is_source ? -1 : labels - is_object);
    }
  }

  void add(std::string address, const Range& range) { found_.push_back({std::move(address), {file_->path, range}}); }

  const ConfigText* file_ = nullptr;
  std::vector<UnknownSource> found_;
};

void warn_unknown_sources(const std::vector<UnknownSource>& sources, Diagnostics& diagnostics) {
  for (const UnknownSource& source : sources) {
    diagnostics.push_back({Severity::warning,
                           Error{.code = Code::source_unsupported,
                                 .message = fmt::format("the block {} has a source, but its type is not known: what it "
                                                        "fetches is neither locked nor verified",
                                                        source.address),
                                 .location = source.location,
                                 .hint = "check what the block fetches, or use a newer tofu-modlock"}});
  }
}

// Warns about what the clients reject although it selects no module and no provider: no client can use such a lock.
void warn_rejected(const ConfigText& file, ClientKind tool, bool& has_providers, Diagnostics& diagnostics) {
  const auto warn = [&](const Range& range, std::string_view why, std::string hint) {
    diagnostics.push_back(
        config_error(file, range, fmt::format("{} rejects this: {}", display_name(tool), why), std::move(hint)));
    diagnostics.back().severity = Severity::warning;
  };
  for (const hcl::Block& block : file.parsed.body.blocks) {
    if (block.type == "required_providers") {
      warn(block.header_range, "required_providers is outside of a terraform block", "move it into one");
    }
    for (const hcl::Block& inner : block.body.blocks) {
      if (block.type == "terraform" && inner.type == "required_providers" && std::exchange(has_providers, true)) {
        warn(inner.header_range, "the module has two required_providers blocks", "write one with all entries");
      }
    }
    if (const hcl::Attribute* type = block.type == "variable" ? quoted_type(file, block) : nullptr) {
      warn(type->value.range, "the type is in quotes", "remove the quotes: list(string), not \"list\"");
    }
    const bool is_language = block.type == "language" && tool == ClientKind::opentofu;
    const hcl::Attribute* edition = is_language ? block.body.find("edition") : nullptr;
    const auto* name = edition != nullptr ? std::get_if<hcl::Variable>(&edition->value.tree().node) : nullptr;
    if (edition != nullptr && (name == nullptr || name->name != "tofu2024")) {
      warn(edition->value.range, "it supports only the edition tofu2024", "remove the argument");
    }
  }
}

// "test.", the directory's parts, the file without ".tftest.hcl" (OpenTofu removes no other suffix), each with a dot.
std::string key_prefix(const ConfigText& file) {
  constexpr std::string_view kTrimmed = ".tftest.hcl";
  std::string prefix = "test." + file.path;
  if (prefix.ends_with(kTrimmed)) {
    prefix.resize(prefix.size() - kTrimmed.size());
  }
  std::replace(prefix.begin(), prefix.end(), '/', '.');
  return prefix + ".";
}

void collect_runs(const ConfigText& file, std::vector<ModuleCallSyntax>& calls, Diagnostics& diagnostics) {
  for (const hcl::Block& run : file.parsed.body.blocks) {
    if (run.type != "run") {
      continue;
    }
    const auto module = std::ranges::find(run.body.blocks, "module", &hcl::Block::type);
    if (module == run.body.blocks.end()) {
      continue;
    }
    if (run.labels.size() != 1 || !is_identifier(run.labels.front().text)) {
      diagnostics.push_back(config_error(file, run.header_range, "the name of a run must be an identifier",
                                         "use a letter or underscore, then letters, digits, underscores and dashes"));
      continue;
    }
    const std::string& name = run.labels.front().text;
    ModuleCallSyntax call{.name = key_prefix(file) + name,
                          .title = fmt::format("the module of run \"{}\"", name),
                          .file = &file,
                          .block = &*module,
                          .literal_only = true};
    for (const hcl::Block& block : run.body.blocks) {
      if (block.type == "variables") {
        merge_arguments(call, block, file);
      }
    }
    merge_arguments(call, *module, file);
    const auto first = std::ranges::find(calls, call.name, &ModuleCallSyntax::name);
    if (first == calls.end()) {
      calls.push_back(std::move(call));
      continue;
    }
    diagnostics.push_back(config_error(file, run.header_range, fmt::format("run \"{}\" is written twice", name),
                                       "rename one of the two"));
    diagnostics.back().what.related.push_back({"the first run is here", place_of(*first)});
  }
}

}  // namespace

Result<std::shared_ptr<const ParsedModule>> read_module(const std::filesystem::path& directory,
                                                        const Documents& documents, ClientKind tool,
                                                        const Context& context) {
  MODLOCK_TRY(auto files,
              read_config_files(directory, directory, documents, ConfigKind::module, tool, context, ConfigParts::used));
  auto module = std::make_shared<ParsedModule>();
  module->directory = document_path(directory);
  module->files = std::move(files);
  Diagnostics& diagnostics = module->diagnostics;
  module->file_hashes = report_files(module->files, diagnostics);
  module->incomplete = has_errors(diagnostics);
  const std::size_t syntax_errors = diagnostics.size();
  MODLOCK_TRY(context.check());
  Diagnostics of_providers;
  module->providers = provider_requirements(module->files, tool, of_providers);
  bool has_providers = false;
  for (const ConfigText& file : module->files) {
    if (file.role == ConfigFile::Role::primary) {
      warn_rejected(file, tool, has_providers, of_providers);
    }
  }
  module->calls = CallCollector(module->files, diagnostics).collect();
  module->variables = VariableBlocks(module->files);
  module->locals = LocalValues(module->files);
  std::move(of_providers.begin(), of_providers.end(), std::back_inserter(diagnostics));
  module->unknown_sources = UnknownSourceFinder().find(module->files);
  warn_unknown_sources(module->unknown_sources, diagnostics);
  module->core = read_core_requirements(module->files, tool);
  module->state = read_state_storage(module->files);
  limit_diagnostics(diagnostics, syntax_errors);
  return module;
}

Result<std::shared_ptr<const ParsedModule>> read_test_files(const ParsedModule& root, const Documents& documents,
                                                            ClientKind tool, std::string_view test_directory) {
  auto tests = std::make_shared<ParsedModule>();
  tests->directory = root.directory;
  for (const std::filesystem::path& directory : {root.directory, root.directory / test_directory}) {
    auto found = read_config_files(directory, root.directory, documents, ConfigKind::test, tool);
    if (!found && found.error().code != Code::not_found) {
      return fail(std::move(found).error());
    }
    if (found) {
      std::move(found->begin(), found->end(), std::back_inserter(tests->files));
    }
  }
  std::ranges::sort(tests->files, {}, &ConfigText::path);
  tests->file_hashes = report_files(tests->files, tests->diagnostics);
  for (const ConfigText& file : tests->files) {
    collect_runs(file, tests->calls, tests->diagnostics);
  }
  std::ranges::sort(tests->calls, {}, &ModuleCallSyntax::name);
  if (tool == ClientKind::opentofu) {
    tests->providers = provider_requirements(tests->files, tool, tests->diagnostics);
    resolve_local_names(tests->providers, root.providers);
  }
  return tests;
}

}  // namespace modlock
