#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <string>

#include "backends/address/scrub.h"
#include "backends/address/source_text.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"
#include "backends/base/process.h"
#include "backends/base/text.h"
#include "backends/http/certificate_store.h"
#include "backends/http/curl_http_client.h"
#include "plugin/config/roots.h"
#include "plugin/engine/client_program.h"
#include "plugin/engine/diagnosis.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/root_request.h"
#include "plugin/lock/local_git.h"
#include "plugin/lock/lock_file.h"
#include "plugin/settings/setting_table.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

Finding examine_git(const std::string& root, const Context& context) {
  const auto program = find_program("git");
  if (!program) {
    return {.check = "git",
            .verdict = Finding::Verdict::warning,
            .found = "not on PATH",
            .hint = "install git: repositories over ssh, credential helpers and submodules need it"};
  }
  const auto ran = run_command({.argv = {program->string(), "--version"}}, context);
  if (!ran || ran->exit_code != 0) {
    return {.check = "git",
            .verdict = Finding::Verdict::error,
            .found = fmt::format("{} does not run", program->string()),
            .hint = "reinstall git",
            .exit_code = exit_code(Code::tool_missing)};
  }
  std::string version = ran->output.substr(0, ran->output.find('\n'));
  constexpr std::string_view kWords = "git version ";
  version.erase(0, version.starts_with(kWords) ? kWords.size() : 0);
  Finding finding{.check = "git", .found = fmt::format("{} ({})", version, program->string())};
  const auto repository = find_repository_root(root);
  const auto fault = path_exists(repository / ".git")
                         ? find_repository_fault(repository, repository, {"rev-parse", "--git-dir"}, context)
                         : std::nullopt;
  if (fault && *fault) {
    finding.verdict = Finding::Verdict::warning;
    finding.found += fmt::format(": {}", (*fault)->why);
    finding.hint = (*fault)->hint;
    return finding;
  }
  std::vector<std::string> files = {std::string(kLockFileName)};
  for (const std::string_view name : {kSidecarFileName, std::string_view(kSettingsFileName)}) {
    if (path_exists(fs::path(root) / name)) {
      files.emplace_back(name);
    }
  }
  const auto untracked = fault ? warn_of_ignored_files(root, files, context) : fail(fault.error());
  for (const Diagnostic& warning : untracked.value_or(Diagnostics())) {
    finding.verdict = Finding::Verdict::warning;
    finding.details.push_back(warning.what.message);
    finding.hint = warning.what.hint;
  }
  return finding;
}

Finding examine_client(const Engine& engine, const messages::RootParams& root, const Context& context) {
  const ClientProgram client = client_of(root, engine);
  const ClientVersion release = client_version_of(client, root.root, engine.options(), context);
  Finding finding{.check = "client"};
  finding.found = fmt::format("{} {}, specified by {}", display_name(client.tool), release.version, client.from);
  const auto program = find_program(client.command);
  if (!program) {
    finding.verdict = Finding::Verdict::warning;
    finding.found += ", not on PATH";
    finding.hint = "install tofu or terraform, or name the client with --implementation and --implementation-version";
  } else {
    finding.found += fmt::format(" ({})", program->string());
  }
  if (!release.is_known) {
    finding.verdict = Finding::Verdict::warning;
    finding.found += "; its version is not known";
  }
  return finding;
}

Finding examine_certificates() {
  const auto places = http::AuthorityPlaces::from_environment();
  const auto authorities = http::read_authorities(places);
  if (!authorities) {
    return failing("certificates", authorities.error());
  }
  CertificateStore counted;
  const auto text = places.file.empty() ? fail(Code::not_found, "none") : read_file(places.file);
  const std::size_t count = text ? counted.add(*text) : 0;
  Finding finding{.check = "certificates"};
  finding.found = count == 0 ? "no CA certificate file found"
                             : fmt::format("{} CA certificate{} in {}{}", count, count == 1 ? "" : "s",
                                           places.file.string(), places.is_file_required ? " (SSL_CERT_FILE)" : "");
  for (const fs::path& directory : places.directories) {
    if (path_is_directory(directory)) {
      finding.details.push_back(fmt::format("and those in {}", directory.string()));
    }
  }
  if (count == 0 && finding.details.empty()) {
    finding.verdict = Finding::Verdict::warning;
    finding.hint = "install ca-certificates, or name a file with SSL_CERT_FILE";
  }
  return finding;
}

Finding examine_proxies() {
  const auto proxies = http::ProxySettings::from_environment();
  Finding finding{.check = "proxies", .found = "none"};
  for (const auto& [scheme, proxy] : {std::pair{"https", &proxies.https}, std::pair{"http", &proxies.http}}) {
    if (!proxy->empty()) {
      const std::string shown = without_user(*proxy, "***@");
      finding.details.push_back(fmt::format("{} through {}", scheme, shown.substr(0, shown.find_first_of("?#"))));
    }
  }
  if (!finding.details.empty()) {
    finding.found = proxies.none.empty() ? "from the environment" : fmt::format("not for {}", proxies.none);
  }
  return finding;
}

struct Known {
  std::string origin;
  Settings settings;
};

