#include "plugin/workspace/root_candidate.h"

#include <algorithm>
#include <array>

#include "backends/base/collections.h"
#include "plugin/config/config_files.h"
#include "plugin/config/confined_files.h"
#include "plugin/config/module_scope.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_reader.h"
#include "plugin/resolve/plan.h"
#include "plugin/terragrunt/unit_source.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// Returns whether a directory above it, below the top, has a name that is common for modules and examples.
bool is_kept_apart(const std::string& path) {
  constexpr std::array<std::string_view, 4> kNames = {"modules", "examples", "test", "tests"};
  const fs::path above = fs::path(path).parent_path();
  return std::ranges::any_of(above, [&](const fs::path& name) { return contains(kNames, name.native()); });
}

bool has_block(const ParsedModule& module, std::string_view type) {
  return std::ranges::any_of(module.files, [&](const ConfigText& file) {
    const auto& blocks = file.parsed.body.blocks;
    return std::ranges::any_of(blocks, [&](const hcl::Block& block) { return block.type == type; });
  });
}

// Records local calls of a module, or of its tests. Returns whether another one is or may be remote.
bool take_calls(const ParsedModule& module, ModuleScope& scope, const fs::path& directory, std::vector<fs::path>& calls,
                const Context& context) {
  const EvaluatedCalls evaluated = evaluate_calls(module, scope, context);
  bool is_remote = !evaluated.unresolved.empty();
  for (const ModuleCall& call : evaluated.calls) {
    const auto address = parse_source(call.source.text);
    if (address && address->source.is_local()) {
      calls.push_back(document_path(directory / address->source.path));
    } else {
      is_remote = is_remote || !address || !address->source.is_directory();
    }
  }
  return is_remote;
}

}  // namespace

bool RootCandidate::qualifies() const {
  return is_broken || has_lock || keeps_state || (!is_kept_apart(path) && (configures_provider || calls_remote));
}

bool may_have_entries(std::string_view text, std::string_view name) {
  const auto lock = text.find("module") == std::string_view::npos ? LockFile() : parse_lock(text, std::string(name));
  return !lock || has_module_entries(lock->modules);
}

void read_candidate(RootCandidate& candidate, const fs::path& top, const Documents& documents, const Context& context) {
  const fs::path directory = document_path(top / candidate.path);
  for (const std::string_view name : {kLockFileName, kSidecarFileName}) {
    const auto text = read_document(directory / name, {});
    candidate.has_lock = candidate.has_lock || !text || *text;
    candidate.has_entries =
        candidate.has_entries || !text || (*text && may_have_entries(**text, name)) ||
        (candidate.is_unit && *text && (*text)->find(terragrunt::kUnitSourceKey) != std::string::npos);
  }
  const auto read = ModuleReader(documents, ClientKind::opentofu, context).read(directory, {top});
  if (!read) {
    candidate.exists = read.error().code != Code::not_found && !candidate.is_sparse;
    candidate.is_broken = candidate.exists;
    return;
  }
  const auto& module = *read;
  candidate.exists = !module->files.empty() && !candidate.is_sparse;
  candidate.is_broken = module->incomplete;
  candidate.keeps_state = !module->state.location.path.empty();
  candidate.configures_provider = has_block(*module, "provider");
  if (module->calls.empty() && candidate.test_files.empty()) {
    return;
  }
  Diagnostics ignored;
  auto values = read_variable_values(directory, {}, {}, {top}, ignored);
  ModuleScope scope(module, {directory, "default", ClientKind::opentofu, make_confined_files(directory, {top}, {})},
                    ".", values ? *values : std::make_shared<const VariableValues>());
  candidate.calls_remote = take_calls(*module, scope, directory, candidate.calls, context);
  for (const std::string& tests : candidate.test_files) {
    if (const auto tested = read_test_files(*module, documents, ClientKind::opentofu, tests)) {
      take_calls(**tested, scope, directory, candidate.calls, context);
    }
  }
}

}  // namespace modlock
