#include "plugin/engine/bundle_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <utility>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/mapped_file.h"
#include "backends/base/parallel.h"
#include "backends/git/tree_proof.h"
#include "backends/http/tls_failure.h"
#include "backends/package/tree_hash.h"
#include "backends/package/unpack.h"
#include "backends/remote/registry_store.h"
#include "plugin/engine/bundle.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;
using remote::BundledPackage;
using remote::Layout;
using remote::NamedClosure;
using std::chrono::seconds;

constexpr std::string_view kGit = "git:";
constexpr std::size_t kDownloads = 64;                               // mostly waits for a registry
constexpr seconds kLongestTime{600};                                 // whatever sizes a registry claims
constexpr std::uint64_t kSlowestDownload = std::uint64_t{1} << 20U;  // bytes per second

// Returns whether a bundle cannot be used for now, in contrast to damage.
bool is_unreachable(const Error& error) {
  return exit_code(error) == exit_code(Code::unreachable);
}

class LayoutPlace final : public BundlePlace {
 public:
  LayoutPlace(fs::path path, std::string tag, const Context& context)
      : path_(std::move(path)), tag_(std::move(tag)), context_(context) {}

  Result<std::vector<NamedClosure>> closures(const fs::path& work) override {
    MODLOCK_TRY(layout_, Layout::open(path_, work, context_));
    std::vector<NamedClosure> closures;
    for (const remote::TaggedClosure& one : layout_->listed()) {
      if (one.tag == tag_) {
        MODLOCK_TRY(auto closure, layout_->closure(one));
        closures.push_back({tag_, std::move(closure)});
      }
    }
    return closures;
  }

  // Only one closure is in memory at a time.
  Found find_packages(const std::set<BundledPackage>& entries) override {
    Found found;
    std::set<BundledPackage> missing = entries;
    for (const remote::TaggedClosure& one : layout_->listed()) {
      if (missing.empty()) {
        break;
      }
      const auto closure = context_.check().and_then([&] { return layout_->closure(one); });
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

  Result<fs::path> find(const remote::Blob& layer, const fs::path& /*work*/) override { return layout_->find(layer); }

 private:
  const fs::path path_;
  const std::string tag_;
  const Context& context_;
  std::optional<Layout> layout_;
};

class RegistryPlace final : public BundlePlace {
 public:
  RegistryPlace(std::unique_ptr<oci::Registry> registry, oci::Repository repository, std::string tag, Context context,
                PlaceTimes times)
      : registry_(std::move(registry)),
        repository_(std::move(repository)),
        tag_(std::move(tag)),
        context_(std::move(context)),
        times_(times) {
    context_.check_source = {};  // the targets of its redirects are not sources of modules
  }

  Result<std::vector<NamedClosure>> closures(const fs::path& /*work*/) override {
    index_ = limited(times_.index);
    auto closure = within(times_.index, remote::find_closure(*registry_, repository_, tag_, index_));
    if (!closure) {
      return fail(with_plain_http_hint(std::move(closure.error()), repository_));
    }
    if (!*closure) {
      return std::vector<NamedClosure>{};
    }
    allow_time((*closure)->packages);
    return std::vector<NamedClosure>{{tag_, std::move(**closure)}};
  }

  // Calls with the same package have the same tag, which is requested once.
  Found find_packages(const std::set<BundledPackage>& entries) override {
    std::map<std::string, std::vector<const BundledPackage*>> by_tag;
    for (const BundledPackage& entry : entries) {
      by_tag[entry.tag()].push_back(&entry);
    }
    std::vector<const std::vector<const BundledPackage*>*> wanted;
    for (const auto& [tag, of_tag] : by_tag) {
      wanted.push_back(&of_tag);
    }
    std::vector<Result<std::optional<BundledPackage>>> received(wanted.size());
    std::atomic<bool> is_down = false;
    parallel_for(wanted.size(), kDownloads, [&](std::size_t i) {
      if (!is_down) {
        received[i] = within(times_.index, remote::find_package(*registry_, repository_, *wanted[i]->front(), index_));
        is_down = is_down || (!received[i] && is_unreachable(received[i].error()));
      }
    });
    Found found;
    std::size_t missing = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!received[i]) {
        found.errors.push_back(std::move(received[i].error()));
        continue;
      }
      missing += *received[i] ? 0 : wanted[i]->size();
      for (const BundledPackage* entry : *wanted[i]) {
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
                              .hint = fmt::format("push them: tofu-modlock bundle push {}", repository_.display)});
    }
    allow_time(found.packages);
    return found;
  }

  Result<fs::path> find(const remote::Blob& layer, const fs::path& work) override {
    const fs::path file = work / random_hex(8);  // another package may use a file with this digest
    auto done = within(time_, remote::download(*registry_, repository_, layer, file, packages_));
    if (!done && done.error().code == Code::not_found) {
      return fail(Code::source_invalid, fmt::format("\"{}\" lacks the blob {}", repository_.display, layer.digest),
                  done.error().hint);
    }
    return done ? Result<fs::path>(file) : fail(std::move(done.error()));
  }

 private:
  // Starts the time for the packages that are known so far.
  void allow_time(const std::vector<BundledPackage>& packages) {
    for (const BundledPackage& package : packages) {
      bytes_ += package.layer.size + package.trees.size;
    }
    time_ = download_time(bytes_, times_.packages);
    packages_ = limited(time_);
  }

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
  Context index_;  // of closures and tags
  std::uint64_t bytes_ = 0;
  const PlaceTimes times_;
  seconds time_ = times_.packages;
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

}  // namespace

