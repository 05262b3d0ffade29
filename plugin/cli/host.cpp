#include "plugin/cli/host.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string_view>

#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"
#include "plugin/client/client_environment.h"
#include "plugin/engine/client_program.h"
#include "plugin/settings/setting_table.h"
#include "plugin/terragrunt/unit_check.h"
#include "plugin/workspace/root_search.h"
#include "protocol/base/result.h"
#include "protocol/rpc/rpc.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

// Returns what a variable turns on or off; nullopt: it is not set. The words are those of flags with a variable.
Result<std::optional<bool>> switch_variable(const char* name) {
  const std::string text = ascii::lower(environment_variable(name));
  if (text.empty()) {
    return std::nullopt;
  }
  constexpr std::array<std::string_view, 4> kOn = {"1", "true", "yes", "on"};
  constexpr std::array<std::string_view, 4> kOff = {"0", "false", "no", "off"};
  const bool is_on = contains(kOn, text);
  if (!is_on && !contains(kOff, text)) {
    return fail(Code::invalid_params,
                fmt::format("{}: expected 1 or 0, found \"{}\"", name, environment_variable(name)), "set it to 1 or 0");
  }
  return is_on;
}

fs::path normal(const fs::path& path) {
  std::error_code error;  // the current directory may have been deleted
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

// For commands that need no cache.
void leave_out_unsafe_cache(EngineOptions& options, const Printer& print) {
  const auto cache = Store::open(options.cache_directory);
  if (!cache && cache.error().code == Code::io_error) {
    print.err(render(with_note(cache.error(), "this command does not use the cache"), "Warning"));
    options.cache_directory.clear();
  }
}

std::vector<std::string> named_directories(const CommonFlags& flags) {
  return flags.directories.empty() ? std::vector<std::string>{"."} : flags.directories;
}

Result<Roots> search_below(const std::vector<std::string>& directories, const CommonFlags& flags, const Host& host) {
  RootSearch search = search_of_user(host.engine());
  search.directories.assign(directories.begin(), directories.end());
  search.current = normal(".");
  search.root_globs = flags.root_globs;
  search.exclude = flags.exclude;
  search.only_locks = flags.only_locks;
  search.with_units = flags.knows_units;
  search.base = flags.engine.base;
  MODLOCK_TRY(auto found, search_roots(search, host.context()));
  for (const messages::ExcludedRoot& excluded : found.excluded) {
    flags.print.err(fmt::format("Excluded {}: {}\n", excluded.root, excluded.by));
  }
  for (const Diagnostic& unused : found.diagnostics) {
    flags.print.err(fmt::format("Warning: {}\n", unused.what.message));
  }
  constexpr const char* kUnits =
      "hooks check the units of Terragrunt (docs/terragrunt.md), run: CI=true terragrunt run --all init";
  flags.print.err(found.has_units && !found.roots.empty() ? fmt::format("Not root modules: {}\n", kUnits) : "");
  if (found.roots.empty()) {
    return fail(Code::config_parse, fmt::format("no root module found in or below {}", fmt::join(directories, ", ")),
                !found.excluded.empty() ? "every root module is excluded: name the root modules that you mean"
                : found.has_units       ? kUnits
                                        : "name the root modules, or add a glob to `roots` in .tofu-modlock.hcl");
  }
  return Roots{std::move(found.roots), std::move(found.called), found.not_on_disk};
}

}  // namespace

