#include "plugin/config/parsed_module.h"

#include <fmt/format.h>

#include <algorithm>

namespace modlock {
namespace {

// "test.", the directory's parts, the file without ".tftest.hcl" (OpenTofu removes no other suffix), each with a dot.
std::string key_prefix(const ConfigText& file) {
  constexpr std::string_view kTrimmed = ".tftest.hcl";
  std::string prefix = "test." + file.path;
  if (prefix.size() > kTrimmed.size() &&
      prefix.compare(prefix.size() - kTrimmed.size(), kTrimmed.size(), kTrimmed) == 0) {
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
    const auto module = std::find_if(run.body.blocks.begin(), run.body.blocks.end(),
                                     [](const hcl::Block& block) { return block.type == "module"; });
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
    const auto first = std::find_if(calls.begin(), calls.end(),
                                    [&](const ModuleCallSyntax& other) { return other.name == call.name; });
    if (first == calls.end()) {
      calls.push_back(std::move(call));
      continue;
    }
    diagnostics.push_back(config_error(file, run.header_range, fmt::format("run \"{}\" is written twice", name),
                                       "rename one of the two"));
    diagnostics.back().what.related.push_back(
        {"the first run is here", {first->file->path, first->block->header_range}});
  }
}

}  // namespace

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
  std::sort(tests->files.begin(), tests->files.end(),
            [](const ConfigText& left, const ConfigText& right) { return left.path < right.path; });
  tests->file_hashes = report_files(tests->files, tests->diagnostics);
  for (const ConfigText& file : tests->files) {
    collect_runs(file, tests->calls, tests->diagnostics);
  }
  std::sort(tests->calls.begin(), tests->calls.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  if (tool == ClientKind::opentofu) {
    tests->providers = provider_requirements(tests->files, tool, tests->diagnostics);
    resolve_local_names(tests->providers, root.providers);
  }
  return tests;
}

}  // namespace modlock