seconds download_time(std::uint64_t bytes, seconds at_least) {
  return std::min(at_least + seconds(bytes / kSlowestDownload), kLongestTime);
}

Error with_plain_http_hint(Error error, const oci::Repository& repository) {
  if (http::lacks_tls(error) && !repository.plain_http && oci::over_plain_http(repository)) {
    error.hint = "if it uses plain http, add --plain-http or set TOFU_MODLOCK_REMOTE_PLAIN_HTTP=1";
  }
  return error;
}

std::unique_ptr<BundlePlace> make_layout_place(fs::path path, std::string tag, const Context& context) {
  return std::make_unique<LayoutPlace>(std::move(path), std::move(tag), context);
}

std::unique_ptr<BundlePlace> make_registry_place(std::unique_ptr<oci::Registry> registry, oci::Repository repository,
                                                 std::string tag, Context context, PlaceTimes times) {
  return std::make_unique<RegistryPlace>(std::move(registry), std::move(repository), std::move(tag), std::move(context),
                                         times);
}

fs::path trees_file(const fs::path& package) {
  return package.parent_path() / "trees";
}

Result<ExtractedPackage> extract_package(const BundledPackage& package, const fs::path& zip, const fs::path& trees,
                                         const fs::path& directory, const Context& context) {
  MODLOCK_TRY(make_directories(directory));
  auto digests =
      unpack_archive(zip, ArchiveFormat::zip, directory, fmt::format("the package {}", package.layer.digest), context);
  if (!digests && digests.error().code == Code::bad_response) {
    // It has its digest, so no transfer damaged it.
    digests.error().code = Code::source_invalid;
    digests.error().hint = "create the bundle again";
  }
  MODLOCK_TRY(digests);
  MODLOCK_TRY(restore_links(directory, package.links, *digests));
  MODLOCK_TRY(const auto entries, list_tree(directory));
  MODLOCK_TRY(refuse_override(entries));
  MODLOCK_TRY(const auto summary, summarise_entries(entries, *digests, context));
  if (const std::string h1 = summary.h1(); h1 != package.h1) {
    return fail(
        Code::hash_mismatch,
        fmt::format("the package {} has other content: expected {}, got {}", package.layer.digest, package.h1, h1),
        "create the bundle again");
  }
  ExtractedPackage extracted{.modes = hash_modes(entries)};
  if (!trees.empty() && package.origin.starts_with(kGit)) {
    MODLOCK_TRY(const auto objects, MappedFile::open(trees));
    auto proof = git::prove_tree(objects.content(), package.origin.substr(kGit.size()), directory, entries);
    if (!proof) {
      Error error = std::move(proof.error());
      error.message = fmt::format("the package {} with the trees {}: {}", package.layer.digest, package.trees.digest,
                                  error.message);
      error.hint = "create the bundle again";
      return fail(std::move(error));
    }
    extracted.is_proven = *proof == git::Proof::content;
  }
  return extracted;
}

Result<std::unique_ptr<OpenBundle>> OpenBundle::open(const fs::path& path, const Store& store, const Context& context) {
  MODLOCK_TRY(auto work, store.make_temporary());
  std::unique_ptr<OpenBundle> bundle(new OpenBundle(std::move(work)));
  MODLOCK_TRY(bundle->layout_, Layout::open(path, bundle->work_, context));
  return bundle;
}

OpenBundle::~OpenBundle() {
  (void)remove_tree(work_);  // `cache prune` handles a failure
}

