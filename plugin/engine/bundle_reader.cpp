#include "plugin/engine/bundle_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "backends/package/tree_hash.h"
#include "backends/package/unpack.h"
#include "backends/remote/registry_store.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;
using remote::BundledPackage;
using remote::Layout;
using remote::NamedClosure;
using std::chrono::seconds;

constexpr std::size_t kParallel = 32;  // mostly waits for a registry
constexpr seconds kIndexTime{10};
constexpr seconds kPackagesTime{30};
constexpr seconds kLongestTime{600};                                 // whatever sizes a registry claims
constexpr std::uint64_t kSlowestDownload = std::uint64_t{1} << 20U;  // bytes per second

class LayoutPlace final : public BundlePlace {
 public:
  LayoutPlace(fs::path path, const Context& context) : path_(std::move(path)), context_(context) {}

  Result<std::vector<NamedClosure>> closures(const fs::path& work) override {
    MODLOCK_TRY(layout_, Layout::open(path_, work, context_));
    return layout_->closures();
  }
  Result<fs::path> find(const BundledPackage& package, const fs::path& /*work*/) override {
    return layout_->find(package.layer);
  }

 private:
  fs::path path_;
  const Context& context_;
  std::optional<Layout> layout_;
};

class RegistryPlace final : public BundlePlace {
 public:
  RegistryPlace(std::unique_ptr<oci::Registry> registry, oci::Repository repository, std::string tag, Context context)
      : registry_(std::move(registry)),
        repository_(std::move(repository)),
        tag_(std::move(tag)),
        context_(std::move(context)) {
    context_.check_source = {};  // the targets of its redirects are not sources of modules
  }

  Result<std::vector<NamedClosure>> closures(const fs::path& /*work*/) override {
    auto found = within(kIndexTime, remote::find_closure(*registry_, repository_, tag_, limited(kIndexTime)));
    if (!found) {
      return fail(with_plain_http_hint(std::move(found.error()), repository_));
    }
    auto closure = std::move(*found);
    if (!closure) {
      return fail(Code::not_found, "it does not have the packages of this lock file",
                  fmt::format("push them: tofu-modlock bundle push {}", repository_.display));
    }
    std::uint64_t bytes = 0;
    for (const BundledPackage& package : closure->packages) {
      bytes += package.layer.size;
    }
    time_ = std::min(kPackagesTime + seconds(bytes / kSlowestDownload), kLongestTime);
    packages_ = limited(time_);
    return std::vector<NamedClosure>{{tag_, std::move(*closure)}};
  }

  Result<fs::path> find(const BundledPackage& package, const fs::path& work) override {
    const fs::path file = work / package.layer.digest.substr(package.layer.digest.find(':') + 1);
    auto done = within(time_, remote::download(*registry_, repository_, package.layer, file, packages_));
    if (!done && done.error().code == Code::not_found) {
      return fail(Code::source_invalid,
                  fmt::format("\"{}\" lacks the blob {}", repository_.display, package.layer.digest),
                  "push the bundle again");
    }
    return done ? Result<fs::path>(file) : fail(std::move(done.error()));
  }

 private:
  Context limited(seconds time) const {
    Context context = context_;
    const auto deadline = std::chrono::steady_clock::now() + time;
    context.deadline = context.deadline ? std::min(*context.deadline, deadline) : deadline;
    return context;
  }

  // Names the limit of the place if it is what ended the requests.
  template <typename T>
  Result<T> within(seconds time, Result<T> result) const {
    if (!result && result.error().code == Code::deadline_exceeded && context_.check()) {
      return fail(Code::timeout,
                  fmt::format("\"{}\" did not send everything within {} s", repository_.display, time.count()));
    }
    return result;
  }

  const std::unique_ptr<oci::Registry> registry_;
  const oci::Repository repository_;
  const std::string tag_;
  Context context_;
  seconds time_ = kPackagesTime;
  Context packages_;
};

// Puts the links of a package in place of the files that a zip has instead, and removes the digests of those files.
Result<void> restore_links(const fs::path& tree, const remote::Links& links, FileDigests& digests) {
  std::error_code error;
  for (const auto& [name, target] : links) {
    if (!fs::is_regular_file(fs::symlink_status(tree / name, error))) {
      return fail(Code::source_invalid, fmt::format("a bundled package has no file \"{}\" for a link", name),
                  "create the bundle again");
    }
  }
  for (const auto& [name, target] : links) {
    digests.erase((tree / name).string());
    fs::remove(tree / name, error);
    fs::create_symlink(target, tree / name, error);
    if (error) {
      return fail(Code::io_error,
                  fmt::format("cannot create the link {}: {}", (tree / name).string(), error.message()));
    }
  }
  return {};
}

