#pragma once

#include "backends/backend.h"

namespace modlock::test {

// The abilities of git for a core that needs only some of them.
class FakeGitAbilities : public GitAbilities {
 public:
  std::optional<CommitDistance> commit_distance(const SourceAddress& /*source*/, const std::string& /*older*/,
                                                const std::string& /*newer*/, const Context& /*context*/) override {
    return std::nullopt;
  }
  Result<std::filesystem::path> repository_with(const SourceAddress& /*source*/,
                                                std::span<const FetchRequest> /*requests*/,
                                                const Context& /*context*/) override {
    return fail(Code::source_unsupported, "there is no git repository");
  }
  Result<std::string> verify_signature(const SourceAddress& /*source*/, const FetchRequest& /*request*/,
                                       const SignatureDemand& /*demand*/, const Context& /*context*/) override {
    return fail(Code::signature_invalid, "there are no signatures");
  }
  Result<void> check_redirected(const SourceAddress& /*source*/, const Context& /*context*/) override { return {}; }
};

}  // namespace modlock::test
