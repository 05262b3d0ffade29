#include "plugin/mirror/mirrored_modules.h"

#include <fmt/format.h>

#include <map>

#include "backends/address/hostname.h"
#include "backends/package/subdir_glob.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

constexpr std::size_t kNamed = 5;  // calls in the warning

bool is_elsewhere(const ModuleNode& node) {
  return node.address.source.is_remote() && !node.address.source.is_registry();
}

Diagnostic not_mirrored(const std::vector<std::string>& keys) {
  std::string names;
  for (std::size_t i = 0; i < keys.size() && i < kNamed; ++i) {
    names += fmt::format("{}module.{}", i == 0 ? "" : ", ", keys[i]);
  }
  if (keys.size() > kNamed) {
    names += fmt::format(" and {} more", keys.size() - kNamed);
  }
  return {
      Severity::warning,
      Error{.code = Code::lock_unenforced,
            .message = fmt::format(
                "only registry modules can be mirrored, so the command fetches these from their sources: {}", names),
            .hint = "run: tofu-modlock install, then the command without -upgrade; or write override files"}};
}

Error conflict(const ModuleNode& node, const MirroredModule& one, const MirroredModule& other) {
  return Error{.code = Code::constraint_conflict,
               .message = fmt::format("module {} of {} is locked to {} and to {}, and a mirror can serve only one",
                                      one.name, one.host, one.version,
                                      one.version == other.version ? "another package of that version" : other.version),
               .subject = node.subject(),
               .location = node.call.location,
               .hint = "run: tofu-modlock install, then the command without -upgrade"};
}

}  // namespace

Result<MirroredModules> mirrored_modules(const Plan& plan, const OverridePlan& overrides) {
  MirroredModules out;
  std::map<std::pair<std::string, std::string>, MirroredModule> modules;
  std::vector<std::string> elsewhere;
  for (const auto& [key, node] : plan.tree.nodes) {
    const Source& source = node.address.source;
    if (is_elsewhere(node)) {
      if (overrides.sources.count(key) == 0) {
        elsewhere.push_back(key);
      }
      continue;
    }
    const auto resolved = plan.resolved.find(key);
    if (!source.is_registry() || resolved == plan.resolved.end() || !resolved->second.version) {
      continue;
    }
    const ResolvedModule& found = resolved->second;
    // Clients treat a glob from a registry as a literal name.
    MODLOCK_TRY(auto subdir, expand_subdir(found.package_directory, found.package_subdir));
    const auto forms = parse_service_host(source.host);
    MirroredModule module{.host = forms ? forms->ascii : source.host,
                          .name = source.path,
                          .version = found.version->to_string(),
                          .h1 = found.h1,
                          .directory = found.package_directory,
                          .subdir = std::move(subdir)};
    const auto [known, is_new] = modules.try_emplace({module.host, module.name}, module);
    const MirroredModule& one = known->second;
    if (!is_new && (one.version != module.version || one.h1 != module.h1 || one.subdir != module.subdir)) {
      return fail(conflict(node, one, module));
    }
  }
  for (auto& [name, module] : modules) {
    out.modules.push_back(std::move(module));
  }
  if (!elsewhere.empty()) {
    out.warnings.push_back(not_mirrored(elsewhere));
  }
  return out;
}

}  // namespace modlock
