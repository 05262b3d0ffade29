#include "tests/support/fake_backend.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "backends/base/digest.h"

namespace modlock::test {

namespace fs = std::filesystem;

std::string FakeBackend::add_tag(const std::string& package, const std::string& tag, const Files& files,
                                 std::string id) {
  return add(package, tag_name(tag), files, std::move(id));
}

std::string FakeBackend::add_branch(const std::string& package, const std::string& branch, const Files& files,
                                    std::string id) {
  return add(package, "refs/heads/" + branch, files, std::move(id));
}

void FakeBackend::add_link(const std::string& package, const std::string& tag, const std::string& name,
                           const std::filesystem::path& target) {
  links_[add_tag(package, tag, {})] = {name, target};
}

std::string FakeBackend::add(const std::string& package, const std::string& reference, const Files& files,
                             std::string id) {
  if (id.empty()) {
    std::string text = package + reference;
    for (const auto& [name, content] : files) {
      text += name + content;
    }
    id = make_id(text);
  }
  packages_[package].references[reference] = id;
  packages_[package].trees[id] = files;
  return id;
}

std::string FakeBackend::tag_name(const std::string& tag) const {
  return kind_ == SourceKind::git ? "refs/tags/" + tag : tag;
}

std::string FakeBackend::make_id(const std::string& text) const {
  const std::string hex = sha256_hex(text);
  switch (kind_) {
    case SourceKind::git:
      return hex.substr(0, 40);
    case SourceKind::oci:
      return "sha256:" + hex;
    case SourceKind::registry:
      return "git:" + hex.substr(0, 40);
    default:
      return "zh:" + hex;
  }
}

std::string FakeBackend::hash_scheme() const {
  return kind_ == SourceKind::git ? "git" : kind_ == SourceKind::oci ? "oci" : "";
}

Result<void> FakeBackend::check_redirected(const SourceAddress& source, const Context& /*context*/) {
  return is_local ? fail(Code::source_denied, source.source.identity() + " is on this machine") : Result<void>();
}

std::optional<CommitDistance> FakeBackend::commit_distance(const SourceAddress& /*source*/, const std::string& older,
                                                           const std::string& newer, const Context& /*context*/) {
  const auto found = distances.find({older, newer});
  return found == distances.end() ? std::nullopt : std::optional(found->second);
}

Result<Listing> FakeBackend::list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                           const Context& context) {
  const std::lock_guard lock(mutex_);
  ++listings;
  context.count_request();
  const auto package = packages_.find(source.source.package_identity());
  if (package == packages_.end()) {
    return fail(Code::not_found, "no such repository: " + source.source.package_identity());
  }
  Listing listing;
  for (const auto& [reference, id] : package->second.references) {
    if (kind_ == SourceKind::git && !reference.starts_with("refs/tags/")) {
      continue;
    }
    const std::string tag = kind_ == SourceKind::git ? reference.substr(10) : reference;
    std::string reason;
    if (auto version = parse_version_tag(tag, tag_prefix, &reason)) {
      listing.versions.push_back(
          {.version = *version, .tag = tag, .id = kind_ == SourceKind::registry ? "" : id, .ref = reference});
      if (const auto date = published.find(tag); date != published.end()) {
        listing.versions.back().published = date->second;
      }
      if (const auto reason_not = deprecated.find(tag); reason_not != deprecated.end()) {
        listing.versions.back().deprecated = reason_not->second;
      }
    } else {
      listing.skipped.push_back({tag, reason});
    }
  }
  std::stable_sort(listing.versions.begin(), listing.versions.end(),
                   [](const ListedVersion& a, const ListedVersion& b) { return a.version > b.version; });
  return listing;
}

