#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace modlock::test {

// A git-like source in memory: repositories of tags and branches, each with the files of its tree. Counts what it is
// asked.
class FakeBackend final : public Backend {
 public:
  using Files = std::map<std::string, std::string>;

  // `package` is a package identity such as "git::https://example.com/vpc.git"; the id is made of the arguments.
  std::string add_tag(const std::string& package, const std::string& tag, const Files& files, std::string id = {});
  std::string add_branch(const std::string& package, const std::string& branch, const Files& files,
                         std::string id = {});
  void remove_package(const std::string& package) { packages_.erase(package); }

  bool serves(const Source& source) const override { return source.kind == SourceKind::git; }
  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override;
  Result<Pin> pin(const SourceAddress& source, const Context& context) override;
  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchWish> wishes,
                                         const std::filesystem::path& parent, const Context& context) override;
  std::string id_hash(std::string_view id) const override { return "git:" + std::string(id); }

  int listings = 0;
  int pins = 0;
  std::vector<std::string> fetched;  // ids, in order

 private:
  struct PackageData {
    std::map<std::string, std::string> references;  // "refs/tags/v1.0.0" -> id
    std::map<std::string, Files> trees;             // by id
  };
  std::string add(const std::string& package, const std::string& reference, const Files& files, std::string id);
  Result<FetchedTree> fetch_one(const PackageData& package, const FetchWish& wish, const std::filesystem::path& parent);

  std::map<std::string, PackageData> packages_;
  std::mutex mutex_;
};

}  // namespace modlock::test
