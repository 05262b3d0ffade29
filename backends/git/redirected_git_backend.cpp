#include "backends/git/redirected_git_backend.h"

#include <utility>

#include "backends/git/file_transport.h"

namespace modlock {
namespace {

using namespace git;

class RedirectedGitBackend final : public Backend {
 public:
  explicit RedirectedGitBackend(std::shared_ptr<Backend> git) : git_(std::move(git)) {}

  bool serves(const Source& source) const override { return git_->serves(source); }

  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override {
    auto allowed = check(source, context);
    return allowed ? git_->list_versions(source, tag_prefix, context) : fail(std::move(allowed.error()));
  }

  Result<Pin> pin(const SourceAddress& source, const Context& context) override {
    auto allowed = check(source, context);
    return allowed ? git_->pin(source, context) : fail(std::move(allowed.error()));
  }

  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const std::filesystem::path& parent, const Context& context) override {
    auto allowed = check(source, context);
    return allowed ? git_->fetch(source, requests, parent, context)
                   : std::vector<Result<FetchedTree>>(requests.size(), fail(allowed.error()));
  }

  std::optional<CommitDistance> descent(const SourceAddress& source, const std::string& older, const std::string& newer,
                                        const Context& context) override {
    return check(source, context) ? git_->descent(source, older, newer, context) : std::nullopt;
  }

  std::string id_hash(std::string_view id) const override { return git_->id_hash(id); }
  std::string id_of(std::span<const std::string> hashes) const override { return git_->id_of(hashes); }

 private:
  static Result<void> check(const SourceAddress& source, const Context& context) {
    const auto address = make_remote_address(source);
    return address ? check_file_transport(*address, "repository", "where no server may lead", context)
                   : fail(address.error());
  }

  const std::shared_ptr<Backend> git_;
};

}  // namespace

std::unique_ptr<Backend> make_redirected_git_backend(std::shared_ptr<Backend> git) {
  return std::make_unique<RedirectedGitBackend>(std::move(git));
}

}  // namespace modlock