Result<Pin> FakeBackend::pin(const SourceAddress& source, const Context& context) {
  const std::lock_guard lock(mutex_);
  ++pins;
  context.count_request();
  const auto package = packages_.find(source.source.package_identity());
  const std::string ref = source.source.query_value("ref").empty() ? "main" : source.source.query_value("ref");
  if (package != packages_.end()) {
    for (const std::string& name : {"refs/tags/" + ref, "refs/heads/" + ref}) {
      if (const auto found = package->second.references.find(name); found != package->second.references.end()) {
        return Pin{found->second, name};
      }
    }
  }
  return fail(Code::not_found, "no such reference: " + ref);
}

std::vector<Result<FetchedTree>> FakeBackend::fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                                    const fs::path& parent, const Context& context) {
  const std::lock_guard lock(mutex_);
  context.count_request();
  std::vector<Result<FetchedTree>> trees;
  const auto package = packages_.find(source.source.package_identity());
  fetched_urls.insert(source.package_url.reveal());
  for (const FetchRequest& request : requests) {
    trees.push_back(package == packages_.end() ? fail(Code::not_found, "no such repository")
                                               : fetch_one(package->second, request, parent));
  }
  return trees;
}

Result<FetchedTree> FakeBackend::fetch_one(const PackageData& package, const FetchRequest& request,
                                           const fs::path& parent) {
  std::string id = request.id;
  std::string ref;
  const std::string asked = kind_ == SourceKind::git && request.ref.empty() ? "main" : request.ref;
  for (const char* folder : {"", "refs/heads/", "refs/tags/"}) {
    const auto found = package.references.find(folder + asked);
    if (request.id.empty() && found != package.references.end()) {
      id = found->second;
      ref = found->first;
    }
  }
  if (const auto other = repacked.find(id); other != repacked.end()) {
    id = other->second;
  }
  const auto tree = package.trees.find(id);
  if (tree == package.trees.end()) {
    return fail(Code::not_found, "no such commit or reference: " + id + request.ref);
  }
  fetched.push_back(id);
  const fs::path directory = parent / std::to_string(fetched.size());
  for (const auto& [name, content] : tree->second) {
    fs::create_directories((directory / name).parent_path());
    std::ofstream(directory / name, std::ios::binary) << content;
  }
  if (const auto link = links_.find(id); link != links_.end()) {
    fs::create_directories(directory);
    fs::create_symlink(link->second.second, directory / link->second.first);
  }
  return FetchedTree{
      .id = id, .directory = directory, .warnings = {}, .ref = ref, .subdir = subdirs_[id], .package = addresses[id]};
}

namespace {

class ForwardingCore final : public BackendCore, public FakeGitAbilities {
 public:
  explicit ForwardingCore(FakeBackend& backend) : backend_(backend) {}

  bool serves(const Source& source) const override { return backend_.serves(source); }
  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override {
    return context.offline ? fail(miss(source)) : backend_.list_versions(source, tag_prefix, context);
  }
  Result<Pin> pin(const SourceAddress& source, const Context& context) override {
    return context.offline ? fail(miss(source)) : backend_.pin(source, context);
  }
  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const fs::path& parent, const Context& context) override {
    return context.offline ? std::vector<Result<FetchedTree>>(requests.size(), fail(miss(source)))
                           : backend_.fetch(source, requests, parent, context);
  }
  std::string hash_scheme() const override { return backend_.hash_scheme(); }
  GitAbilities* git() override { return this; }
  bool trusts_dates(const Source& source) const override { return backend_.trusts_dates(source); }
  std::optional<CommitDistance> commit_distance(const SourceAddress& source, const std::string& older,
                                                const std::string& newer, const Context& context) override {
    return backend_.commit_distance(source, older, newer, context);
  }
  Result<void> check_redirected(const SourceAddress& source, const Context& context) override {
    return backend_.check_redirected(source, context);
  }

 private:
  static Error miss(const SourceAddress& source) {
    return {.code = Code::offline_miss, .message = "offline: " + source.source.package_identity() + " is not cached"};
  }

  FakeBackend& backend_;
};

}  // namespace

std::unique_ptr<BackendCore> make_core_of(FakeBackend& backend) {
  return std::make_unique<ForwardingCore>(backend);
}

}  // namespace modlock::test