Result<Host> Host::start(const CommonFlags& flags, Interrupt* interrupt, const std::vector<std::string>& command) {
  EngineOptions options = flags.engine;
  EngineOptions of_user = Engine::default_options();
  options.in_ci = of_user.in_ci;
  options.cache_directory = std::move(of_user.cache_directory);
  options.user_settings = std::move(of_user.user_settings);
  if (!flags.cache_dir.empty()) {
    options.cache_directory = fs::absolute(flags.cache_dir);
  }
  if (!flags.needs_cache) {
    leave_out_unsafe_cache(options, flags.print);
  }
  if (!flags.config_file.empty()) {
    options.user_settings = fs::absolute(flags.config_file);
  }
  if (const auto running = command.empty() ? std::nullopt : client_named_by(command.front())) {
    if (options.implementation.value_or(std::string(to_string(*running))) != to_string(*running)) {
      return fail(Code::invalid_params,
                  fmt::format("the command runs {}, and --implementation or TOFU_MODLOCK_IMPLEMENTATION is {}",
                              display_name(*running), *options.implementation),
                  fmt::format("set it to {}, or omit it", to_string(*running)));
    }
    options.implementation = to_string(*running);
  }
  MODLOCK_TRY(
      check_release(options.implementation_version, "--implementation-version or TOFU_MODLOCK_IMPLEMENTATION_VERSION"));
  options.remote = environment_variable("TOFU_MODLOCK_REMOTE");
  MODLOCK_TRY(const auto plain_http, switch_variable("TOFU_MODLOCK_REMOTE_PLAIN_HTTP"));
  options.plain_http = options.plain_http || plain_http.value_or(false);
  for (const std::string& directory : flags.workspace_roots) {
    if (!path_is_directory(directory)) {
      return fail(Code::invalid_params, fmt::format("--workspace-root {} is not a directory", directory),
                  "name an existing directory");
    }
    options.extra_workspace_roots.push_back(normal(directory));
  }
  if (options.minimum_release_age.empty() && flags.uses_age) {  // only some commands have the flag
    options.minimum_release_age = environment_variable("TOFU_MODLOCK_MINIMUM_RELEASE_AGE");
  }
  for (const auto& [name, values] : flags.overrides) {
    MODLOCK_TRY(values.empty() ? Result<void>() : override_setting(*find_setting(name), values, options.overrides));
  }
  Host host;
  MODLOCK_TRY(host.environment_, read_client_environment());
  for (const VariableFlag& flag : flags.variables) {
    MODLOCK_TRY(auto argument,
                flag.is_file ? Result<messages::VariableArgument>({flag.text, {}, {}}) : parse_variable(flag.text));
    host.environment_.arguments.push_back(std::move(argument));
  }
  host.log_ = std::make_unique<TerminalLog>(flags.verbose ? LogLevel::debug : LogLevel::warning, false, flags.print);
  if (const std::string write = environment_variable("TOFU_MODLOCK_REMOTE_WRITE"); !write.empty()) {
    host.log_->write(LogLevel::warning,
                     fmt::format("TOFU_MODLOCK_REMOTE_WRITE is ignored{}", write == "0" ? ": unset it" : kPushInstead));
  }
  host.engine_ = std::make_unique<Engine>(std::move(options));
  if (auto opened = host.engine_->open(*host.log_); !opened && !flags.diagnoses) {
    return fail(std::move(opened.error()));
  }
  host.methods_ = std::make_unique<MethodTable>(make_method_table(*host.engine_, {}));
  host.progress_ = std::make_unique<TerminalProgress>(!flags.quiet && !flags.verbose);
  host.interrupt_ = interrupt;
  host.stop_ = interrupt == nullptr ? std::stop_token() : interrupt->token();
  host.compares_ = flags.compares;
  if (flags.compares || flags.recursive || flags.directories.size() > 1) {
    host.shared_run_ = Run::for_many_roots({});
  }
  return host;
}

Run Host::run() const {
  Run run = shared_run_.next({.stop = stop_, .deadline = {}, .log = log_.get(), .progress = progress_.get()});
  run.texts = compares_ ? shared_run_.texts : run.texts;
  return run;
}

RootAnswer<messages::LockVerifyResult> Host::verify(const messages::LockVerifyParams& params) const {
  return call(terragrunt::check, params);
}

RootAnswer<messages::UpdateLookupResult> Host::look_up(const messages::UpdateLookupParams& params) const {
  return terragrunt::is_unit(params.root.root) ? call(terragrunt::look_up_unit, params) : call(&Engine::lookup, params);
}

