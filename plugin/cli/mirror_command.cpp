#include <fmt/format.h>

#include <filesystem>

#include "backends/credentials/process_environment.h"
#include "plugin/cli/foreground_child.h"
#include "plugin/cli/over_roots.h"
#include "plugin/engine/plan_request.h"
#include "plugin/mirror/client_configuration_copy.h"
#include "plugin/mirror/mirror_server.h"
#include "plugin/mirror/private_file.h"
#include "protocol/base/result.h"
#include "protocol/messages/modules_install.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kServiceName = "modules.v1";
constexpr std::string_view kCopyName = "cli-configuration.tfrc";

struct MirrorRun {
  std::string root;
  fs::path directory;  // where the command runs
};

// `tofu -chdir=DIR init` names its root itself.
Result<MirrorRun> find_run(const CommandLine& line, const Host& host) {
  constexpr std::string_view kChdir = "-chdir=";
  CommonFlags flags = line.common;
  const bool names_root = flags.directories.empty() && line.command.size() > 1 && line.command[1].starts_with(kChdir);
  if (names_root) {
    flags.directories = {line.command[1].substr(kChdir.size())};
  }
  MODLOCK_TRY(auto roots, find_roots(flags, host));
  std::error_code ignored;
  return MirrorRun{roots.front(), names_root ? fs::current_path(ignored) : fs::path(roots.front())};
}

// What the command is to be told.
struct Offer {
  ClientKind tool = ClientKind::opentofu;
  MirroredModules modules;
  ServicesByHost services;
  Diagnostics diagnostics;
};

// The host's other services stay its own: providers come from where they came from.
void keep_services(Offer& offer, const Network& network, const Context& context) {
  for (const MirroredModule& module : offer.modules.modules) {
    if (offer.services.count(module.host) != 0) {
      continue;
    }
    auto services = network.services_of(module.host, context);
    if (!services) {
      Error error = std::move(services.error());
      error.notes.push_back(
          fmt::format("so the command sees no service of {} but modules; providers cannot be fetched "
                      "from there",
                      module.host));
      offer.diagnostics.push_back({Severity::warning, std::move(error)});
    }
    offer.services[module.host] = services ? std::move(*services) : std::map<std::string, std::string>();
  }
}

Result<Offer> make_offer(const Engine& engine, const messages::RootParams& params, Run& run) {
  MODLOCK_TRY(auto open, OpenRoot::open(engine, run, params, {}));
  const RootRequest& root = open->root;
  const Context& context = open->context;
  const Network& network = open->network();
  PlanRequest plan_request = frozen_plan(root, open->lock, context);
  plan_request.installed = {};  // the command may remove what is installed while it is served
  auto plan = make_plan(plan_request, open->fetcher(), context);
  if (!plan) {
    return fail(network.with_warnings(std::move(plan.error())));
  }
  MODLOCK_TRY(check_locked(*plan, open->lock.path, run));
  auto overrides =
      plan_overrides({.tree = plan->tree, .locks = plan->modules, .root = root.walk.root, .bounds = root.walk.bounds});
  MODLOCK_TRY(auto modules, overrides ? mirrored_modules(*plan, *overrides) : fail(std::move(overrides.error())));
  drop_enforced(*overrides, plan->diagnostics);
  Offer offer{.tool = root.implementation.tool,
              .modules = std::move(modules),
              .services = {},
              .diagnostics = std::move(plan->diagnostics)};
  for (Diagnostic& warning : offer.modules.warnings) {
    offer.diagnostics.push_back(std::move(warning));
  }
  offer.diagnostics.insert(offer.diagnostics.end(), network.warnings().begin(), network.warnings().end());
  keep_services(offer, network, context);
  return offer;
}

// Runs the command while the offer stands.
Result<int> run_with(Offer offer, const CommandLine& line, const MirrorRun& run, const Context& context,
                     Interrupt& interrupt) {
  if (offer.modules.modules.empty()) {
    return run_in_foreground(line.command, run.directory, {}, interrupt);
  }
  MODLOCK_TRY(auto server, MirrorServer::start(std::move(offer.modules.modules), context));
  for (const auto& [host, url] : server->modules_urls()) {
    offer.services[host].insert_or_assign(std::string(kServiceName), url);
  }
  const auto text = client_configuration_copy(offer.tool, current_environment(), offer.services);
  MODLOCK_TRY(auto file, text ? PrivateFile::create(kCopyName, *text) : fail(text.error()));
  return run_in_foreground(line.command, run.directory, {{"TF_CLI_CONFIG_FILE", file.path().string()}}, interrupt);
}

}  // namespace

int run_mirror(const CommandLine& line, const Host& host, Interrupt& interrupt) {
  const auto place = find_run(line, host);
  if (!place) {
    return failed(place.error(), line.common).exit_code;
  }
  TerminalLog log;
  Run run({.stop = interrupt.token(), .deadline = {}, .log = &log});
  auto offer = make_offer(host.engine(), host.root_params(place->root, line.common), run);
  if (!offer) {
    return failed(offer.error(), line.common, place->root, error_data(run)).exit_code;
  }
  print_diagnostics(offer->diagnostics, place->root);
  const Context context = run.context(line.common.offline);
  const auto code = run_with(std::move(*offer), line, *place, context, interrupt);
  return code ? *code : failed(code.error(), line.common, place->root).exit_code;
}

}  // namespace modlock::cli