// Returns whether a bundle cannot be used for now, in contrast to damage.
bool is_unreachable(const Error& error) {
  return exit_code(error) == exit_code(Code::unreachable);
}

}  // namespace

Error with_plain_http_hint(Error error, const oci::Repository& repository) {
  if (error.code == Code::unreachable && !repository.plain_http && error.message.find("no TLS") != std::string::npos &&
      oci::over_plain_http(repository)) {
    error.hint = "if it uses plain http, add --plain-http or set TOFU_MODLOCK_REMOTE_PLAIN_HTTP=1";
  }
  return error;
}

std::unique_ptr<BundlePlace> make_layout_place(fs::path path, const Context& context) {
  return std::make_unique<LayoutPlace>(std::move(path), context);
}

std::unique_ptr<BundlePlace> make_registry_place(std::unique_ptr<oci::Registry> registry, oci::Repository repository,
                                                 std::string tag, Context context) {
  return std::make_unique<RegistryPlace>(std::move(registry), std::move(repository), std::move(tag),
                                         std::move(context));
}

Result<void> extract_package(const BundledPackage& package, const fs::path& zip, const fs::path& directory,
                             const Context& context) {
  MODLOCK_TRY(make_directories(directory));
  MODLOCK_TRY(auto digests, unpack_archive(zip, ArchiveFormat::zip, directory,
                                           fmt::format("the package {}", package.layer.digest), context));
  MODLOCK_TRY(restore_links(directory, package.links, digests));
  MODLOCK_TRY(const auto entries, list_tree(directory));
  MODLOCK_TRY(const auto summary, summarise_entries(entries, digests, context));
  if (const std::string h1 = summary.h1(); h1 != package.h1) {
    return fail(
        Code::hash_mismatch,
        fmt::format("the package {} has another content: expected {}, got {}", package.layer.digest, package.h1, h1),
        "create the bundle again");
  }
  return {};
}

Result<std::unique_ptr<OpenBundle>> OpenBundle::open(const fs::path& path, const Store& store, const Context& context) {
  MODLOCK_TRY(auto work, store.make_temporary());
  std::unique_ptr<OpenBundle> bundle(new OpenBundle(std::move(work)));
  MODLOCK_TRY(bundle->layout_, Layout::open(path, bundle->work_, context));
  MODLOCK_TRY(bundle->closures_, bundle->layout_->closures());
  return bundle;
}

OpenBundle::~OpenBundle() {
  (void)remove_tree(work_);  // `cache prune` handles a failure
}

BundleReader::~BundleReader() {
  if (!work_.empty()) {
    (void)remove_tree(work_);  // `cache prune` handles a failure
  }
}

Result<void> BundleReader::open() {
  MODLOCK_TRY(work_, store_.make_temporary());
  if (options_.is_down != nullptr && *options_.is_down) {
    return {};
  }
  MODLOCK_TRY(make_directories(work_ / "layout"));
  MODLOCK_TRY(closures_, options_.place->closures(work_ / "layout"));
  return {};
}

void BundleReader::open_once(const Context& context) {
  if (!std::exchange(is_opened_, true)) {
    if (const auto opened = open(); !opened) {
      report(opened.error(), {}, context);
    }
  }
}

std::optional<bool> BundleReader::lists(const ModuleLock& entry, const Context& context) {
  open_once(context);
  const std::string h1 = "h1:" + entry.hash_value("h1");
  const bool is_listed = std::any_of(closures_.begin(), closures_.end(), [&](const NamedClosure& one) {
    return std::any_of(one.closure.packages.begin(), one.closure.packages.end(), [&](const BundledPackage& package) {
      return package.h1 == h1 && package.source == entry.source;
    });
  });
  const bool is_read = !closures_.empty() || (failure_ && failure_->code == Code::not_found);
  return is_read ? std::optional(is_listed) : std::nullopt;
}