BundleReader::BundleReader(Options options, const Store& store) : options_(std::move(options)), store_(store) {
  for (const auto& [key, entry] : options_.modules) {
    entries_.insert(bundled_entry(entry));
  }
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
  is_readable_ = true;
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
  std::set<BundledPackage> wanted = {bundled_entry(entry)};
  if (!is_readable_ || !take_listed(wanted).empty()) {
    return is_readable_ ? std::optional(true) : std::nullopt;
  }
  const BundlePlace::Found found = options_.place->find_packages(wanted);
  for (const Error& error : found.errors) {
    if (error.code != Code::not_found) {
      report(error, {}, context);
      return std::nullopt;
    }
  }
  return !found.packages.empty();
}

std::optional<LocalPackage> BundleReader::find(const ModuleNode& node, std::string_view h1, const Context& context) {
  const auto entry = options_.modules.find(node.key);
  if (entry == options_.modules.end()) {
    return std::nullopt;
  }
  if (const auto known = find_claimed(node.address.source, entry->second.origin_hash(), h1, context)) {
    return LocalPackage{.directory = known->directory};
  }
  if (!has_place()) {
    return std::nullopt;
  }
  open_once(context);
  if (!std::exchange(is_extracted_, true)) {
    extract_needed(context);
  }
  const BundledPackage* const package = choose(node, h1);
  if (package == nullptr) {
    return std::nullopt;
  }
  if (extracted_.count(package) == 0) {
    extract({package}, context);
  }
  const Result<fs::path>& directory = extracted_.at(package);
  if (directory) {
    // Only a registry chooses the directory of a module in its package.
    const bool has_subdir = node.address.source.kind == SourceKind::registry;
    return LocalPackage{.directory = *directory, .subdir = has_subdir ? package->subdir : ""};
  }
  if (reported_.insert(package).second) {
    report(directory.error(), node.subject(), context);
  }
  return std::nullopt;
}

// Returns a package of git of the cache, if a bundle or store listed it for this source: this store, or, without a
// place and in offline mode, any. A named file is asked itself, because another one may have had its name, and a named
// registry if it may be.
std::optional<Package> BundleReader::find_claimed(const Source& source, std::string_view origin, std::string_view h1,
                                                  const Context& context) const {
  const bool is_store = options_.role == Role::store || (context.offline && options_.name.starts_with("oci://"));
  auto known = source.has_commits() && (has_place() ? is_store : context.offline)
                   ? store_.find_proven(origin, h1, context)
                   : std::nullopt;
  const std::string_view by = has_place() ? options_.name : std::string_view();
  return known && store_.is_claimed(*known, source.package_identity(), by) ? std::move(known) : std::nullopt;
}

// Returns the package that is listed for the source and the commit or digest of the lock entry of a call; null if there
// is none.
const BundledPackage* BundleReader::choose(const ModuleNode& node, std::string_view h1) const {
  const std::string source = node.address.source.identity();
  const std::string origin = options_.modules.at(node.key).origin_hash();
  for (const auto& [tag, closure] : closures_) {
    for (const BundledPackage& package : closure.packages) {
      if (package.h1 == h1 && package.source == source && package.origin == origin) {
        return &package;
      }
    }
  }
  return nullptr;
}

// Extracts one package of each content that the entries name and the store lacks.
void BundleReader::extract_needed(const Context& context) {
  std::set<BundledPackage> entries = entries_;
  std::erase_if(entries, [&](const BundledPackage& entry) {
    const auto source = parse_identity(entry.source);
    if (!source || !source->has_commits()) {  // a registry also chooses a directory in the package
      return store_.find_by_h1(entry.h1).has_value();
    }
    const auto fetched = store_.find(*source, entry.origin.starts_with(kGit) ? entry.origin.substr(kGit.size()) : "");
    return (fetched && fetched->h1 == entry.h1) || find_claimed(*source, entry.origin, entry.h1, context);
  });
  auto packages = take_listed(entries);
  if (is_readable_ && !entries.empty()) {
    BundlePlace::Found found = options_.place->find_packages(entries);
    for (const Error& error : found.errors) {
      report(error, {}, context);
    }
    closures_.push_back({.tag = {}, .closure = {.packages = std::move(found.packages)}});
    const auto more = take_listed(entries);
    packages.insert(packages.end(), more.begin(), more.end());
  }
  extract(packages, context);
}

