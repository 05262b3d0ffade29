#pragma once

#include <json/value.h>

#include <chrono>
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

// What one request brings besides its params, and what its handler may say besides its result. The referenced objects
// outlive the call.
struct RequestContext {
  std::stop_token stop = {};
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  Log* log = &null_log();
  Progress* progress = &null_progress();

  // Set by the handler:
  std::vector<std::string> unknown_params = {};  // ObjectReader::unknown; listed in `_meta` of the result
  Json::Value error_data = {};                   // an object whose members are added to `error.data` on failure
  Diagnostics diagnostics = {};                  // those of the result, for hosts in the same process
};

// Turns params (always an object) into a result. May block; should return soon once `stop` or the deadline says so.
using Handler = std::function<Result<Json::Value>(const Json::Value& params, RequestContext& context)>;

// Names and their handlers. Built once, then read from several threads.
class MethodTable {
 public:
  // Replaces a handler of the same name.
  void add(std::string name, Handler handler);
  bool has(std::string_view name) const;
  std::vector<std::string> names() const;  // sorted

  // Calls a method in this thread: for workers, and for hosts in the same process. Adds `_meta.unknownParams` to a
  // result that is an object. Errors: METHOD_NOT_FOUND, INTERNAL where the handler threw, and the handler's own.
  Result<Json::Value> call(std::string_view name, const Json::Value& params, RequestContext& context) const;

 private:
  std::map<std::string, Handler, std::less<>> handlers_;
};

}  // namespace modlock
