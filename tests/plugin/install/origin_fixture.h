#pragma once

#include <boost/test/unit_test.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugin/install/origin_check.h"
#include "tests/plugin/resolve/plan_fixture.h"
#include "tests/support/fake_git_abilities.h"

namespace modlock::test {

inline constexpr const char* kOld = "1111111111111111111111111111111111111111";
inline constexpr const char* kNew = "2222222222222222222222222222222222222222";
inline constexpr const char* kLockedH1 = "h1:pJD3aUk3bGbSs6MiKa2SE8/BRpB8ivYT3qnv2XDZ2GU=";  // of an empty main.tf

// Answers as the fake does, knows descents, and may be out of reach.
class Origins final : public BackendCore, public FakeGitAbilities {
 public:
  explicit Origins(FakeBackend& fake) : fake_(fake) {}

  bool serves(const Source& source) const override { return fake_.serves(source); }
  Result<Listing> list_versions(const SourceAddress& source, std::string_view prefix, const Context& context) override {
    Result<Listing> listing = out_of_reach ? unreachable() : fake_.list_versions(source, prefix, context);
    for (std::size_t i = 0; listing && !digests.empty() && i < listing->versions.size(); ++i) {
      listing->versions[i].id.clear();
    }
    return listing;
  }
  Result<Pin> pin(const SourceAddress& source, const Context& context) override {
    const auto digest = digests.find(source.source.query_value("tag"));
    if (digest != digests.end()) {
      return Pin{digest->second, digest->first};
    }
    return out_of_reach ? unreachable() : fake_.pin(source, context);
  }
  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const std::filesystem::path& parent, const Context& context) override {
    return fake_.fetch(source, requests, parent, context);
  }
  std::string hash_scheme() const override { return fake_.hash_scheme(); }
  GitAbilities* git() override { return this; }
  std::optional<CommitDistance> commit_distance(const SourceAddress& /*source*/, const std::string& /*older*/,
                                                const std::string& /*newer*/, const Context& /*context*/) override {
    return known_descent;
  }

  bool out_of_reach = false;
  std::map<std::string, std::string> digests = {};  // by tag: of a registry that lists tags without them
  std::optional<CommitDistance> known_descent = {};

 private:
  static tl::unexpected<Error> unreachable() { return fail(Code::unreachable, "the host cannot be reached"); }

  FakeBackend& fake_;
};

struct OriginFixture {
  explicit OriginFixture(SourceKind kind = SourceKind::git) : fake(kind) {
    auto made = std::make_unique<Origins>(fake);
    origins = made.get();
    backends.add(std::move(made));
  }

  // Of a call "m" of this source and constraint, whose entry has this version and these hashes.
  OriginFindings ask(const std::string& source, const std::string& constraint,
                     const std::optional<std::string>& version, const std::vector<std::string>& hashes) {
    return ask({{"m", source}}, constraint, version, hashes);
  }

  OriginFindings ask(const std::map<std::string, std::string>& sources, const std::string& constraint,
                     const std::optional<std::string>& version, const std::vector<std::string>& hashes) {
    std::vector<ModuleNode> nodes;
    std::vector<ModuleLock> locks;
    for (const auto& [key, source] : sources) {
      ModuleNode& node = nodes.emplace_back();
      node.key = key;
      node.address = parse_source(source).value();
      node.call.source.location = {"main.tf", std::nullopt};
      if (!constraint.empty()) {
        node.constraints.push_back({ModuleConstraint::parse(constraint).value(), key, {"main.tf", std::nullopt}});
      }
      locks.push_back({.key = key, .version = version, .source = node.address.source.identity(), .hashes = hashes});
    }
    std::vector<LockedCall> calls;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      calls.push_back({&nodes[i], &locks[i]});
    }
    const Store store = Store::open(directory / "cache").value();
    const Context context{};
    for (const LockedCall& call : calls) {
      note_locked(store, call, context);
    }
    SourceFetcher origin(backends, store, context);
    return check_origins(calls, false, origin, context);
  }

  // As if it had been locked here.
  void note_locked(const Store& store, const LockedCall& call, const Context& context) {
    const std::string id = backends.find(call.node->address.source)->id_of(call.lock->hashes);
    const bool is_cold = is_store_cold || call.node->address.source.kind == SourceKind::registry ||
                         call.node->address.source.kind == SourceKind::archive;
    if (!is_cold) {
      const std::filesystem::path tree = store.make_temporary().value() / "tree";
      write_text(tree / "main.tf", "");
      Package package =
          store.admit(call.node->address.source, {.id = id, .directory = tree, .warnings = {}}, context).value();
      BOOST_REQUIRE(package.h1 == kLockedH1);
    }
  }

  bool is_store_cold = false;
  TemporaryDirectory directory;
  FakeBackend fake;
  Origins* origins = nullptr;
  BackendSet backends;
};

inline std::string text(const OriginFindings& findings) {
  std::string out;
  for (const auto& [key, verdict] : findings.verdicts) {
    out += std::string(to_string(verdict.kind)) + ": " + verdict.detail + "\n";
  }
  for (const Diagnostic& diagnostic : findings.diagnostics) {
    out += std::string(to_string(diagnostic.severity)) + ": " + diagnostic.what.message + "\n";
  }
  return out;
}

}  // namespace modlock::test
