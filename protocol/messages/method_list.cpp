#include "protocol/messages/method_list.h"

#include <algorithm>
#include <utility>

#include "protocol/base/json.h"
#include "protocol/messages/cache.h"
#include "protocol/messages/config_inspect.h"
#include "protocol/messages/initialize.h"
#include "protocol/messages/lock_explain.h"
#include "protocol/messages/lock_plan.h"
#include "protocol/messages/lock_verify.h"
#include "protocol/messages/modules_install.h"
#include "protocol/messages/session.h"
#include "protocol/messages/update_lookup.h"
#include "protocol/messages/update_plan.h"
#include "protocol/messages/versions_list.h"
#include "protocol/messages/workspace.h"

namespace modlock::messages {
namespace {

using Kind = MethodSchema::Kind;

// Writes methods into a list.
class MethodList {
 public:
  explicit MethodList(SchemaTypes& types) : types_(types) {}
  std::vector<MethodSchema> take() && { return std::move(methods_); }

  // A method that is answered at once.
  template <typename Params, typename Result>
  void answered_here(const char* name, const char* summary, const char* example = "") {
    add<Params>(name, summary, Kind::request, example);
    methods_.back().result = Describe::value_schema<Result>(types_, {});
    if (methods_.back().result.isMember("properties")) {
      methods_.back().result["properties"]["_meta"] = Describe::value_schema<ResultMeta>(types_, {});
    }
  }
  // A method that waits for a worker, and so takes `_meta`.
  template <typename Params, typename Result>
  void method(const char* name, const char* summary, const char* example = "") {
    answered_here<Params, Result>(name, summary, example);
    Describe meta(types_);
    meta.optional("_meta", RequestMeta{}, "a token for progress, a deadline");
    methods_.back().params.push_back(meta.list().front());
    methods_.back().params.back().shared = true;
  }
  // `single` for many roots: its params but `root`, and its result, without `stats`, for each root that has one.
  void over_roots(const char* name, const char* single, const char* summary, const char* example) {
    method<WorkspaceParams, WorkspaceResult>(name, summary, example);
    MethodSchema& many = methods_.back();
    const auto one = std::find_if(methods_.begin(), methods_.end(), [&](const auto& of) { return of.name == single; });
    for (Describe::Field field : one->params) {
      if (field.name != "root" && field.name != "_meta") {
        field.shared = true;
        many.params.insert(many.params.end() - 1, std::move(field));
      }
    }
    Json::Value& entry = many.result["properties"]["results"]["items"]["properties"];
    for (const std::string& member : one->result["properties"].getMemberNames()) {
      if (member != "stats" && member != "_meta") {
        entry[member] = one->result["properties"][member];
      }
    }
  }
  template <typename Params>
  void notification(const char* name, const char* summary, Kind kind) {
    add<Params>(name, summary, kind, "");
  }

 private:
  template <typename Params>
  void add(const char* name, const char* summary, Kind kind, const char* example) {
    Describe params(types_);
    if constexpr (std::is_same_v<Params, RootParams>) {
      params.include(Params{});
    } else {
      fields(params, Params{});
    }
    methods_.push_back({name, summary, kind, params.list(), {}, parse_json(example).value_or(Json::Value())});
  }

