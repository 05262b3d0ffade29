#include "tests/fidelity/programs.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "backends/base/process.h"

namespace modlock::fidelity {
namespace {

namespace fs = std::filesystem;

Finished run(std::vector<std::string> argv, const fs::path& directory, std::map<std::string, std::string> environment) {
  Command command{.argv = std::move(argv), .directory = directory};
  command.set_environment = std::move(environment);
  command.unset_environment = {"TF_*",        "TOFU_*",     "OPENTOFU_*",  "SSL_CERT_*", "CURL_CA_BUNDLE", "http_proxy",
                               "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",  "all_proxy",      "XDG_*"};
  auto finished = run_command(command, Context{});
  return finished ? *finished : Finished{.exit_code = 255, .output = {}, .error_output = finished.error().message};
}

std::string lock_in(const fs::path& directory) {
  return fs::exists(directory / kLockName) ? test::read_text(directory / kLockName) : std::string();
}

// What became of a directory whose lock file was `before`.
Outcome look(const Finished& finished, const fs::path& directory, const std::string& before) {
  Outcome outcome{.is_accepted = finished.exit_code == 0,
                  .lock = lock_in(directory),
                  .output = finished.output + finished.error_output};
  if (finished.exit_code >= 128) {
    outcome.trouble = fmt::format("it ended with {}", finished.exit_code);
  } else if (!outcome.is_accepted && outcome.lock != before) {
    outcome.trouble = "it refused and changed the lock file";
  }
  return outcome;
}

Outcome outcome(const Finished& finished, const fs::path& directory, const Case& of) {
  Outcome outcome = look(finished, directory, of.prior_lock());
  fs::remove_all(directory);
  return outcome;
}

std::vector<std::string> client_arguments(const Case& of) {
  if (of.action == Action::providers_lock) {
    std::vector<std::string> arguments = {"providers", "lock", "-no-color"};
    for (const std::string& platform : of.platforms) {
      arguments.push_back("-platform=" + platform);
    }
    return arguments;
  }
  std::vector<std::string> arguments = {"init", "-no-color", "-input=false"};
  if (!of.has_state) {
    arguments.emplace_back("-backend=false");
  }
  if (of.action == Action::upgrade) {
    arguments.emplace_back("-upgrade");
  } else if (of.action == Action::read_only) {
    arguments.emplace_back("-lockfile=readonly");
  }
  return arguments;
}

std::vector<std::string> modlock_arguments(const Case& of) {
  switch (of.action) {
    case Action::upgrade:
      return {"upgrade", "--hashes", "init"};
    case Action::read_only:
      return {"lock", "--frozen", "--hashes", "init"};
    case Action::providers_lock: {
      std::vector<std::string> arguments = {"lock", "--hashes", "providers-lock"};
      for (const std::string& platform : of.platforms) {
        arguments.insert(arguments.end(), {"--platform", platform});
      }
      return arguments;
    }
    case Action::init:
      break;
  }
  return {"lock", "--hashes", "init"};
}

// Some start from nothing, the others with what those before them left.
fs::path cache_of(const Rig& rig, const Case& of) {
  return of.number % 4 == 0 ? rig.path("cases") / fmt::format("{}-cache", of.number) : rig.path("cache");
}

void forget_own_cache(const Rig& rig, const Case& of) {
  if (const fs::path cache = cache_of(rig, of); cache != rig.path("cache")) {
    fs::remove_all(cache);
  }
}

std::map<std::string, std::string> modlock_environment(const Client& like, const Rig& rig, const Case& of) {
  std::map<std::string, std::string> environment = rig.environment(of);
  environment["TOFU_MODLOCK_IMPLEMENTATION"] = like.reader.is_terraform ? "terraform" : "opentofu";
  environment["TOFU_MODLOCK_IMPLEMENTATION_VERSION"] = like.version;
  environment["TOFU_MODLOCK_CACHE_DIR"] = cache_of(rig, of).string();
  return environment;
}

}  // namespace

std::optional<Client> identify(const std::string& program) {
  const Finished finished = run({program, "version"}, fs::temp_directory_path(), {{"CHECKPOINT_DISABLE", "1"}});
  const std::string line = finished.output.substr(0, finished.output.find('\n'));
  const std::size_t at = line.find(" v");
  if (finished.exit_code != 0 || at == std::string::npos) {
    return std::nullopt;
  }
  const std::string version = line.substr(at + 2, line.find('-', at) - at - 2);
  return Client{.program = program,
                .version = version,
                .reader = Reader::of(line.starts_with("T") ? "terraform" : "tofu", version)};
}

Outcome run_client(const Client& client, const Rig& rig, const Case& of) {
  const fs::path directory = rig.write(of, fmt::format("{}-client", of.number));
  const auto run_with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), client.program);
    return run(std::move(arguments), directory, rig.environment(of));
  };
  if (of.action == Action::providers_lock && of.calls_modules) {  // it installs no modules itself
    const Finished got = run_with({"get", "-no-color"});
    if (got.exit_code != 0) {
      return outcome(got, directory, of);
    }
  }
  return outcome(run_with(client_arguments(of)), directory, of);
}

Outcome run_modlock(const std::string& program, const Client& like, const Rig& rig, const Case& of) {
  const fs::path directory = rig.write(of, fmt::format("{}-modlock", of.number));
  std::vector<std::string> arguments = modlock_arguments(of);
  arguments.insert(arguments.begin(), program);
  Outcome found = outcome(run(std::move(arguments), directory, modlock_environment(like, rig, of)), directory, of);
  forget_own_cache(rig, of);
  found.lock = without_modules(found.lock);
  return found;
}

Settled run_both(const std::string& program, const Client& client, const Rig& rig, const Case& of) {
  const fs::path directory = rig.write(of, fmt::format("{}-both", of.number));
  const Finished locked = run({program, "lock"}, directory, modlock_environment(client, rig, of));
  forget_own_cache(rig, of);
  Outcome ours = look(locked, directory, of.prior_lock());
  Outcome theirs = ours;
  if (ours.is_accepted) {
    std::vector<std::string> arguments = client_arguments(of);
    arguments.insert(arguments.begin(), client.program);
    theirs = look(run(std::move(arguments), directory, rig.environment(of)), directory, ours.lock);
  }
  fs::remove_all(directory);
  return {std::move(ours), std::move(theirs)};
}

std::string without_modules(const std::string& lock) {
  constexpr std::string_view kModule = "\nmodule \"";
  constexpr std::string_view kEnd = "\n}\n";
  std::string kept = lock;
  for (std::size_t at = kept.find(kModule); at != std::string::npos; at = kept.find(kModule)) {
    kept.erase(at, kept.find(kEnd, at) + kEnd.size() - at);
  }
  return kept;
}

}  // namespace modlock::fidelity
