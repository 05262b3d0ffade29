#include "plugin/bundle/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "backends/address/scrub.h"
#include "backends/base/collections.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "backends/http/http_client.h"
#include "backends/remote/registry_store.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;
using remote::Blob;
using remote::BundledPackage;
using remote::BundledProvider;
using remote::Closure;
using remote::Layout;
using remote::NamedClosure;
using remote::TaggedClosure;
using std::chrono::seconds;

constexpr std::size_t kRequests = 64;                                // mostly waits for a registry
constexpr seconds kSmallDownload{60};                                // of one blob
constexpr seconds kLongestTime{600};                                 // whatever sizes a registry claims
constexpr std::uint64_t kSlowestDownload = std::uint64_t{1} << 20U;  // bytes per second

class LayoutBundle final : public Bundle {
 public:
  LayoutBundle(std::shared_ptr<const fs::path> work, Layout layout, const Context& context)
      : work_(std::move(work)), layout_(std::move(layout)), context_(context) {}

  Result<std::vector<std::string>> tags() override { return mapped(layout_.listed(), &TaggedClosure::tag); }

  Result<std::optional<Closure>> closure(const std::string& tag) override {
    const auto& listed = layout_.listed();
    const auto one = std::ranges::find_if(listed, [&](const auto& known) { return known.tag == tag; });
    return one == listed.end() ? Result<std::optional<Closure>>(std::nullopt) : layout_.closure(*one);
  }

  // Only one closure is in memory at a time.
  Found find_packages(const std::set<BundledPackage>& entries) override {
    Found found;
    std::set<BundledPackage> missing = entries;
    for (const remote::TaggedClosure& one : layout_.listed()) {
      if (missing.empty()) {
        break;
      }
      const auto closure = context_.check().and_then([&] { return layout_.closure(one); });
      if (!closure) {
        found.errors.push_back(closure.error());
        break;
      }
      for (const BundledPackage& package : closure->packages) {
        if (missing.erase({.source = package.source, .origin = package.origin, .h1 = package.h1}) != 0) {
          found.packages.push_back(package);
        }
      }
    }
    return found;
  }

  Result<std::string> read(const Blob& manifest, const std::string& /*provider*/) const override {
    return layout_.read(manifest);
  }

  Result<fs::path> find(const Blob& blob, const std::string& /*provider*/,
                        const fs::path& /*download*/) const override {
    return layout_.find(blob);
  }

 private:
  const std::shared_ptr<const fs::path> work_;
  const Layout layout_;
  const Context& context_;
};

class RepositoryBundle final : public Bundle {
 public:
  RepositoryBundle(std::unique_ptr<oci::Registry> registry, oci::Repository repository, Context context,
                   std::optional<BundleTimes> times)
      : registry_(std::move(registry)),
        repository_(std::move(repository)),
        context_(std::move(context)),
        times_(times) {
    index_ = context_;
  }

  Result<std::vector<std::string>> tags() override {
    MODLOCK_TRY(const auto listing, registry_->tags(repository_, context_));
    std::set<std::string> tags(listing.names.begin(), listing.names.end());
    std::erase_if(tags, [](const std::string& tag) { return !tag.starts_with("closure-"); });
    return std::vector<std::string>(tags.begin(), tags.end());
  }

  Result<std::optional<Closure>> closure(const std::string& tag) override {
    if (times_) {
      index_ = limited(times_->index);
    }
    auto closure = within_index(remote::find_closure(*registry_, repository_, tag, index_));
    if (closure && *closure && times_) {
      allow_time((*closure)->packages);
    }
    return closure ? std::move(closure) : fail(with_plain_http_hint(std::move(closure.error()), repository_));
  }