Result<Json::Value> Host::ask(const std::string& method, const Json::Value& params, CallDetails& details) const {
  MODLOCK_TRY(auto allowed, time_allowed(params));
  RequestContext request{.stop = stop_, .log = log_.get(), .progress = progress_.get()};
  if (allowed) {
    request.deadline = std::chrono::steady_clock::now() + *allowed;
  }
  auto result = methods_->call(method, params, request);
  progress_->request_done();
  details = {std::move(request.error_data), std::move(request.diagnostics)};
  return result;
}

Result<void> Host::apply(const std::string& root, const CommonFlags& flags,
                         const messages::LockPlanResult& plan) const {
  Run run = this->run();
  auto ok = engine_->apply(root_params(root, flags), plan, flags.include, run);
  for (const Diagnostic& warning : run.diagnostics) {
    flags.print.err(render(warning.what, "Warning"));
  }
  return ok;
}

Context Host::context() const {
  return {.stop = stop_};
}

Result<Roots> find_roots(const CommonFlags& flags, const Host& host) {
  if (!flags.recursive && (!flags.root_globs.empty() || !flags.exclude.empty())) {
    return fail(Code::invalid_params, "--root-glob and --exclude require --recursive",
                "add --recursive, or name only the directories that you mean");
  }
  std::vector<std::string> roots;
  for (const std::string& directory : named_directories(flags)) {
    if (!path_is_directory(directory)) {
      return fail(Code::invalid_params, fmt::format("{} is not a directory", directory),
                  "name a directory with a root module");
    }
    roots.push_back(normal(directory).string());
  }
  if (flags.recursive) {
    return search_below(roots, flags, host);
  }
  sort_unique(roots);
  return Roots{std::move(roots)};
}

std::string Roots::left_out() const {
  constexpr std::size_t kMostNamed = 10;
  std::map<std::string, std::size_t> counts;
  std::vector<std::string> named;
  for (const messages::CalledModule& module : called) {
    ++counts[shown_path(fs::path(module.directory).parent_path().string())];
    named.push_back(fmt::format("{} (called by {})", shown_path(module.directory), shown_path(module.by)));
  }
  if (called.size() > kMostNamed) {
    named = mapped(counts, [](const auto& one) { return fmt::format("{} in {}", one.second, one.first); });
    named.back() += " (called by others)";
  }
  std::string text = named.empty() ? "" : fmt::format("Not a root: {}.", fmt::join(named, ", "));
  if (not_on_disk != 0) {
    text += fmt::format("{}The checkout is sparse: {} with configuration {} not on disk.", text.empty() ? "" : " ",
                        not_on_disk == 1 ? "1 directory" : fmt::format("{} directories", not_on_disk),
                        not_on_disk == 1 ? "is" : "are");
  }
  return text;
}

void print_unlocked_root(const std::string& root, int exit_code, const CommonFlags& flags, bool is_one_of_several) {
  if (!flags.recursive || exit_code != modlock::exit_code(Code::frozen) || has_lock(root) ||
      terragrunt::is_unit(root)) {
    return;
  }
  const ExcludeLine line = exclude_line(root, mapped(named_directories(flags), normal));
  if (!is_one_of_several && line.text.ends_with("\".\"]")) {
    return;  // without the only root module there is nothing to check
  }
  flags.print.err(fmt::format(
      "{} has no lock file. Run tofu-modlock lock there and commit the file. If the directory is not a root "
      "module, set in {}:\n  {}\n",
      root, line.file, line.text));
}

messages::RootParams Host::root_params(const std::string& root, const CommonFlags& flags) const {
  messages::RootParams params = flags.root;
  params.root = root;
  params.fallback_variables = environment_.fallback_variables;
  params.variable_arguments = environment_.arguments;
  return params;
}

}  // namespace modlock::cli
