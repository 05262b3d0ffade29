#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "tests/support/fake_git_abilities.h"

namespace modlock::test {

// Sources of one kind in memory: packages with tags (a registry: versions; an archive: the one tag "") and, for git,
// branches, each with the files of its tree. Ids are made as the kind makes them. Counts what it is asked.
class FakeBackend final : public BackendCore, public FakeGitAbilities {
 public:
  using Files = std::map<std::string, std::string>;

  explicit FakeBackend(SourceKind kind = SourceKind::git) : kind_(kind) {}

  // `package` is a package identity such as "git::https://example.com/vpc.git"; the id is made of the arguments.
  std::string add_tag(const std::string& package, const std::string& tag, const Files& files, std::string id = {});
  std::string add_branch(const std::string& package, const std::string& branch, const Files& files,
                         std::string id = {});
  // A tag whose tree is one symbolic link.
  void add_link(const std::string& package, const std::string& tag, const std::string& name,
                const std::filesystem::path& target);
  // Where a registry says that the module of this id lies.
  void set_subdir(const std::string& id, const std::string& subdir) { subdirs_[id] = subdir; }
  void remove_package(const std::string& package) { packages_.erase(package); }

  bool serves(const Source& source) const override { return source.kind == kind_; }
  bool trusts_dates(const Source& source) const override { return source.host == trusted_dates; }
  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override;
  Result<Pin> pin(const SourceAddress& source, const Context& context) override;
  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const std::filesystem::path& parent, const Context& context) override;
  std::string hash_scheme() const override;
  GitAbilities* git() override { return this; }
  Result<void> check_redirected(const SourceAddress& source, const Context& context) override;
  std::optional<CommitDistance> commit_distance(const SourceAddress& source, const std::string& older,
                                                const std::string& newer, const Context& context) override;

  std::string trusted_dates;  // the host whose publication dates are trusted
  std::map<std::string, std::chrono::system_clock::time_point> published;  // by tag
  std::map<std::string, std::string> deprecated;                           // the reason, by tag
  std::map<std::string, std::string> addresses;                            // FetchedTree::package, by id
  bool is_local = false;                                                   // no server may redirect to it
  int listings = 0;
  int pins = 0;
  std::vector<std::string> fetched;                                         // ids, in order
  std::set<std::string> fetched_urls;                                       // SourceAddress::package_url
  std::map<std::string, std::string> repacked;                              // requested id -> what comes in its place
  std::map<std::pair<std::string, std::string>, CommitDistance> distances;  // by older and newer commit

 private:
  struct PackageData {
    std::map<std::string, std::string> references;  // "refs/tags/v1.0.0" -> id
    std::map<std::string, Files> trees;             // by id
  };
  std::string add(const std::string& package, const std::string& reference, const Files& files, std::string id);
  Result<FetchedTree> fetch_one(const PackageData& package, const FetchRequest& request,
                                const std::filesystem::path& parent);
  std::string make_id(const std::string& text) const;
  std::string tag_name(const std::string& tag) const;

  SourceKind kind_;
  std::map<std::string, std::string> subdirs_;
  std::map<std::string, std::pair<std::string, std::filesystem::path>> links_;  // by id
  std::map<std::string, PackageData> packages_;
  std::mutex mutex_;
};

// A core for an engine, which passes every call on to `backend` while there is a network, and is OFFLINE_MISS without.
// The backend outlives it.
std::unique_ptr<BackendCore> make_core_of(FakeBackend& backend);

}  // namespace modlock::test