  // Calls with the same package have the same tag, which is requested once.
  Found find_packages(const std::set<BundledPackage>& entries) override {
    std::map<std::string, std::vector<const BundledPackage*>> by_tag;
    for (const BundledPackage& entry : entries) {
      by_tag[entry.tag()].push_back(&entry);
    }
    const std::vector<std::pair<std::string, std::vector<const BundledPackage*>>> wanted(by_tag.begin(), by_tag.end());
    std::vector<Result<std::optional<BundledPackage>>> received(wanted.size());
    std::atomic<bool> is_down = false;
    parallel_for(wanted.size(), kRequests, [&](std::size_t i) {
      if (!is_down) {
        received[i] = within_index(remote::find_package(*registry_, repository_, *wanted[i].second.front(), index_));
        is_down = is_down || (!received[i] && exit_code(received[i].error()) == exit_code(Code::unreachable));
      }
    });
    Found found;
    std::size_t missing = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!received[i]) {
        found.errors.push_back(std::move(received[i].error()));
        continue;
      }
      missing += *received[i] ? 0 : wanted[i].second.size();
      for (const BundledPackage* entry : wanted[i].second) {
        if (*received[i]) {
          found.packages.push_back(**received[i]);
          found.packages.back().source = entry->source;
        }
      }
    }
    if (missing != 0 && !is_down) {
      found.errors.push_back({.code = Code::not_found,
                              .message = missing == entries.size()
                                             ? "it does not have the packages of this lock file"
                                             : fmt::format("it does not have {} of {} packages of this lock file",
                                                           missing, entries.size()),
                              .hint = "push them: " + tofu_modlock("bundle", "push", repository_.display)});
    }
    allow_time(found.packages);
    return found;
  }

  Result<std::string> read(const Blob& manifest, const std::string& provider) const override {
    MODLOCK_TRY(const auto repository, repository_of(provider));
    MODLOCK_TRY(auto found, registry_->manifest(repository, {.tag = {}, .digest = manifest.digest}, context_));
    return std::move(found.body);
  }

  Result<fs::path> find(const Blob& blob, const std::string& provider, const fs::path& download) const override {
    MODLOCK_TRY(const auto repository, repository_of(provider));
    const seconds time = times_ ? time_ : download_time(blob.size, kSmallDownload);
    MODLOCK_TRY(within(time, times_ ? "everything" : blob.digest,
                       remote::download(*registry_, repository, blob, download, times_ ? packages_ : limited(time)),
                       repository));
    return download;
  }

 private:
  Result<oci::Repository> repository_of(const std::string& provider) const {
    return provider.empty() ? repository_ : remote::provider_repository(repository_, provider);
  }

  // Starts the time for the packages that are known so far.
  void allow_time(const std::vector<BundledPackage>& packages) {
    for (const BundledPackage& package : packages) {
      bytes_ += package.layer.size + package.trees.size;
    }
    time_ = download_time(bytes_, times_.value_or(BundleTimes{}).packages);
    packages_ = limited(time_);
  }

  Context limited(seconds time) const {
    Context context = context_;
    const auto deadline = std::chrono::steady_clock::now() + time;
    context.deadline = context.deadline ? std::min(*context.deadline, deadline) : deadline;
    return context;
  }

  // Names the limit of the bundle if it is what ended the requests.
  template <typename T>
  Result<T> within(seconds time, std::string_view what, Result<T> result, const oci::Repository& repository) const {
    if (!result && result.error().code == Code::deadline_exceeded && context_.check()) {
      return fail(Code::timeout,
                  fmt::format("\"{}\" did not send {} within {} s", repository.display, what, time.count()));
    }
    return result;
  }
  template <typename T>
  Result<T> within_index(Result<T> result) const {
    return within(times_.value_or(BundleTimes{}).index, "everything", std::move(result), repository_);
  }

  const std::unique_ptr<oci::Registry> registry_;
  const oci::Repository repository_;
  Context context_;
  const std::optional<BundleTimes> times_;
  Context index_;  // of closures and tags
  std::uint64_t bytes_ = 0;
  seconds time_{};
  Context packages_;
};

}  // namespace

Result<std::unique_ptr<Bundle>> open_layout(const fs::path& path, const Store& store, const Context& context) {
  MODLOCK_TRY(auto work, make_work_directory(store));
  MODLOCK_TRY(auto layout, Layout::open(path, *work, context));
  return std::make_unique<LayoutBundle>(std::move(work), std::move(layout), context);
}

