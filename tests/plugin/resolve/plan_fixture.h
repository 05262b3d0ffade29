#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backends/base/collections.h"
#include "plugin/resolve/plan.h"
#include "tests/support/fake_backend.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

inline constexpr const char* kVpc = "git::https://example.com/vpc.git";
inline constexpr const char* kNested = "git::https://example.com/nested.git";
inline constexpr const char* kRegistry = "registry.opentofu.org/modules/acme/vpc/aws";
// Commits.
inline const std::string kCommitA(40, 'a');
inline const std::string kCommitB(40, 'b');
inline const std::string kCommitC(40, 'c');

// What is open besides the request.
struct KnownFiles : PlanFiles {
  const DroppedBlocks& dropped() const override { return lost; }
  const std::vector<ModuleLock>& earlier_entries() const override { return earlier; }
  std::optional<LocalPackage> find_package(const ModuleNode& node, std::string_view h1) const override {
    return installed ? installed(node, h1) : std::nullopt;
  }
  std::optional<InstalledRecord> find_record(const ModuleNode& node) const override {
    const InstalledRecord* found = find_in(records, node.key);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }

  DroppedBlocks lost;
  std::vector<ModuleLock> earlier;
  std::function<std::optional<LocalPackage>(const ModuleNode&, std::string_view h1)> installed;
  std::map<std::string, InstalledRecord> records;  // by key
};

// A root directory, a store and a fake source; plans against them.
struct PlanFixture {
  PlanFixture() {
    auto backend = std::make_unique<FakeBackend>();
    source = backend.get();
    backends.add(std::move(backend));
    request.walk.root = directory.path() / "root";
    request.walk.bounds = {request.walk.root};
    std::filesystem::create_directories(request.walk.root);
  }

  void write(const std::string& name, const std::string& text) { write_text(directory / ("root/" + name), text); }

  // A rule as `.tofu-modlock.hcl` beside the root has it.
  void constrain(const std::string& key, const std::string& version) {
    request.walk.settings.modules[key].version = SourceText{version, {".tofu-modlock.hcl", std::nullopt}};
  }

  Result<Plan> plan() {
    auto store = Store::open(directory.path() / "cache");
    stats.requests = 0;
    Context context{.stats = &stats};
    SourceFetcher fetcher(backends, *store, context, std::nullopt, now);
    return make_plan(request, fetcher, context, files);
  }

  // Plans and takes the result as the new lock.
  Plan lock() {
    auto planned = plan();
    if (!planned) {
      throw std::runtime_error(planned.error().message);
    }
    request.lock.modules = planned->modules;
    request.lock.exists = true;
    return std::move(*planned);
  }

  TemporaryDirectory directory;
  BackendSet backends;
  FakeBackend* source = nullptr;
  Stats stats;
  SourceFetcher::Time now = std::chrono::system_clock::now();
  PlanRequest request;
  KnownFiles files;
};

// "module.vpc added: not locked before", one a line.
inline std::string summary(const Plan& plan) {
  std::string text;
  for (const Change& change : plan.changes) {
    text += change.subject + " " + std::string(to_string(change.action)) + ": " + change.reason + "\n";
  }
  return text;
}

inline std::string call(const std::string& name, const std::string& source, const std::string& version = {}) {
  return "module \"" + name + "\" {\n  source = \"" + source + "\"\n" +
         (version.empty() ? "" : "  version = \"" + version + "\"\n") + "}\n";
}

inline FakeBackend::Files calling(const std::string& name, const std::string& source) {
  return {{"main.tf", call(name, source)}};
}

inline const FakeBackend::Files kLeaf = {{"main.tf", "output \"x\" {\n  value = 1\n}\n"}};

}  // namespace modlock::test
