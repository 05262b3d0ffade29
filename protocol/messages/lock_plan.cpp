#include "protocol/messages/lock_plan.h"

#include "protocol/messages/describe.h"

namespace modlock::messages {

Json::Value schema_of(const Include*) {
  return Describe::text_list_schema({"modules", "providers"});
}

void read_member(ObjectReader& in, const char* name, Include& include) {
  const auto kinds = in.strings(name);
  if (!kinds) {
    return;
  }
  include = {.modules = false, .providers = false};
  for (const std::string& kind : *kinds) {
    include.modules = include.modules || kind == "modules";
    include.providers = include.providers || kind == "providers";
    if (kind != "modules" && kind != "providers") {
      in.reject(name, "expected \"modules\" or \"providers\"");
    }
  }
}

}  // namespace modlock::messages
