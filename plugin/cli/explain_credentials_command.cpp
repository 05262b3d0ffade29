#include <fmt/format.h>

#include "plugin/cli/commands.h"
#include "plugin/cli/over_roots.h"
#include "plugin/client/client_configuration.h"
#include "plugin/client/credential_report.h"
#include "plugin/engine/client_program.h"
#include "protocol/base/json.h"

namespace modlock::cli {
namespace {

void print(const CredentialReport& report) {
  print_out(fmt::format("{}{}{}\n", report.host, report.repository.empty() ? "" : "/", report.repository));
  for (const CredentialSearch& search : report.uses) {
    const std::string used = search.use == "git" ? "git reads ~/.netrc and queries its own credential helpers"
                             : search.used       ? "uses " + *search.used
                                                 : "no credential";
    print_out(fmt::format("\n{}: {}\n", search.use, used));
    int number = 0;
    for (const CredentialLocation& place : search.places) {
      print_out(fmt::format("  {}. {}: {}\n", ++number, place.place, place.outcome));
    }
  }
}

}  // namespace

Result<int> run_explain_credentials(const CommandLine& line, const Host& host) {
  const CommonFlags& flags = line.common;
  const ProcessEnvironment environment = current_environment();
  const ClientConfiguration configuration =
      read_client_configuration(find_client(host.engine().options()).tool, environment);
  Context context = host.context();
  const std::string root = std::filesystem::absolute(flags.directories.empty() ? "." : flags.directories.front());
  const auto data = host.engine().data_directory(host.root_params(root, flags));
  context.clone_directory = data ? *data / "modules/m" : "";
  MODLOCK_TRY(const auto report, explain_credentials(line.credentials, configuration, environment, context));
  if (flags.json) {
    print_raw(write_json_pretty(messages::encode(report)));
    return 0;
  }
  for (const Diagnostic& warning : configuration.warnings) {
    print_err(render(warning.what, "Warning"));
  }
  print(report);
  return 0;
}

}  // namespace modlock::cli
