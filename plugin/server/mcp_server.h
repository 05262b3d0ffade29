#pragma once

#include <json/value.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/log.h"
#include "protocol/base/result.h"
#include "protocol/rpc/method_table.h"
#include "protocol/rpc/rpc.h"
#include "protocol/rpc/worker_pool.h"

namespace modlock {

// What the tools of an MCP server may read.
struct McpRoots {
  std::vector<std::string> directories;  // absolute, without links: a root module is in one of these, or one of them
  // Returns the params of each method for a root module. Errors: CONFIG_PARSE (it has no configuration).
  std::function<Result<Json::Value>(const std::string& root)> params;
};

// A server of the Model Context Protocol for coding agents, with tools that only read. It speaks the revisions
// 2025-06-18 and 2025-11-25, which begin with `initialize`, and the stateless 2026-07-28, in any order.
class McpServer {
 public:
  // `send` gets whole lines, from any thread. All references outlive the server.
  McpServer(const MethodTable& methods, const McpRoots& roots, Log& log, std::function<void(std::string line)> send);
  // Cancels what runs, and waits for it.
  ~McpServer();
  McpServer(const McpServer&) = delete;
  McpServer& operator=(const McpServer&) = delete;

  // Handles one message. Tools run in threads of their own; every other request is answered at once.
  void handle_line(std::string_view line);
  void handle_too_large();
  // Waits until no tool runs, at most for the time.
  void finish(std::chrono::milliseconds at_most);

 private:
  void handle(Message message);
  Result<Json::Value> answer(const Message& message, bool is_stateless) const;
  void start_tool(Message message, bool is_stateless);
  void run_tool(const Message& message, bool is_stateless, const std::stop_token& stop);
  void cancel(const Json::Value& id);

  const MethodTable& methods_;
  const McpRoots& roots_;
  Log& log_;
  const std::function<void(std::string line)> send_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::map<std::string, std::stop_source> running_;  // by the key of the id
  WorkerPool pool_;                                  // last: its threads use all of the above
};

// Serves until the input ends: then running tools get two seconds to finish.
void serve_mcp(McpServer& server, int in_fd);

}  // namespace modlock