Finding examine_settings(const Engine& engine, const std::string& root) {
  const auto& user_file = engine.options().user_settings;
  const fs::path repository = find_repository_root(root);
  std::vector<Known> files;
  for (fs::path directory = root;; directory = directory.parent_path()) {
    auto settings = load_settings(directory, directory, std::nullopt, {});
    if (!settings) {
      return failing("settings", settings.error());
    }
    if (!settings->files.empty()) {
      files.push_back({(directory / kSettingsFileName).string(), std::move(*settings)});
    }
    if (directory == repository || directory == directory.parent_path()) {
      break;
    }
  }
  if (user_file) {
    auto settings = load_user_settings(*user_file);
    if (!settings) {
      return failing("settings", settings.error());
    }
    files.push_back({user_file->string(), std::move(*settings)});
  }
  Finding finding{.check = "settings", .found = "none (using defaults)"};
  const auto add = [&](std::string_view name, const auto& print) {
    for (const Known& file : files) {
      if (const std::string value = print(file.settings); !value.empty()) {
        finding.details.push_back(fmt::format("{} = {}  ({})", name, value, file.origin));
        break;
      }
    }
  };
  for (const SettingInfo& setting : setting_table()) {
    if (setting.access.print != nullptr) {
      add(setting.name, [&](const Settings& settings) { return setting.access.print(setting, settings); });
    }
  }
  for (const BlockLabel& block : block_labels()) {
    add(block.block, block.print);
  }
  std::set<std::string> variables = {
      "TOFU_MODLOCK_CACHE_DIR", "TOFU_MODLOCK_CONFIG_FILE", "TOFU_MODLOCK_IMPLEMENTATION_VERSION",
      "TOFU_MODLOCK_JOBS",      "TOFU_MODLOCK_OFFLINE",     "TOFU_MODLOCK_REMOTE_PLAIN_HTTP"};
  for (const SettingInfo& setting : setting_table()) {
    variables.emplace(setting.variable);
  }
  for (const std::string& name : variables) {
    if (const std::string value = environment_variable(name.c_str()); !value.empty()) {
      finding.details.push_back(
          fmt::format("{} = {}  (the environment overrides every file)", name, scrub_urls(value)));
    }
  }
  if (!finding.details.empty()) {
    finding.found = "effective settings and their sources";
  }
  return finding;
}

// A hard link can only be created within a file system. nullopt: there is no file to try it with.
std::optional<bool> is_on_another_file_system(const fs::path& root, const fs::path& probe) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    if (entry.is_regular_file(error) && !entry.is_symlink(error)) {
      fs::create_hard_link(entry.path(), probe, error);
      const bool made = !error;
      const bool is_elsewhere = error == std::errc::cross_device_link;
      fs::remove(probe, error);
      return made || is_elsewhere ? std::optional(is_elsewhere) : std::nullopt;
    }
  }
  return std::nullopt;
}

Finding examine_store(const Engine& engine, const DiagnoseOptions& options) {
  if (const auto opened = open_cache(engine.options().cache_directory); !opened) {
    return failing("cache", opened.error());
  }
  const fs::path place = engine.store().root();
  const auto unusable = [](const Error& error) {
    Finding failed = failing("cache", error);
    failed.hint = "make it writable for this user, or name another with --cache-dir or TOFU_MODLOCK_CACHE_DIR";
    return failed;
  };
  const auto sizes = measure(engine.store());
  if (!sizes) {
    return unusable(sizes.error());
  }
  Finding finding{.check = "cache"};
  finding.found =
      fmt::format("{} ({}): {}, {}, {}", place.string(), options.cache_origin, counted(sizes->packages, "package"),
                  counted(sizes->repositories, "git repository", "git repositories"),
                  size_text(sizes->package_bytes + sizes->repository_bytes));
  const auto work = engine.store().work_directory();
  const fs::path probe = work.value_or(place) / "doctor";
  const auto ok = work ? write_file_atomically(probe, "", Durable::no) : fail(work.error());
  if (!ok) {
    return unusable(ok.error());
  }
  std::error_code ignored;
  fs::remove(probe, ignored);
  finding.details.emplace_back("writable");
  if (const auto others = engine.store().foreign_writers()) {
    finding.verdict = Finding::Verdict::warning;
    finding.details.push_back(others->message);
    finding.hint = others->hint;
  }
  if (const auto elsewhere = is_on_another_file_system(options.root.root, probe)) {
    finding.details.emplace_back(*elsewhere
                                     ? "on a different file system from the root: packages are copied byte by byte"
                                     : "on the file system of the root");
  }
  return finding;
}

}  // namespace

Finding failing(std::string check, const Error& error) {
  const bool names_file = !error.location || error.message.find(error.location->path) != std::string::npos;
  return {.check = std::move(check),
          .verdict = Finding::Verdict::error,
          .found = names_file ? error.message : fmt::format("{}: {}", to_string(*error.location), error.message),
          .hint = error.hint,
          .exit_code = modlock::exit_code(error)};
}

std::vector<Finding> examine_machine(const Engine& engine, const DiagnoseOptions& options, const Run& run) {
  const Context context = engine.context_for(run);
  return {examine_git(options.root.root, context),
          examine_client(engine, options.root, context),
          examine_certificates(),
          examine_proxies(),
          examine_settings(engine, options.root.root),
          examine_store(engine, options)};
}

std::vector<Finding> Engine::diagnose(const DiagnoseOptions& options, Run& run) const {
  std::vector<Finding> findings = examine_machine(*this, options, run);
  for (Finding& finding : examine_hosts(*this, options, run)) {
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace modlock