  SchemaTypes& types_;
  std::vector<MethodSchema> methods_;
};

}  // namespace

std::vector<MethodSchema> list_methods(SchemaTypes& types) {
  MethodList list(types);
  list.answered_here<InitializeParams, InitializeResult>(
      "initialize", "Begins a session and settles what holds for it.",
      R"({"protocolVersions":["1.0"],"clientInfo":{"name":"demo","version":"1"}})");
  list.notification<Nothing>("initialized", "The host has read the result of initialize.", Kind::notification);
  list.answered_here<Nothing, Nothing>("ping", "Answers at once, also before initialize.", "{}");
  list.answered_here<Nothing, AnyObject>("rpc.discover", "This document. Also before initialize.", "{}");
  list.notification<CancelParams>("$/cancelRequest",
                                  "Asks a request to stop. It is still answered, as a rule with REQUEST_CANCELLED.",
                                  Kind::notification);
  list.answered_here<LogLevelParams, Nothing>(
      "log/setLevel", "Sets what is logged from now on. Also taken as a notification.", R"({"level":"debug"})");
  list.answered_here<Nothing, Null>("shutdown", "Ends the work: what was sent is finished, nothing more is taken.");
  list.notification<Nothing>("exit", "Ends the process: with 0 after shutdown, else with 1.", Kind::notification);
  list.notification<ProgressParams>("$/progress", "How far a request with a progress token is.", Kind::told);
  list.notification<LogMessage>("log/message", "A line of the log, for hosts with the capability logMessage.",
                                Kind::told);

  list.method<RootParams, ConfigInspectResult>(
      "config/inspect",
      "What the files of a root module say: module calls, providers, releases of the client. Never uses the network: "
      "what is below a remote module appears where its package is installed or in the cache.",
      R"({"root":"/srv/infra"})");
  list.method<VersionsListParams, VersionsListResult>(
      "versions/list", "The versions that a module source offers.",
      R"({"source":"git::https://example.com/network.git","constraint":"~> 1.2"})");
  list.method<LockPlanParams, LockPlanResult>(
      "lock/plan",
      "What the lock should hold, as edits that the host makes. A call that cannot be resolved means no edits and its "
      "error; a kind of source that nobody serves stays as it is, with a warning.",
      R"({"root":"/srv/infra","mode":"upgrade","targets":["module.network"]})");
  list.method<LockExplainParams, LockExplainResult>(
      "lock/explain", "Why a module or a provider has its version: who constrains it where, and what that leaves.",
      R"({"root":"/srv/infra","subject":"module.network.label"})");
  list.method<LockVerifyParams, LockVerifyResult>(
      "lock/verify", "Compares what is installed, and on request what sources give, with the lock.",
      R"({"root":"/srv/infra"})");
  list.method<ModulesInstallParams, ModulesInstallResult>(
      "modules/install",
      "Puts locked packages where a stock client uses them. The only method that writes: below the data directory, and "
      "override files where asked. FROZEN where a call has no entry that counts.",
      R"({"root":"/srv/infra","offline":true})");
  list.method<UpdateLookupParams, UpdateLookupResult>(
      "update/lookup",
      "What is newer than what is in use. The age of releases is not looked at; each source is asked once.",
      R"({"root":"/srv/infra"})");
  list.method<UpdatePlanParams, LockPlanResult>(
      "update/plan",
      "What configuration and lock should hold for versions that are asked for, as edits that the host makes; those of "
      "the configuration come first. What nobody asks for stays locked as it is.",
      R"({"root":"/srv/infra","updates":[{"subject":"module.network","newVersion":"2.0.0"}]})");
  list.over_roots("workspace/plan", "lock/plan",
                  "lock/plan for many roots, eight at a time, each source asked once for all of them.",
                  R"({"roots":["/srv/a","/srv/b"],"mode":"upgrade"})");
  list.over_roots("workspace/verify", "lock/verify", "lock/verify for many roots, in the same way.",
                  R"({"roots":["/srv/a","/srv/b"]})");
  list.over_roots("workspace/install", "modules/install",
                  "modules/install for many roots, in the same way. It writes as that does.",
                  R"({"roots":["/srv/a","/srv/b"]})");
  list.method<Nothing, CacheInfoResult>("cache/info", "Where the cache is and how much it holds.", "{}");
  list.method<CachePruneParams, CachePruneResult>(
      "cache/prune",
      "Removes from the cache. Without limits only what was left unfinished for a day goes, and records that lead to "
      "nothing; what was used within the last hour always stays.",
      R"({"maxAge":"720h"})");
  return std::move(list).take();
}

}  // namespace modlock::messages
