#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <iterator>

#include "backends/base/started_child.h"
#include "plugin/cli/over_roots.h"
#include "plugin/cli/settings_documents.h"
#include "protocol/base/json.h"
#include "protocol/messages/error_json.h"
#include "protocol/messages/openrpc.h"
#include "protocol/rpc/serve.h"

namespace modlock::cli {

int run_call(const CommandLine& line, const Host& host) {
  std::string text = line.params;
  if (text == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  }
  CallDetails details;
  auto params = parse_json(text);
  auto result = params ? host.ask(line.method, *params, details) : Result<Json::Value>(fail(params.error()));
  if (result) {
    print_raw(write_json(*result) + "\n");
    return 0;
  }
  print_raw(write_json(to_json(result.error(), details.error_data)) + "\n");
  print_err(render(result.error()));
  return exit_code(result.error());
}

int run_serve(const CommandLine& line) {
  if (isatty(STDIN_FILENO) == 1) {
    print_err(
        "tofu-modlock serve reads and writes JSON-RPC 2.0 messages on stdin and stdout, one per line.\n"
        "It is not interactive. Try `tofu-modlock lock`, or `tofu-modlock call METHOD`.\n");
    return 2;
  }
  auto out = take_stdout();
  if (!out) {
    print_err(render(out.error()));
    return exit_code(out.error());
  }
  ServeOptions options;
  options.out_fd = *out;
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

int run_schema(const CommandLine& line) {
  print_raw(write_json_pretty(line.document == "openrpc"    ? messages::openrpc_document()
                              : line.document == "settings" ? settings_schema()
                                                            : messages::json_schema_document()));
  return 0;
}

}  // namespace modlock::cli
