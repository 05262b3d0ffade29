#include "backends/git/reachability.h"

#include <fmt/format.h>

#include "backends/crypto/digest.h"
#include "backends/files/files.h"
#include "backends/git/git_command.h"

namespace modlock::git {
namespace {

// A repository of commits that lives as long as the question. It stands apart from the cached one, whose history a
// shallow fetch has cut and whose trees must be whole.
class History {
 public:
  explicit History(const Repository& repository) : path_(repository.path() / ("history-" + random_hex(8))) {}
  ~History() { (void)remove_tree(path_); }
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  Result<void> fetch(const Remote& remote, const std::string& since, const Context& context) const {
    if (auto made = make_bare_repository(path_, remote.address().display, context); !made) {
      return made;
    }
    std::vector<std::string> options = {"--filter=tree:0"};
    if (!since.empty()) {
      options.push_back("--shallow-since=" + since);
    }
    auto fetched = remote.fetch(path_, options, {"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"});
    return fetched ? Result<void>() : fail(std::move(fetched.error().error));
  }

  Result<bool> leads_to(const Remote& remote, const std::string& commit, const Context& context) const {
    auto objects = ObjectReader::open(path_);
    if (!objects) {
      return fail(std::move(objects.error()));
    }
    if (!objects->has_object(commit)) {
      return false;
    }
    auto found = run_local(local_command(path_, {"for-each-ref", "--count=1", "--contains=" + commit}),
                           "read the history of", remote.address().display, context);
    if (!found) {
      return fail(std::move(found.error()));
    }
    return !found->output.empty();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

Result<bool> is_reachable(const Remote& remote, const Repository& repository, const std::string& commit,
                          const Context& context) {
  const auto made_at = repository.objects().commit_time(commit);
  if (!made_at) {
    return fail(made_at.error());
  }
  {
    // What follows a commit is younger, where clocks were right: most of the history need not travel.
    const History recent(repository);
    const auto since = fmt::format("@{} +0000", made_at->time_since_epoch().count() - 1);
    if (recent.fetch(remote, since, context)) {
      auto found = recent.leads_to(remote, commit, context);
      if (!found || *found) {
        return found;
      }
    }
  }
  const History whole(repository);
  if (auto fetched = whole.fetch(remote, "", context); !fetched) {
    return fail(std::move(fetched.error()));
  }
  return whole.leads_to(remote, commit, context);
}

}  // namespace modlock::git
