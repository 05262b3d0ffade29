#include <fmt/format.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <mutex>

#include "backends/base/started_child.h"
#include "plugin/cli/over_roots.h"
#include "plugin/server/mcp_server.h"
#include "plugin/settings/settings_documents.h"
#include "protocol/base/json.h"
#include "protocol/messages/error_json.h"
#include "protocol/messages/openrpc.h"
#include "protocol/rpc/line_writer.h"
#include "protocol/rpc/serve.h"

namespace modlock::cli {
namespace {

// Returns the params of a method for a root module with the variables of the environment, without those of flags.
Json::Value params_from_environment(const messages::RootParams& root) {
  Json::Value params;
  params["root"] = root.root;
  for (const auto& [name, value] : root.fallback_variables) {
    params["fallbackVariables"][name] = value;
  }
  if (root.workspace) {
    params["workspace"] = *root.workspace;
  }
  if (root.data_dir) {
    params["dataDir"] = *root.data_dir;
  }
  return params;
}

}  // namespace

Result<int> run_call(const CommandLine& line, const Host& host) {
  std::string text = line.params;
  if (text == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  }
  CallDetails details;
  auto params = parse_json(text);
  auto result = params ? host.ask(line.method, *params, details) : Result<Json::Value>(fail(params.error()));
  if (result) {
    line.common.print.raw(write_json(*result) + "\n");
    return 0;
  }
  line.common.print.raw(write_json(to_json(result.error(), details.error_data)) + "\n");
  line.common.print.err(render(result.error()));
  return exit_code(result.error());
}

Result<int> run_serve(const CommandLine& line) {
  std::signal(SIGPIPE, SIG_IGN);  // a host that closes stderr must not end the session
  if (isatty(STDIN_FILENO) == 1) {
    line.common.print.err(
        "tofu-modlock serve reads and writes JSON-RPC 2.0 messages on stdin and stdout, one per line.\n"
        "It is not interactive. Try `tofu-modlock lock`, or `tofu-modlock call METHOD`.\n");
    return 2;
  }
  const ChildGuardian guardian;
  ServeOptions options;
  MODLOCK_TRY(options.out_fd, take_stdout());
  if (line.max_message_bytes != 0) {
    options.max_message_bytes = std::min(line.max_message_bytes, kLargestMaxMessageBytes);
  }
  if (line.drain_ms >= 0) {
    options.drain = std::chrono::milliseconds(line.drain_ms);
  }
  TerminalLog log;
  options.log = &log;
  options.abandon = [](int exit_code) {
    StartedChild::kill_all();
    std::_Exit(exit_code);
  };
  Engine engine(Engine::default_options());
  const MethodTable methods = make_method_table(engine, {.max_message_bytes = options.max_message_bytes});
  return serve(methods, options);
}

Result<int> run_mcp(const CommandLine& line) {
  std::signal(SIGPIPE, SIG_IGN);
  if (isatty(STDIN_FILENO) == 1) {
    line.common.print.err(
        "tofu-modlock mcp serves the Model Context Protocol on stdin and stdout, for a coding agent that starts it.\n"
        "It is not interactive.\n");
    return 2;
  }
  const ChildGuardian guardian;
  McpRoots roots;
  CommonFlags common = line.common;
  for (const std::string& directory : line.mcp_roots.empty() ? std::vector<std::string>{"."} : line.mcp_roots) {
    std::error_code error;
    roots.directories.push_back(std::filesystem::canonical(directory, error).string());
    if (error || !std::filesystem::is_directory(roots.directories.back(), error)) {
      return fail(Code::invalid_params, fmt::format("--root {} is not a directory", directory),
                  "name an existing directory");
    }
    // Outside of a git repository, a local source could leave the directory.
    common.engine.workspace_roots.push_back(find_repository_root(roots.directories.back()));
  }
  MODLOCK_TRY(const Host host, Host::start(common));
  roots.params = [&](const std::string& root) -> Result<Json::Value> {
    if (auto missing = find_missing_configuration(root)) {
      missing->hint = "pass the directory of a root module as root";
      return fail(*std::move(missing));
    }
    return params_from_environment(host.root_params(root, line.common));
  };
  MODLOCK_TRY(const int out, take_stdout());
  std::mutex mutex;
  std::condition_variable written;
  LineWriter writer(out, [&] {
    const std::lock_guard lock(mutex);
    written.notify_all();
  });
  TerminalLog log;
  {
    McpServer server(host.methods(), roots, log, [&](std::string answer) { writer.write(std::move(answer)); });
    serve_mcp(server, STDIN_FILENO);
  }
  std::unique_lock lock(mutex);
  written.wait(lock, [&] { return writer.is_idle(); });
  return 0;
}

Result<int> run_schema(const CommandLine& line) {
  line.common.print.raw(write_json_pretty(line.document == "openrpc"    ? messages::openrpc_document()
                                          : line.document == "settings" ? settings_schema()
                                                                        : messages::json_schema_document()));
  return 0;
}

}  // namespace modlock::cli
