#include "plugin/mirror/mirror.h"

#include <fmt/format.h>

#include <cstdlib>

#include "backends/base/collections.h"
#include "backends/base/environment.h"
#include "backends/git/git_command.h"
#include "plugin/engine/plan_request.h"
#include "plugin/mirror/client_configuration_copy.h"
#include "plugin/mirror/mirrored_modules.h"

namespace modlock {
namespace {

constexpr std::string_view kServiceName = "modules.v1";
constexpr std::string_view kCopyName = "cli-configuration.tfrc";
constexpr std::string_view kGitName = "git-configuration";

// The modules and services for the command.
struct Offer {
  ClientKind tool = ClientKind::opentofu;
  MirroredModules modules;
  ServicesByHost services;         // of the hosts of the modules
  std::unique_ptr<OpenRoot> open;  // Mirror::open_
};

// Providers still come from the host itself, so its other services are kept.
ServicesByHost services_of(const std::vector<MirroredModule>& modules, const Network& network, const Context& context,
                           Diagnostics& diagnostics) {
  ServicesByHost all;
  for (const MirroredModule& module : modules) {
    if (all.count(module.host) != 0) {
      continue;
    }
    auto services = network.services_of(module.host, context);
    if (!services) {
      Error error = std::move(services.error());
      error.notes.push_back(fmt::format(
          "so the command sees only the module service of {}; providers cannot be fetched from there", module.host));
      diagnostics.push_back({Severity::warning, std::move(error)});
    }
    all[module.host] = services ? std::move(*services) : std::map<std::string, std::string>();
  }
  return all;
}

Result<Offer> make_offer(const Engine& engine, const messages::RootParams& params, Run& run) {
  MODLOCK_TRY(auto open, OpenRoot::open(engine, run, params, {}));
  const RootRequest& root = open->root;
  const Context& context = open->context;
  const Network& network = open->network();
  const RootFiles files(*open, RootFiles::Packages::served);
  auto plan = make_plan(frozen_plan(*open), open->fetcher(), context, files);
  if (!plan) {
    return fail(network.with_warnings(std::move(plan.error())));
  }
  MODLOCK_TRY(check_locked(*plan, *open));
  MODLOCK_TRY(check_locked_providers(*open));
  MODLOCK_TRY(
      auto overrides,
      plan_overrides({.tree = plan->tree, .locks = plan->modules, .root = root.walk.root, .bounds = root.walk.bounds}));
  MODLOCK_TRY(auto modules, mirrored_modules(*plan, overrides));
  for (auto& [url, repository] : modules.repositories) {
    const auto requests = values_of(repository.requests);
    MODLOCK_TRY(
        repository.cached,
        open->fetcher().backend(repository.source.source)->repository_with(repository.source, requests, context));
  }
  drop_enforced(overrides, plan->diagnostics);
  Diagnostics& diagnostics = run.diagnostics;
  diagnostics = std::move(plan->diagnostics);
  append(diagnostics, std::move(modules.warnings));
  append(diagnostics, network.warnings());
  auto services = services_of(modules.modules, network, context, diagnostics);
  return Offer{.tool = root.implementation.tool,
               .modules = std::move(modules),
               .services = std::move(services),
               .open = std::move(open)};
}

}  // namespace

Result<Mirror> Mirror::start(const Engine& engine, const messages::RootParams& root, Run& run) {
  MODLOCK_TRY(auto offer, make_offer(engine, root, run));
  Mirror mirror;
  mirror.open_ = std::move(offer.open);
  if (!offer.modules.repositories.empty()) {
    MODLOCK_TRY(auto file, PrivateFile::create(kGitName, [&](const std::filesystem::path& directory) {
                  return write_locked_repositories(offer.modules.repositories, directory, mirror.open_->context);
                }));
    mirror.git_configuration_.emplace(std::move(file));
  }
  if (offer.modules.modules.empty()) {
    return mirror;
  }
  mirror.context_ = std::make_shared<Context>(engine.context_for(run));
  MODLOCK_TRY(mirror.server_, MirrorServer::start(std::move(offer.modules.modules), *mirror.context_));
  for (const auto& [host, url] : mirror.server_->modules_urls()) {
    offer.services[host].insert_or_assign(std::string(kServiceName), url);
  }
  MODLOCK_TRY(const auto text, client_configuration_copy(offer.tool, current_environment(), offer.services));
  MODLOCK_TRY(auto file, PrivateFile::create(kCopyName, text));
  mirror.client_configuration_.emplace(std::move(file));
  return mirror;
}

std::map<std::string, std::string> Mirror::environment() const {
  std::map<std::string, std::string> variables;
  if (client_configuration_) {
    variables["TF_CLI_CONFIG_FILE"] = client_configuration_->path().string();
  }
  if (git_configuration_) {
    const std::string count = git::lookup_environment("GIT_CONFIG_COUNT").value_or("0");
    variables["GIT_CONFIG_KEY_" + count] = "include.path";
    variables["GIT_CONFIG_VALUE_" + count] = git_configuration_->path().string();
    variables["GIT_CONFIG_COUNT"] = std::to_string(std::strtoul(count.c_str(), nullptr, 10) + 1);
  }
  return variables;
}

}  // namespace modlock