// Returns the packages of these entries, and removes the entries.
std::vector<const BundledPackage*> BundleReader::take_listed(std::set<BundledPackage>& entries) const {
  std::vector<const BundledPackage*> packages;
  for (const auto& [tag, closure] : closures_) {
    for (const BundledPackage& package : closure.packages) {
      if (entries.erase({.source = package.source, .origin = package.origin, .h1 = package.h1}) != 0) {
        packages.push_back(&package);
      }
    }
  }
  return packages;
}

// The trees of a package are requested at the same time as its zip.
void BundleReader::extract(const std::vector<const BundledPackage*>& packages, const Context& context) {
  using File = Result<fs::path>;
  std::map<std::string, std::vector<const BundledPackage*>> by_layer;
  for (const BundledPackage* package : packages) {
    const auto known = store_.find_proven(package->origin, package->h1, context);
    extracted_.emplace(package, known ? known->directory : fs::path());
    if (known) {
      store_.note_claim(*known, package->package_source(), options_.name);
    } else {
      by_layer[package->layer.digest].push_back(package);
    }
  }
  std::map<std::string, std::promise<File>> trees;
  std::map<std::string, std::shared_future<File>> received;
  std::vector<std::function<void()>> tasks;
  std::atomic<std::size_t> done = 0;
  for (const auto& [layer, of_layer] : by_layer) {
    for (const BundledPackage* package : of_layer) {
      if (const remote::Blob& blob = package->trees; !blob.digest.empty() && trees.count(blob.digest) == 0) {
        auto& promise = trees[blob.digest];
        received[blob.digest] = promise.get_future().share();
        tasks.emplace_back([this, &blob, &promise] { promise.set_value(download(blob)); });
      }
    }
    // Tasks start in order, so that those that this one waits for have started.
    tasks.emplace_back([this, &of_layer = of_layer, &received, &done, &context, &by_layer] {
      const File zip = download(of_layer.front()->layer);
      for (const BundledPackage* package : of_layer) {
        const auto found = received.find(package->trees.digest);
        const File file = found == received.end() ? File(fs::path()) : found->second.get();
        extracted_.at(package) = !zip    ? fail(zip.error())
                                 : !file ? fail(file.error())
                                         : extract_one(*package, *zip, *file, context);
      }
      context.progress->report(fmt::format("reading {}", of_layer.front()->source), ++done, by_layer.size());
    });
  }
  parallel_for(tasks.size(), kDownloads, [&](std::size_t i) { tasks[i](); });
}

Result<fs::path> BundleReader::download(const remote::Blob& layer) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_by_) {
      return fail(*stopped_by_);
    }
  }
  auto file = options_.place->find(layer, work_ / "layout");
  if (!file && is_unreachable(file.error())) {
    const std::lock_guard lock(mutex_);
    stopped_by_ = stopped_by_ ? stopped_by_ : file.error();
  }
  return file;
}

Result<fs::path> BundleReader::extract_one(const BundledPackage& package, const fs::path& zip, const fs::path& trees,
                                           const Context& context) {
  const fs::path directory = work_ / random_hex(8);
  MODLOCK_TRY(const auto extracted, extract_package(package, zip, trees, directory, context));
  if (!extracted.is_proven) {
    return directory;
  }
  const auto admitted = store_.admit_proven(directory, package.origin, package.h1, extracted.modes);
  if (!admitted) {
    return directory;  // a full disk costs a download next time
  }
  store_.note_claim(*admitted, package.package_source(), options_.name);
  if (const auto objects = read_file(trees)) {  // a package without them can be bundled again, but not proven
    (void)write_file_atomically(trees_file(admitted->directory), *objects, Durable::no);
  }
  return admitted->directory;
}

void BundleReader::report(const Error& error, std::string_view subject, const Context& context) {
  if (!context.check()) {
    return;  // the run ends anyway
  }
  std::string text = fmt::format("not installed from {}: {}", options_.name, error.message);
  if (is_unreachable(error)) {
    const bool is_missing = error.code == Code::not_found;
    const bool is_known = (failure_ && (is_missing || failure_->code != Code::not_found)) ||
                          (options_.is_down != nullptr && !is_missing && options_.is_down->exchange(true));
    failure_ = is_known && failure_ ? failure_ : error;
    if (error.code == Code::unreachable && !error.hint.empty()) {
      text += fmt::format(" ({})", error.hint);
    }
    if (!is_known) {
      // A named bundle should have the packages. In a store they may be missing only for now.
      const bool is_expected = error.code == Code::offline_miss || (options_.role == Role::store && is_missing);
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