std::optional<LocalPackage> BundleReader::find(const ModuleNode& node, std::string_view h1, const Context& context) {
  open_once(context);
  if (!std::exchange(is_extracted_, true)) {
    extract(needed(), context);
  }
  const std::string source = node.address.source.identity();
  for (const auto& [tag, closure] : closures_) {
    const auto package = std::find_if(closure.packages.begin(), closure.packages.end(),
                                      [&](const BundledPackage& one) { return one.h1 == h1 && one.source == source; });
    if (package == closure.packages.end()) {
      continue;
    }
    if (extracted_.count(&*package) == 0) {
      extract({&*package}, context);
    }
    const Result<fs::path>& directory = extracted_.at(&*package);
    if (directory) {
      // Only a registry chooses the directory of a module in its package.
      const bool has_subdir = node.address.source.kind == SourceKind::registry;
      return LocalPackage{.directory = *directory, .subdir = has_subdir ? package->subdir : ""};
    }
    if (reported_.insert(&*package).second) {
      report(directory.error(), node.subject(), context);
    }
    return std::nullopt;
  }
  return std::nullopt;
}

// Returns one package of each content that the entries name and the store lacks.
std::vector<const BundledPackage*> BundleReader::needed() const {
  std::set<std::pair<std::string, std::string>> missing;  // source and h1
  for (const auto& [key, entry] : options_.modules) {
    if (const std::string h1 = "h1:" + entry.hash_value("h1"); !store_.find_by_h1(h1)) {
      missing.emplace(entry.source, h1);
    }
  }
  std::vector<const BundledPackage*> packages;
  for (const auto& [tag, closure] : closures_) {
    for (const BundledPackage& package : closure.packages) {
      if (missing.erase({package.source, package.h1}) != 0) {
        packages.push_back(&package);
      }
    }
  }
  return packages;
}

void BundleReader::extract(const std::vector<const BundledPackage*>& packages, const Context& context) {
  std::map<std::string, std::vector<const BundledPackage*>> by_layer;
  for (const BundledPackage* package : packages) {
    by_layer[package->layer.digest].push_back(package);
    extracted_.emplace(package, fs::path());
  }
  std::vector<const std::vector<const BundledPackage*>*> layers;
  for (const auto& [digest, of_layer] : by_layer) {
    layers.push_back(&of_layer);
  }
  std::atomic<std::size_t> done = 0;
  parallel_for(layers.size(), kParallel, [&](std::size_t i) {
    for (const BundledPackage* package : *layers[i]) {
      extracted_.at(package) = extract_one(*package, context);
    }
    context.progress->report(fmt::format("reading {}", layers[i]->front()->source), ++done, layers.size());
  });
}

Result<fs::path> BundleReader::extract_one(const BundledPackage& package, const Context& context) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_by_) {
      return fail(*stopped_by_);
    }
  }
  const auto zip = options_.place->find(package, work_ / "layout");
  if (!zip) {
    const std::lock_guard lock(mutex_);
    if (is_unreachable(zip.error()) && !stopped_by_) {
      stopped_by_ = zip.error();
    }
    return fail(zip.error());
  }
  const fs::path directory = work_ / random_hex(8);
  MODLOCK_TRY(extract_package(package, *zip, directory, context));
  return directory;
}

void BundleReader::report(const Error& error, std::string_view subject, const Context& context) {
  if (!context.check()) {
    return;  // the run ends anyway
  }
  std::string text = fmt::format("not installed from {}: {}", options_.name, error.message);
  if (is_unreachable(error)) {
    const bool is_known =
        failure_ || (options_.is_down != nullptr && error.code != Code::not_found && options_.is_down->exchange(true));
    failure_ = failure_ ? failure_ : error;
    if (error.code == Code::unreachable && !error.hint.empty()) {
      text += fmt::format(" ({})", error.hint);
    }
    if (!is_known) {
      // A named bundle should have the packages. In a store they may be missing only for now.
      const bool is_expected =
          error.code == Code::offline_miss || (options_.role == Role::store && error.code == Code::not_found);
      context.log->write(is_expected ? LogLevel::info : LogLevel::warning, text);
    }
    return;
  }
  if (options_.role == Role::store) {
    context.log->write(LogLevel::warning,
                       fmt::format("{}{}{} [{}]", subject, subject.empty() ? "" : ": ", text, to_string(error.code)));
  } else if (!damage_) {
    damage_ = error;
    damage_->subject = subject;
  }
}

}  // namespace modlock
