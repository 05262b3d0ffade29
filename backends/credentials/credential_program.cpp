#include "backends/credentials/credential_program.h"

#include <fmt/format.h>

#include "backends/address/version.h"
#include "backends/base/ascii.h"
#include "backends/base/process.h"
#include "backends/base/text.h"
#include "backends/credentials/folded_member.h"
#include "protocol/base/json.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRegistryPrefix = "terraform-credentials-";
constexpr std::size_t kAnswerLimit = std::size_t{1} << 20U;

// Returns the version in the file name of a helper with this name: "terraform-credentials-foo_v1.2.0_x4". Returns
// nullopt if the file is not such a helper.
std::optional<Version> version_of(const std::string& file_name, std::string_view name) {
  if (!file_name.starts_with(kRegistryPrefix)) {
    return std::nullopt;
  }
  std::string rest = ascii::lower(file_name.substr(kRegistryPrefix.size()));
  std::string version = "0.0.0";
  if (const std::size_t mark = rest.find("_v"); mark != std::string::npos) {
    version = rest.substr(mark + 2);
    version = version.substr(0, version.find("_x"));
    rest.resize(mark);
  }
  if (rest != name) {
    return std::nullopt;
  }
  auto parsed = Version::parse(version);
  return parsed ? std::optional(std::move(*parsed)) : std::nullopt;
}

// A helper may prompt, and no one can answer.
constexpr std::chrono::seconds kLongestAnswer{60};

Result<Finished> run(Command command, const Context& context) {
  command.unset_environment = {"TF_TOKEN_*"};
  command.output_limit = kAnswerLimit;
  Context limited = context;
  const auto end = std::chrono::steady_clock::now() + kLongestAnswer;
  const bool is_ours = !limited.deadline || end < *limited.deadline;
  if (is_ours) {
    limited.deadline = end;
  }
  auto finished = run_command(command, limited);
  if (!finished && is_ours && finished.error().code == Code::deadline_exceeded) {
    return fail(Code::timeout,
                fmt::format("the credential helper {} timed out after {} seconds",
                            std::filesystem::path(command.argv[0]).filename().string(), kLongestAnswer.count()),
                "run it manually to see what it waits for; prompts are not supported");
  }
  return finished;
}

tl::unexpected<Error> failing(std::string_view program, std::string_view how, std::string_view by_hand) {
  return fail(Code::unreachable, fmt::format("the credential helper {} {}", program, how),
              fmt::format("run it manually to see why: {}", by_hand));
}

}  // namespace

std::optional<fs::path> find_registry_helper(const std::vector<std::string>& directories, std::string_view name) {
  std::optional<Version> newest;
  fs::path found;
  for (const std::string& directory : directories) {
    std::error_code error;
    for (auto entry = fs::directory_iterator(directory, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      std::error_code ignored;
      if (fs::status(entry->path(), ignored).type() == fs::file_type::directory ||
          !fs::exists(entry->path(), ignored)) {
        continue;
      }
      auto version = version_of(entry->path().filename().string(), name);
      if (version && (!newest || *version > *newest)) {
        newest = std::move(version);
        found = entry->path();
      }
    }
  }
  return newest ? std::optional(std::move(found)) : std::nullopt;
}

Result<FoundCredential> ask_registry_helper(const fs::path& program, const std::vector<std::string>& arguments,
                                            std::string_view host, const Context& context) {
  Command command{.argv = {program.string()}};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.argv.insert(command.argv.end(), {"get", std::string(host)});
  const std::string name = program.filename().string();
  const std::string by_hand = fmt::format("{} get {}", name, host);
  MODLOCK_TRY(const auto finished, run(std::move(command), context));
  if (finished.exit_code != 0) {
    return failing(name, fmt::format("ended with exit code {}", finished.exit_code), by_hand);
  }
  const auto answer = parse_json(finished.output);
  if (!answer || !(answer->isObject() || answer->isNull())) {
    return failing(name, "did not print a JSON object", by_hand);
  }
  FoundCredential found;
  if (answer->isObject() && (*answer)["token"].isString()) {
    found.secret = TokenCredential{.access_token = SecretText((*answer)["token"].asString())};
  }
  return found;
}

Result<FoundCredential> ask_docker_helper(std::string_view name, std::string_view host, const Context& context) {
  const std::string program = fmt::format("docker-credential-{}", name);
  const std::string by_hand = fmt::format("echo https://{} | {} get", host, program);
  const auto finished = run({.argv = {program, "get"}, .input = fmt::format("https://{}", host)}, context);
  if (!finished && finished.error().code == Code::tool_missing) {
    return fail(Code::tool_missing,
                fmt::format("{} is not on PATH, but is required for the credentials of {}", program, host),
                fmt::format("install {}, or remove it from the file that names it", program));
  }
  if (!finished) {
    return fail(finished.error());
  }
  if (finished->exit_code != 0) {
    if (trimmed(finished->output) == "credentials not found in native keychain") {
      return FoundCredential{};
    }
    return failing(program, fmt::format("ended with exit code {}", finished->exit_code), by_hand);
  }
  const auto answer = parse_json(finished->output);
  const Json::Value& user = answer ? folded_member(*answer, "Username") : Json::Value::nullSingleton();
  const Json::Value& secret = answer ? folded_member(*answer, "Secret") : Json::Value::nullSingleton();
  if (!user.isString() || !secret.isString()) {
    return failing(program, "did not print a JSON object with Username and Secret", by_hand);
  }
  if (user.asString() == "<token>") {
    return failing(program, "returned an identity token, which OpenTofu does not accept from a program", by_hand);
  }
  FoundCredential found;
  if (!user.asString().empty() || !secret.asString().empty()) {
    found.secret = BasicCredential{.user = SecretText(user.asString()), .password = SecretText(secret.asString())};
  }
  return found;
}

}  // namespace modlock
