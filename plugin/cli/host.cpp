#include "plugin/cli/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "backends/crypto/digest.h"
#include "backends/files/files.h"
#include "plugin/cli/client_environment.h"
#include "plugin/lock/lock_file.h"
#include "protocol/rpc.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

fs::path normal(const fs::path& path) {
  std::error_code error;  // the current directory may be gone
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

void find_below(const fs::path& directory, std::vector<std::string>& roots) {
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(directory, error); entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    if (error) {
      return;
    }
    if (entry->is_directory(error) && is_hidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->path().filename() == kLockFileName || entry->path().filename() == kSidecarFileName) {
      roots.push_back(entry->path().parent_path().string());
    }
  }
}

Result<void> check_base(const fs::path& path, const Json::Value& document) {
  auto bytes = read_file(path);
  if (!bytes && bytes.error().code != Code::not_found) {
    return fail(std::move(bytes.error()));
  }
  const Json::Value& base = document["base"];
  if (bytes && *bytes == document["newText"].asString()) {
    return {};  // somebody else came to the same result
  }
  const bool same = base.isNull() ? !bytes : bytes && sha256_hex(*bytes) == base["sha256"].asString();
  if (!same) {
    return fail(Code::content_modified, fmt::format("{} was changed by somebody else in the meantime", path.string()),
                "run the same command again");
  }
  return {};
}

}  // namespace

Result<Host> Host::start(const CommonFlags& flags, std::stop_token stop) {
  ServiceOptions options = Service::default_options();
  if (!flags.cache_dir.empty()) {
    options.cache_directory = fs::absolute(flags.cache_dir);
  }
  if (!flags.config_file.empty()) {
    options.user_settings = fs::absolute(flags.config_file);
  }
  if (!flags.implementation.empty()) {
    options.implementation = flags.implementation;
  }
  if (auto ok = check_release(flags.implementation_version, "--implementation-version"); !ok) {
    return fail(std::move(ok.error()));
  }
  if (!flags.implementation_version.empty()) {
    options.implementation_version = flags.implementation_version;
  }
  options.offline = flags.offline;
  options.began = fs::file_time_type::clock::now();
  if (!flags.git_engine.empty()) {
    options.git_engine = flags.git_engine;
  }
  Host host;
  auto environment = read_client_environment();
  if (!environment) {
    return fail(std::move(environment.error()));
  }
  host.environment_ = std::move(*environment);
  for (const VariableFlag& flag : flags.variables) {
    auto argument = flag.is_file ? Result<VariableArgument>({std::nullopt, flag.text}) : parse_variable(flag.text);
    if (!argument) {
      return fail(std::move(argument.error()));
    }
    host.environment_.arguments.push_back(std::move(*argument));
  }
  host.service_ = std::make_unique<Service>(std::move(options));
  if (auto ok = host.service_->open(); !ok) {
    return fail(std::move(ok.error()));
  }
  host.methods_ = std::make_unique<MethodTable>(make_method_table(*host.service_, {}));
  host.progress_ = std::make_unique<TerminalProgress>();
  host.log_ = std::make_unique<TerminalLog>();
  host.stop_ = std::move(stop);
  return host;
}

Result<Json::Value> Host::call(const std::string& method, const Json::Value& params, Told* told) const {
  auto answer = ask(method, params, told);
  return answer ? Result<Json::Value>(std::move(*answer).tree()) : fail(std::move(answer.error()));
}

RequestContext Host::request() const {
  RequestContext request;
  request.stop = stop_;
  request.progress = progress_.get();
  request.log = log_.get();
  return request;
}

Result<Answer> Host::ask(const std::string& method, const Json::Value& params, Told* told) const {
  auto allowed = time_allowed(params);
  if (!allowed) {
    return fail(std::move(allowed.error()));
  }
  RequestContext request = this->request();
  if (*allowed) {
    request.deadline = std::chrono::steady_clock::now() + **allowed;
  }
  auto result = methods_->call(method, params, request);
  // The process ends sooner than the last of them would be freed.
  static auto& kept = *new std::shared_ptr<const void>();
  kept = std::move(request.leftovers);
  if (told != nullptr) {
    *told = {std::move(request.error_data), std::move(request.diagnostics)};
  }
  return result;
}

Context Host::context() const {
  Context context;
  context.stop = stop_;
  return context;
}

Result<std::vector<std::string>> find_roots(const CommonFlags& flags) {
  std::vector<std::string> roots;
  const std::vector<std::string> named = flags.directories.empty() ? std::vector<std::string>{"."} : flags.directories;
  for (const std::string& directory : named) {
    std::error_code error;
    if (!fs::is_directory(directory, error)) {
      return fail(Code::invalid_params, fmt::format("{} is not a directory", directory),
                  "name a directory with a root module");
    }
    if (flags.recursive) {
      find_below(normal(directory), roots);
    } else {
      roots.push_back(normal(directory).string());
    }
  }
  if (roots.empty()) {
    return fail(Code::invalid_params, "no directory below has a lock file",
                "name the root modules, or run `lock` in them first");
  }
  std::sort(roots.begin(), roots.end());
  roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  return roots;
}

Json::Value Host::root_params(const std::string& root, const CommonFlags& flags) const {
  Json::Value params(Json::objectValue);
  params["root"] = root;
  for (const auto& [name, value] : environment_.fallback_variables) {
    params["fallbackVariables"][name] = value;
  }
  for (const VariableArgument& argument : environment_.arguments) {
    Json::Value& item = params["variableArguments"].append(Json::Value(Json::objectValue));
    if (argument.name) {
      item["name"] = *argument.name;
    }
    item[argument.name ? "value" : "file"] = argument.text;
  }
  if (!flags.workspace.empty()) {
    params["workspace"] = flags.workspace;
  }
  if (!flags.data_dir.empty()) {
    params["dataDir"] = flags.data_dir;
  }
  for (const std::string& kind : flags.include) {
    params["include"].append(kind);
  }
  return params;
}

Result<void> apply_edits(const std::string& root, const Json::Value& edits) {
  for (const Json::Value& document : edits["documents"]) {
    if (auto ok = check_base(fs::path(root) / document["path"].asString(), document); !ok) {
      return ok;
    }
  }
  for (const Json::Value& document : edits["documents"]) {
    const fs::path path = fs::path(root) / document["path"].asString();
    if (auto ok = write_file_atomically(path, document["newText"].asString()); !ok) {
      return ok;
    }
  }
  return {};
}

}  // namespace modlock::cli
