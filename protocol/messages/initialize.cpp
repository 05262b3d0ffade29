#include "protocol/messages/initialize.h"

#include <algorithm>

namespace modlock::messages {

Result<InitializeParams> decode_initialize(const Json::Value& params, std::vector<std::string>& unknown) {
  auto decoded = decode_params<InitializeParams>(params, unknown);
  if (!decoded) {
    return decoded;
  }
  const auto& offered = decoded->protocol_versions;
  if (std::find(offered.begin(), offered.end(), kProtocolVersion) == offered.end()) {
    return fail(Code::invalid_params, "initialize: none of params.protocolVersions is spoken here, only \"1.0\"",
                "offer \"1.0\" in protocolVersions");
  }
  return decoded;
}

}  // namespace modlock::messages
