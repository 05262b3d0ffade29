#include "backends/credentials/credential_program.h"

#include <fmt/ranges.h>

#include <cstring>
#include <ctime>

#include "backends/address/version.h"
#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "backends/base/process.h"
#include "backends/base/text.h"
#include "backends/credentials/folded_member.h"
#include "protocol/base/hint.h"
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

// Returns whether a time as the AWS CLI prints it passes while the answer is used.
bool expires_soon(const std::string& text) {
  std::tm time{};
  std::tm zone{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  if (rest == nullptr) {
    return false;
  }
  rest += *rest == '.' ? 1 + std::strspn(rest + 1, "0123456789") : 0;
  static_cast<void>(::strptime(rest, "%z", &zone));
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return ::timegm(&time) - zone.tm_gmtoff <= now + kHelperAnswerLife.count();
}

// A helper may prompt, and no one can answer.
constexpr std::chrono::seconds kLongestAnswer{60};

// A program that prints a credential.
struct Helper {
  std::vector<std::string> argv;
  std::string by_hand;  // how people run it
  std::string_view host;

  tl::unexpected<Error> failing(std::string_view how) const {
    return fail(Code::unreachable, fmt::format("the credential helper {} {}", name(), how),
                fmt::format("run it manually to see why: {}", by_hand));
  }

  // Returns what it prints, or `none` if it fails and prints only that.
  Result<std::string> ask(const Context& context, std::string input = {}, std::string_view none = {}) const {
    Context limited = context;
    const auto end = std::chrono::steady_clock::now() + kLongestAnswer;
    const bool is_ours = !limited.deadline || end < *limited.deadline;
    limited.deadline = is_ours ? end : *limited.deadline;
    auto finished = run_command(
        {.argv = argv, .unset_environment = {"TF_TOKEN_*"}, .input = std::move(input), .output_limit = kAnswerLimit},
        limited);
    if (!finished && is_ours && finished.error().code == Code::deadline_exceeded) {
      return fail(Code::timeout,
                  fmt::format("the credential helper {} timed out after {} seconds", name(), kLongestAnswer.count()),
                  "run it manually to see what it waits for; prompts are not supported");
    }
    if (!finished && finished.error().code == Code::tool_missing) {
      return fail(Code::tool_missing,
                  fmt::format("{} is not on PATH, but is required for the credentials of {}", name(), host),
                  fmt::format("install {}, or remove it from the file that names it", name()));
    }
    if (!finished) {
      return fail(std::move(finished.error()));
    }
    const bool has_none = !none.empty() && trimmed(finished->output) == none;
    return finished->exit_code == 0 || has_none ? Result<std::string>(std::move(finished->output))
                                                : failing(fmt::format("ended with exit code {}", finished->exit_code));
  }

 private:
  std::string name() const { return fs::path(argv.front()).filename().string(); }
};

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
  Helper helper{
      .argv = {program.string()}, .by_hand = fmt::format("{} get {}", program.filename().string(), host), .host = host};
  helper.argv.insert(helper.argv.end(), arguments.begin(), arguments.end());
  helper.argv.insert(helper.argv.end(), {"get", std::string(host)});
  MODLOCK_TRY(const auto output, helper.ask(context));
  const auto answer = parse_json(output);
  if (!answer || !(answer->isObject() || answer->isNull())) {
    return helper.failing("did not print a JSON object");
  }
  FoundCredential found;
  if (answer->isObject() && (*answer)["token"].isString()) {
    found.secret = TokenCredential{.access_token = SecretText((*answer)["token"].asString())};
  }
  return found;
}

Result<FoundCredential> ask_docker_helper(std::string_view name, std::string_view host, const Context& context) {
  constexpr std::string_view kNone = "credentials not found in native keychain";
  const std::string program = fmt::format("docker-credential-{}", name);
  const Helper helper{
      .argv = {program, "get"}, .by_hand = fmt::format("echo https://{} | {} get", host, program), .host = host};
  MODLOCK_TRY(const auto output, helper.ask(context, fmt::format("https://{}", host), kNone));
  if (trimmed(output) == kNone) {
    return FoundCredential{};
  }
  const auto answer = parse_json(output);
  const Json::Value& user = answer ? folded_member(*answer, "Username") : Json::Value::nullSingleton();
  const Json::Value& secret = answer ? folded_member(*answer, "Secret") : Json::Value::nullSingleton();
  if (!user.isString() || !secret.isString()) {
    return helper.failing("did not print a JSON object with Username and Secret");
  }
  if (user.asString() == "<token>") {
    return helper.failing("returned an identity token, which OpenTofu does not accept from a program");
  }
  FoundCredential found;
  if (!user.asString().empty() || !secret.asString().empty()) {
    found.secret = BasicCredential{.user = SecretText(user.asString()), .password = SecretText(secret.asString())};
  }
  return found;
}

Result<FoundCredential> ask_aws(const std::string& profile, const Context& context) {
  Helper helper{.argv = {"aws", "configure", "export-credentials", "--format", "process"}, .by_hand = {}, .host = "S3"};
  if (!profile.empty()) {
    helper.argv.push_back("--profile=" + profile);
  }
  helper.by_hand = fmt::format("{}", fmt::join(mapped(helper.argv, shell_word), " "));
  MODLOCK_TRY(const auto output, helper.ask(context));
  const auto answer = parse_json(output);
  const auto member = [&](const char* name) {
    return SecretText(answer && answer->isObject() && (*answer)[name].isString() ? (*answer)[name].asString() : "");
  };
  AwsCredential key{member("AccessKeyId"), member("SecretAccessKey"), member("SessionToken")};
  if (key.key_id.empty() || key.secret_key.empty()) {
    return helper.failing("did not print a JSON object with AccessKeyId and SecretAccessKey");
  }
  if (expires_soon(member("Expiration").reveal())) {
    return helper.failing("returned a key that has expired, or does so within a minute");
  }
  return FoundCredential{.secret = std::move(key)};
}

Result<FoundCredential> ask_gcloud(const Context& context) {
  const Helper helper{.argv = {"gcloud", "auth", "print-access-token"},
                      .by_hand = "gcloud auth print-access-token",
                      .host = "Google Cloud Storage"};
  MODLOCK_TRY(const auto output, helper.ask(context));
  const std::string_view token = trimmed(output);
  if (token.empty() || token.find_first_of(" \t\r\n") != std::string_view::npos) {
    return helper.failing("did not print a token");
  }
  return FoundCredential{.secret = TokenCredential{SecretText(std::string(token))}};
}

}  // namespace modlock
