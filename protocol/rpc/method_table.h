#pragma once

#include <json/value.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/log.h"
#include "protocol/base/result.h"

namespace modlock {

// The context of one request: input besides its params, and output besides its result. The referenced objects outlive
// the call.
struct RequestContext {
  std::stop_token stop = {};
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  Log* log = &null_log();
  Progress* progress = &null_progress();
  std::size_t max_result_bytes = 0;  // the longest result that the host accepts; 0: no limit

  // Set by the handler:
  std::vector<std::string> unknown_params = {};  // ObjectReader::unknown; listed in `_meta` of the result
  Json::Value error_data = {};                   // an object whose members are added to `error.data` on failure
  Diagnostics diagnostics = {};                  // copy of the result's diagnostics, for hosts in the same process
};

// Turns params (always an object) into a result. May block, but should return soon after `stop` or the deadline.
using Handler = std::function<Result<Json::Value>(const Json::Value& params, RequestContext& context)>;

// Maps names to handlers. Built once, then read from several threads.
class MethodTable {
 public:
  // Replaces a handler with the same name.
  void add(std::string name, Handler handler);
  bool has(std::string_view name) const;
  std::vector<std::string> names() const;  // sorted

  // Calls a method in this thread, for workers and for hosts in the same process. Adds `_meta.unknownParams` to a
  // result that is an object. Errors: METHOD_NOT_FOUND, INTERNAL if the handler threw, and the handler's own.
  Result<Json::Value> call(std::string_view name, const Json::Value& params, RequestContext& context) const;

 private:
  std::map<std::string, Handler, std::less<>> handlers_;
};

}  // namespace modlock
