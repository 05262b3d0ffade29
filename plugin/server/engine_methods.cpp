#include "plugin/server/engine_methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/base/ascii.h"
#include "backends/base/build_info.h"
#include "backends/base/parallel.h"
#include "backends/base/text.h"
#include "plugin/engine/client_program.h"
#include "plugin/workspace/root_search.h"
#include "protocol/base/json.h"
#include "protocol/base/result.h"
#include "protocol/messages/error_json.h"
#include "protocol/messages/openrpc.h"
#include "protocol/messages/workspace.h"
#include "protocol/rpc/dispatcher.h"

namespace modlock {
namespace {

// Returns a warning for each document that replaces no file that was read: its path may be wrong.
Diagnostics unread_documents(const Run& run) {
  Diagnostics unread;
  for (const auto& [path, document] : run.documents) {
    if (!*document.is_read) {
      unread.push_back({Severity::warning,
                        Error{.code = Code::invalid_params,
                              .message = fmt::format(
                                  "the document \"{}\" has no effect: no file with this path is read", document.name),
                              .hint = "send its path relative to the root, or an absolute path"}});
    }
  }
  return unread;
}

// More than the result of an install for one root without its lists.
constexpr std::size_t kShortResultBytes = 2048;

// An install that wrote files must not fail because its result is too long, so the limit of the host is checked before.
Result<void> check_limit(const RequestContext& request, std::size_t roots) {
  const std::size_t needed = kShortResultBytes * roots;
  if (request.max_result_bytes == 0 || request.max_result_bytes >= needed) {
    return {};
  }
  return fail(Code::limit_exceeded,
              fmt::format("the response may have {} bytes, but the host accepts {}", needed, request.max_result_bytes),
              "raise limits.maxMessageBytes in initialize, or install fewer root modules at once");
}

// Returns a result of `bytes` bytes, or an entry of `workspace/*`, without its long members.
Json::Value shortened(Json::Value entry, std::size_t bytes) {
  const Error error{
      .code = Code::limit_exceeded,
      .message = fmt::format("the result has {} bytes, and the response would be too long for the host", bytes),
      .hint = "raise limits.maxMessageBytes in initialize, or request fewer root modules at once"};
  if (entry.isMember("error")) {
    entry["error"]["data"].removeMember("changes");
  } else if (entry.isMember("installed")) {
    for (const char* list : {"installed", "reused", "removed"}) {
      entry[list] = Json::arrayValue;
    }
    entry["diagnostics"] = messages::encode(Diagnostics{{Severity::warning, error}});
  } else {
    Json::Value root = std::move(entry["root"]);
    entry = Json::objectValue;
    entry["root"] = std::move(root);
    entry["error"] = to_json(error);
  }
  return entry;
}

// Shortens the longest results, so that the response is not longer than the host accepts.
void shorten(std::vector<Json::Value>& entries, const RequestContext& request) {
  constexpr std::size_t kOtherMembers = 256;
  std::vector<std::pair<std::size_t, Json::Value*>> longest;
  std::size_t total = kOtherMembers;
  for (const std::string& name : request.unknown_params) {
    total += name.size() + 3;
  }
  for (Json::Value& entry : entries) {
    longest.emplace_back(write_json(entry).size() + 1, &entry);
    total += longest.back().first;
  }
  std::sort(longest.rbegin(), longest.rend());
  for (const auto& [bytes, entry] : longest) {
    if (request.max_result_bytes == 0 || total <= request.max_result_bytes) {
      return;
    }
    *entry = shortened(std::move(*entry), bytes);
    total += write_json(*entry).size() + 1 - bytes;
  }
}

template <typename Output>
constexpr bool kWrites = std::is_same_v<Output, messages::ModulesInstallResult>;

// Returns INVALID_PARAMS for an unknown member of an update that a host may take for `newVersion` or `newConstraint`:
// without them, the update is to the newest version. `unknown` has the names as in ObjectReader::unknown.
Result<void> check_updates(const std::vector<std::string>& unknown) {
  using namespace std::string_view_literals;
  constexpr std::array kMembers = {"newversion"sv, "newconstraint"sv};
  constexpr std::array kVersionWords = {"version"sv,       "to"sv,      "toversion"sv, "target"sv,
                                        "targetversion"sv, "newvalue"sv};
  for (const std::string& path : unknown) {
    if (!path.starts_with("updates[")) {
      continue;
    }
    const std::string name = ascii::lower(path.substr(path.rfind('.') + 1));
    const auto meant = std::ranges::find(kVersionWords, name) != kVersionWords.end() ? kMembers[0]
                       : name == "constraint"                                        ? kMembers[1]
                                              : nearest_name(name, kMembers).value_or("");
    if (!meant.empty()) {
      return fail(Code::invalid_params, fmt::format("decode: unknown member at params.{}", path),
                  meant == kMembers[0] ? "write \"newVersion\"" : "write \"newConstraint\"");
    }
  }
  return {};
}

// Decodes params, calls a method of the engine, or a function that takes one, and encodes its result.
template <typename Params, typename Output, typename Method>
Handler make_handler(const Engine& engine, Method method) {
  return [&engine, method](const Json::Value& params, RequestContext& request) -> Result<Json::Value> {
    MODLOCK_TRY(const auto decoded, decode_params<Params>(params, request.unknown_params));
    if constexpr (std::is_same_v<Params, messages::UpdatePlanParams>) {
      MODLOCK_TRY(check_updates(request.unknown_params));
    }
    if constexpr (kWrites<Output>) {
      MODLOCK_TRY(check_limit(request, 1));
    }
    Run run(run_options(request));
    Result<Output> result = std::invoke(method, engine, decoded, run);
    if constexpr (requires { result->diagnostics; }) {
      for (const Diagnostic& unread : result ? unread_documents(run) : Diagnostics()) {
        result->diagnostics.push_back(unread);
        run.diagnostics.push_back(unread);
      }
    }
    request.diagnostics = std::move(run.diagnostics);
    if (!result) {
      request.error_data = error_data(run);
      return fail(std::move(result.error()));
    }
    std::vector<Json::Value> encoded = {messages::encode(*result)};
    if constexpr (kWrites<Output>) {
      shorten(encoded, request);
    }
    return std::move(encoded.front());
  };
}

template <typename Params, typename Output>
Handler handler(const Engine& engine, Result<Output> (Engine::*method)(const Params&, Run&) const) {
  return make_handler<Params, Output>(engine, method);
}
template <typename Params, typename Output>
Handler handler(const Engine& engine, Result<Output> (*method)(const Engine&, const Params&, Run&)) {
  return make_handler<Params, Output>(engine, method);
}

// Handles `workspace/plan` and similar methods: a method of the engine for each of many roots. All params except
// `roots` and `jobs` are those of the method. A root that fails has an `error` instead of a result.
template <typename Params, typename Output>
Result<Json::Value> handle_workspace(const Engine& engine, Result<Output> (Engine::*method)(const Params&, Run&) const,
                                     const Json::Value& params, RequestContext& request) {
  std::vector<std::string> of_each_root;  // known to the method
  MODLOCK_TRY(const auto workspace, decode_params<messages::WorkspaceParams>(params, of_each_root));
  const std::vector<std::string>& roots = workspace.roots;
  if constexpr (kWrites<Output>) {
    MODLOCK_TRY(check_limit(request, roots.size()));
  }
  Json::Value shared = params;
  shared.removeMember("roots");
  shared.removeMember("jobs");
  shared["root"] = roots.front();
  const auto decoded = decode_params<Params>(shared, request.unknown_params);
  const Run all = Run::for_many_roots(run_options(request));
  std::vector<Json::Value> entries(roots.size());
  std::atomic<std::size_t> done = 0;
  parallel_for(roots.size(), workspace.jobs.count, [&](std::size_t i) {
    Run run = all.for_root();
    const auto call = [&]() -> Result<Output> {
      if (request.stop.stop_requested()) {
        return fail(Code::request_cancelled, "the request was cancelled");
      }
      if (!decoded) {
        return fail(decoded.error());
      }
      Params of_root = *decoded;
      of_root.root.root = roots[i];
      return (engine.*method)(of_root, run);
    };
    if (const auto result = call()) {
      entries[i] = messages::encode(*result);
      entries[i].removeMember("stats");  // shared by all roots
    } else {
      entries[i]["error"] = to_json(result.error(), error_data(run));
    }
    entries[i]["root"] = roots[i];
    request.progress->report(roots[i], ++done, roots.size());
  });
  // Past the deadline each root that did not finish has that error, and the others keep their results.
  MODLOCK_TRY((Context{.stop = request.stop}.check()));
  shorten(entries, request);
  messages::WorkspaceResult result{.stats = all.stats()};
  for (Json::Value& entry : entries) {
    result.results.push_back({std::move(entry)});
  }
  return messages::encode(result);
}

template <typename Params, typename Output>
Handler workspace_handler(const Engine& engine, Result<Output> (Engine::*method)(const Params&, Run&) const) {
  return [&engine, method](const Json::Value& params, RequestContext& request) -> Result<Json::Value> {
    return handle_workspace(engine, method, params, request);
  };
}

Result<Json::Value> initialize(Engine& engine, const std::vector<std::string>& methods, const ServerLimits& limits,
                               const Json::Value& params, RequestContext& request) {
  MODLOCK_TRY(auto decoded, messages::decode_initialize(params, request.unknown_params));
  MODLOCK_TRY(engine.configure(decoded));
  MODLOCK_TRY(engine.open(*request.log));
  const ClientProgram implementation = find_client(engine.options());
  return messages::encode(messages::InitializeResult{.server_version = std::string(kVersion),
                                                     .methods = methods,
                                                     .backends = engine.network(Run())->names(),
                                                     .max_in_flight = limits.max_in_flight,
                                                     .max_message_bytes = limits.max_message_bytes,
                                                     .implementation = std::string(to_string(implementation.tool)),
                                                     .implementation_version = implementation.version,
                                                     .implementation_from = implementation.from});
}

}  // namespace

RunOptions run_options(const RequestContext& request) {
  return {.stop = request.stop, .deadline = request.deadline, .log = request.log, .progress = request.progress};
}

Json::Value error_data(const Run& run) {
  Json::Value data;
  if (!run.changes.empty()) {
    data["changes"] = messages::encode(run.changes);
  }
  return data;
}

MethodTable make_method_table(Engine& engine, const ServerLimits& limits) {
  MethodTable table;
  table.add("config/inspect", handler(engine, &Engine::inspect));
  table.add("versions/list", handler(engine, &Engine::versions));
  table.add("lock/plan", handler(engine, &Engine::plan));
  table.add("lock/explain", handler(engine, &Engine::explain));
  table.add("lock/find", handler(engine, &Engine::find));
  table.add("lock/verify", handler(engine, &Engine::verify));
  table.add("modules/install", handler(engine, &Engine::install));
  table.add("cache/info", [&engine](const Json::Value&, RequestContext&) -> Result<Json::Value> {
    auto info = engine.cache_info();
    return info ? Result<Json::Value>(messages::encode(*info)) : fail(std::move(info.error()));
  });
  table.add("cache/prune", handler(engine, &Engine::prune_cache));
  table.add("update/diff", handler(engine, &Engine::diff));
  table.add("update/lookup", handler(engine, &Engine::lookup));
  table.add("update/plan", handler(engine, &Engine::update));
  table.add("workspace/plan", workspace_handler(engine, &Engine::plan));
  table.add("workspace/verify", workspace_handler(engine, &Engine::verify));
  table.add("workspace/install", workspace_handler(engine, &Engine::install));
  table.add("workspace/roots", handler(engine, &find_roots));
  table.add("rpc.discover", [](const Json::Value&, RequestContext&) { return messages::openrpc_document(); });
  std::vector<std::string> methods = table.names();
  for (std::string& name : Dispatcher::own_methods()) {
    methods.push_back(std::move(name));
  }
  methods.emplace_back("initialize");
  std::ranges::sort(methods);
  methods.erase(std::unique(methods.begin(), methods.end()), methods.end());
  table.add("initialize", [&engine, methods, limits](const Json::Value& params, RequestContext& request) {
    return initialize(engine, methods, limits, params, request);
  });
  return table;
}

}  // namespace modlock