std::unique_ptr<Bundle> open_repository(std::unique_ptr<oci::Registry> registry, oci::Repository repository,
                                        Context context, std::optional<BundleTimes> times) {
  return std::make_unique<RepositoryBundle>(std::move(registry), std::move(repository), std::move(context), times);
}

seconds download_time(std::uint64_t bytes, seconds at_least) {
  return std::min(at_least + seconds(bytes / kSlowestDownload), kLongestTime);
}

Error with_plain_http_hint(Error error, const oci::Repository& repository) {
  if (error.reason == Reason::no_tls && !repository.plain_http && oci::over_plain_http(repository)) {
    error.hint = "if it uses plain http, add --plain-http or set TOFU_MODLOCK_REMOTE_PLAIN_HTTP=1";
  }
  return error;
}

Result<oci::Repository> bundle_repository(const std::string& address, bool plain_http) {
  constexpr std::string_view kOci = "oci://";
  const std::size_t at = address.find('@');
  const std::size_t path = address.find('/', address.starts_with(kOci) ? kOci.size() : 0);
  if (at != std::string::npos && (at < path || !std::string_view(address).substr(at).starts_with("@sha256:"))) {
    return fail(Code::source_invalid, "the address of a repository must not contain a user or password",
                "write oci://HOST/REPOSITORY, and log in: docker login HOST, or podman login HOST");
  }
  const auto source = parse_source(address);
  if (!source || source->source.kind != SourceKind::oci || address.find('?') != std::string::npos ||
      !source->source.subdir.empty()) {
    return fail(Code::source_invalid, fmt::format("\"{}\" is not a repository of an OCI registry", scrub_urls(address)),
                "write oci://HOST/REPOSITORY, without a tag");
  }
  MODLOCK_TRY(auto read, oci::read_address(*source));
  return plain_http ? oci::over_plain_http(std::move(read.repository)) : std::move(read.repository);
}

Result<std::shared_ptr<const fs::path>> make_work_directory(const Store& store) {
  MODLOCK_TRY(auto path, store.make_temporary());
  return std::shared_ptr<const fs::path>(new fs::path(std::move(path)), [](const fs::path* made) {
    (void)remove_tree(*made);  // `cache prune` handles a failure
    delete made;
  });
}

BundledPackage bundled_entry(const ModuleLock& entry) {
  return {.source = entry.source, .origin = entry.origin_hash(), .h1 = "h1:" + entry.hash_value("h1")};
}

std::string commit_of(const BundledPackage& package) {
  constexpr std::string_view kGit = "git:";
  return package.origin.starts_with(kGit) ? package.origin.substr(kGit.size()) : "";
}

std::string closure_tag(const ModuleLocks& modules) {
  Closure closure;
  for (const auto& [key, entry] : modules) {
    closure.packages.push_back(bundled_entry(entry));
  }
  return closure.tag();
}

std::vector<BundledProvider> locked_providers(const std::vector<BundledProvider>& providers,
                                              const ProviderLocks& locks) {
  std::vector<BundledProvider> found;
  for (BundledProvider provider : providers) {
    const auto lock = std::ranges::find_if(locks, [&](const auto& entry) {
      return entry.first.to_string() == provider.address && entry.second.version.to_string() == provider.version;
    });
    if (lock == locks.end()) {
      continue;
    }
    std::erase_if(provider.archives, [&hashes = lock->second.hashes](const auto& entry) {
      const BundledProvider::Archive& archive = entry.second;
      return std::ranges::find(hashes, zh_of(archive)) == hashes.end() &&
             std::ranges::find(hashes, archive.h1) == hashes.end();
    });
    if (!provider.archives.empty()) {
      found.push_back(std::move(provider));
    }
  }
  return found;
}

std::string zh_of(const BundledProvider::Archive& archive) {
  return "zh:" + archive.layer.digest.substr(archive.layer.digest.find(':') + 1);
}

}  // namespace modlock
