#include <fmt/format.h>

#include <algorithm>

#include "plugin/config/config_files.h"
#include "plugin/config/module_call.h"
#include "plugin/config/module_config.h"

namespace modlock {
namespace {

// "test.", the directory's parts, the file without ".tftest.hcl" (OpenTofu trims no other ending), each with a dot.
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

void collect_runs(const ConfigText& file, std::vector<WrittenCall>& calls, ModuleConfig& config) {
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
      config.diagnostics.push_back(config_error(file, run.header_range,
                                                "a run block needs one label, its name, which must be an identifier",
                                                "write run \"name\" { … }"));
      continue;
    }
    const std::string& name = run.labels.front().text;
    WrittenCall call{.name = key_prefix(file) + name,
                     .title = fmt::format("the module of run \"{}\"", name),
                     .file = &file,
                     .block = &*module};
    merge_arguments(call, *module, file);
    const auto first =
        std::find_if(calls.begin(), calls.end(), [&](const WrittenCall& other) { return other.name == call.name; });
    if (first == calls.end()) {
      calls.push_back(std::move(call));
      continue;
    }
    config.diagnostics.push_back(config_error(file, run.header_range, fmt::format("run \"{}\" is written twice", name),
                                              "rename one of the two"));
    config.diagnostics.back().what.related.push_back(
        {"the first run is here", {first->file->path, first->block->header_range}});
  }
}

}  // namespace

Result<ModuleConfig> load_test_modules(const std::filesystem::path& root, const Documents& documents,
                                       std::string_view test_directory) {
  std::vector<ConfigText> files;
  for (const std::filesystem::path& directory : {root, root / test_directory}) {
    auto found = read_config_files(directory, root, documents, ConfigKind::test);
    if (!found && found.error().code != Code::not_found) {
      return fail(std::move(found).error());
    }
    if (found) {
      std::move(found->begin(), found->end(), std::back_inserter(files));
    }
  }
  std::sort(files.begin(), files.end(),
            [](const ConfigText& left, const ConfigText& right) { return left.path < right.path; });
  ModuleConfig config;
  report_files(files, config);
  std::vector<WrittenCall> calls;
  for (const ConfigText& file : files) {
    collect_runs(file, calls, config);
  }
  evaluate_calls(calls, config);
  return config;
}

}  // namespace modlock
