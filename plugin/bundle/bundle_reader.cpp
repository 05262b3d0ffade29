#include "plugin/bundle/bundle_reader.h"

#include <fmt/format.h>

#include <functional>
#include <future>
#include <utility>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;
using remote::BundledPackage;

constexpr std::size_t kDownloads = 64;  // mostly waits for a registry

// Returns whether a bundle cannot be used for now, in contrast to damage.
bool is_unreachable(const Error& error) {
  return exit_code(error) == exit_code(Code::unreachable);
}

}  // namespace

BundleReader::BundleReader(Options options, const Store& store) : options_(std::move(options)), store_(store) {
  for (const auto& [key, entry] : options_.modules) {
    entries_.insert(bundled_entry(entry));
  }
}

Result<void> BundleReader::open() {
  MODLOCK_TRY(work_, make_work_directory(store_));
  if (options_.is_down != nullptr && *options_.is_down) {
    return {};
  }
  MODLOCK_TRY(auto bundle, options_.open());
  MODLOCK_TRY(auto closure, bundle->closure(options_.tag));
  if (closure) {
    closures_.push_back({options_.tag, std::move(*closure)});
  }
  bundle_ = std::move(bundle);
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
  if (bundle_ == nullptr || !take_listed(wanted).empty()) {
    return bundle_ == nullptr ? std::nullopt : std::optional(true);
  }
  const Bundle::Found found = bundle_->find_packages(wanted);
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
  if (!has_bundle()) {
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
    const bool has_subdir = node.address.source.is_registry();
    return LocalPackage{.directory = *directory, .subdir = has_subdir ? package->subdir : ""};
  }
  if (reported_.insert(package).second) {
    report(directory.error(), node.subject(), context);
  }
  return std::nullopt;
}

// Returns a package of git of the cache, if a bundle or store listed it for this source: this store, or, without a
// bundle and in offline mode, any. A named file is asked itself, because another one may have had its name, and a named
// registry if it may be.
std::optional<Package> BundleReader::find_claimed(const Source& source, std::string_view origin, std::string_view h1,
                                                  const Context& context) const {
  const bool is_store = options_.role == Role::store || (context.offline && options_.name.starts_with("oci://"));
  auto known = source.has_commits() && (has_bundle() ? is_store : context.offline)
                   ? store_.find_proven(origin, h1, context)
                   : std::nullopt;
  const std::string_view by = has_bundle() ? options_.name : std::string_view();
  return known && store_.is_claimed(*known, source.package_identity(), by) ? std::move(known) : std::nullopt;
}

// Returns the package that is listed for the source and the commit or digest of the lock entry of a call; null if there
// is none.
const BundledPackage* BundleReader::choose(const ModuleNode& node, std::string_view h1) const {
  std::set<BundledPackage> wanted = {{.source = node.address.source.identity(),
                                      .origin = options_.modules.at(node.key).origin_hash(),
                                      .h1 = std::string(h1)}};
  const auto listed = take_listed(wanted);
  return listed.empty() ? nullptr : listed.front();
}

// Extracts one package of each content that the entries name and the store lacks.
void BundleReader::extract_needed(const Context& context) {
  std::set<BundledPackage> entries = entries_;
  std::erase_if(entries, [&](const BundledPackage& entry) {
    const auto source = parse_identity(entry.source);
    if (!source || !source->has_commits()) {  // a registry also chooses a directory in the package
      return store_.find_by_h1(entry.h1).has_value();
    }
    const auto fetched = store_.find(*source, commit_of(entry));
    return (fetched && fetched->h1 == entry.h1) || find_claimed(*source, entry.origin, entry.h1, context);
  });
  auto packages = take_listed(entries);
  if (bundle_ != nullptr && !entries.empty()) {
    Bundle::Found found = bundle_->find_packages(entries);
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
  std::map<std::string, std::packaged_task<File()>> trees;  // an exception reaches those that wait
  std::map<std::string, std::shared_future<File>> received;
  std::vector<std::function<void()>> tasks;
  std::atomic<std::size_t> done = 0;
  for (const auto& [layer, of_layer] : by_layer) {
    for (const BundledPackage* package : of_layer) {
      if (const remote::Blob& blob = package->trees; !blob.digest.empty() && trees.count(blob.digest) == 0) {
        auto& task = trees[blob.digest] = std::packaged_task<File()>([this, &blob] { return download(blob); });
        received[blob.digest] = task.get_future().share();
        tasks.emplace_back([&task] { task(); });
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
  // Each download has its own file: the zip of one package may be the trees of another one, which are mapped.
  auto file = bundle_->find(layer, {}, *work_ / random_hex(8));
  if (!file && file.error().code == Code::not_found) {
    return fail(Code::source_invalid, fmt::format("\"{}\" lacks the blob {}", options_.name, layer.digest),
                file.error().hint);
  }
  if (!file && is_unreachable(file.error())) {
    const std::lock_guard lock(mutex_);
    stopped_by_ = stopped_by_ ? stopped_by_ : file.error();
  }
  return file;
}

Result<fs::path> BundleReader::extract_one(const BundledPackage& package, const fs::path& zip, const fs::path& trees,
                                           const Context& context) {
  const fs::path directory = *work_ / random_hex(8);
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
      text += fmt::format(" ({})", error.hint.text());
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
