#include "backends/store/store.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <mutex>
#include <system_error>

#include "backends/base/ascii.h"
#include "backends/base/digest.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "backends/package/tree_hash.h"
#include "backends/store/first_seen.h"
#include "backends/store/prune.h"
#include "backends/store/tree_memo.h"
#include "backends/store/work_directory.h"
#include "protocol/base/json.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// The resolution of file times: a file may have a time this much before it was written.
constexpr std::chrono::milliseconds kClockStep{10};

// An id becomes a file name: an id that does not look like a commit or digest has no record.
bool is_recordable(std::string_view id) {
  return !id.empty() && id.size() <= 200 && id.front() != '.' && std::ranges::all_of(id, [](char c) {
    return ascii::is_alnum(c) || c == ':' || c == '-' || c == '_' || c == '.';
  });
}

// Stands for no directory: nothing can be there, so nothing is read.
const char* const kNowhere = "/dev/null/none";

// Of a full disk or a limit, the advice of the system helps more.
Error with_cache_hint(Error error) {
  if (error.code == Code::io_error && (error.hint.empty() || error.reason == Reason::no_access)) {
    error.hint = "name a directory that can be written with --cache-dir or TOFU_MODLOCK_CACHE_DIR";
  }
  return error;
}

Result<void> check_layout(const fs::path& root) {
  const Result<std::string> text = read_file(root / "layout");
  const std::string digits = text ? text->substr(0, std::min(text->find_first_not_of("0123456789"), text->size())) : "";
  const std::size_t leading = std::min(digits.find_first_not_of('0'), digits.size());
  const std::string number = digits.substr(leading);
  if (number.size() > 1 || number > "2") {
    return fail(Code::lock_newer,
                fmt::format("the cache \"{}\" has layout {}; this release reads layout 2", root.string(), number),
                "use the tofu-modlock release that wrote it, or name another directory with --cache-dir");
  }
  return {};
}

// A user who may rename entries of a directory may replace anything in it.
Result<void> check_writers(const fs::path& root) {
  struct stat found {};
  if (::stat(root.c_str(), &found) != 0 || (found.st_mode & S_IWOTH) == 0 || (found.st_mode & S_ISVTX) != 0) {
    return {};
  }
  return fail(Code::io_error, fmt::format("every user may write to the cache \"{}\"", root.string()),
              found.st_uid == ::geteuid() ? fmt::format("chmod o-w {}", shell_word(root.string()))
                                          : "name a directory of your own with --cache-dir or TOFU_MODLOCK_CACHE_DIR");
}

std::optional<Json::Value> read_record(const fs::path& path, const Source& source, std::string_view id) {
  const Result<std::string> text = read_file(path);
  Result<Json::Value> object = text.and_then([](const std::string& bytes) { return parse_json(bytes); });
  if (!object || string_member(*object, "source") != source.package_identity() || string_member(*object, "id") != id) {
    return std::nullopt;
  }
  return std::move(*object);
}

std::string proven_key(std::string_view origin, std::string_view h1) {
  return fmt::format("{} {}", origin, h1);
}

fs::path claim_of(const Package& package, std::string_view source, std::string_view by) {
  return package.directory.parent_path() / "claims" / sha256_hex(fmt::format("{} {}", source, by));
}

}  // namespace

std::string content_key(std::string_view h1, std::string_view modes) {
  return fmt::format("{}-{}", sha256_hex(h1), modes);
}

struct Store::Work {
  std::mutex mutex;
  std::optional<WorkDirectory> directory;
  struct Names {
    fs::file_time_type written = fs::file_time_type::min();  // the directory, before it was listed
    std::vector<std::string> names = {};
  };
  std::map<fs::path, Names> names = {};  // by directory
};

Store::Store(fs::path root) : root_(std::move(root)), work_(std::make_shared<Work>()) {}

Result<Store> Store::open(fs::path root) {
  std::error_code ignored;
  root = root.empty() ? kNowhere : fs::absolute(root, ignored);
  if (fs::exists(root, ignored) && !path_is_directory(root)) {
    return system_failure("use the cache", root, ENOTDIR);
  }
  MODLOCK_TRY(check_writers(root));
  MODLOCK_TRY(check_layout(root));
  Store store(std::move(root));
  (void)remove_abandoned_work(store.temporary_directory());
  return store;
}

std::optional<Error> Store::foreign_writers() const {
  struct stat found {};
  if (::stat(root_.c_str(), &found) != 0) {
    return std::nullopt;
  }
  if (found.st_uid != ::geteuid()) {
    return Error{.code = Code::io_error,
                 .message = fmt::format("it belongs to the user {}, who may change its content", found.st_uid),
                 .hint = "name a directory of your own with --cache-dir"};
  }
  for (const fs::path& directory : {root_, package_directory().parent_path(), package_directory()}) {
    if (::stat(directory.c_str(), &found) == 0 && (found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
      return Error{.code = Code::io_error,
                   .message = "other users may write to it",
                   .hint = fmt::format("chmod go-w {}", shell_word(directory.string()))};
    }
  }
  return std::nullopt;
}

std::vector<fs::path> Store::record_directories() const {
  return {response_directory(), answer_directory(),   tree_directory(),
          hash_directory(),     download_directory(), root_ / kClientDirectory};
}

Result<FileLock> Store::hold(std::string_view name, const Context& context) const {
  MODLOCK_TRY(make(below("locks")));
  return FileLock::acquire(below("locks") / name, context).map_error(with_cache_hint);
}

Result<FileLock> Store::hold(const Source& source, const Context& context) const {
  return hold(sha256_hex(source.package_identity()), context);
}

fs::path Store::package_directory(std::string_view h1, std::string_view modes) const {
  return package_directory() / content_key(h1, modes);
}

std::vector<fs::path> Store::installed_directories() const {
  const fs::path all = below("installed");
  return claims_.empty() ? std::vector{all} : std::vector{all / ("claims-" + claims_), all};
}

fs::path Store::record_of(const Source& source, std::string_view id, std::string_view ref,
                          const std::string& by) const {
  const std::string version = source.is_registry() ? fmt::format("\n{}", ref) : "";
  const std::string claim = by.empty() ? "" : "\nclaimed by " + by;
  return identity_directory() / sha256_hex(source.package_identity() + version + claim) / fmt::format("{}.json", id);
}

std::optional<Json::Value> Store::find_record(const Source& source, std::string_view id, std::string_view ref) const {
  if (!is_recordable(id)) {
    return std::nullopt;
  }
  auto record = read_record(record_of(source, id, ref, ""), source, id);
  return record || claims_.empty() ? std::move(record) : read_record(record_of(source, id, ref, claims_), source, id);
}

Result<void> make_store_root(const fs::path& root) {
  if (root == kNowhere) {
    return fail(Code::io_error, "no directory for the cache: the home directory is not known");
  }
  if (!path_is_directory(root)) {
    MODLOCK_TRY(make_directories(root.parent_path()));
    if (::mkdir(root.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      return system_failure("make the directory", root, errno);
    }
  }
  return {};
}

Result<void> Store::make(const fs::path& directory) const {
  auto ok = make_store_root(root_);
  return (ok ? make_directories(directory) : ok).map_error(with_cache_hint);
}

Result<fs::path> Store::work_directory() const {
  const std::scoped_lock lock(work_->mutex);
  std::optional<WorkDirectory>& work = work_->directory;
  if (!work || work->is_gone()) {
    MODLOCK_TRY(make(temporary_directory()));
    MODLOCK_TRY(auto made, WorkDirectory::make(temporary_directory()).map_error(with_cache_hint));
    work.reset();
    work.emplace(std::move(made));
  }
  return work->path();
}

Result<fs::path> Store::make_temporary() const {
  MODLOCK_TRY(auto directory, work_directory());
  directory /= random_hex(16);
  if (::mkdir(directory.c_str(), 0777) != 0) {
    return system_failure("make the directory", directory, errno);
  }
  return directory;
}

std::optional<std::string> Store::recorded_h1(const Source& source, std::string_view id, std::string_view ref) const {
  const auto record = find_record(source, id, ref);
  return record ? string_member(*record, "h1") : std::nullopt;
}

std::optional<Package> Store::find(const Source& source, std::string_view id, std::string_view ref) const {
  const auto record = find_record(source, id, ref);
  const std::optional<std::string> h1 = record ? string_member(*record, "h1") : std::nullopt;
  const std::optional<std::string> modes = record ? string_member(*record, "modes") : std::nullopt;
  std::optional<Package> package = h1 && modes ? find_content(*h1, *modes) : std::nullopt;
  if (package) {
    package->id = id;
    package->ref = string_member(*record, "ref").value_or("");
    package->subdir = string_member(*record, "subdir").value_or("");
    package->package = string_member(*record, "package").value_or("");
    package->claimed = read_time(string_member(*record, "claimed").value_or(""));
    package->validator = string_member(*record, "validator").value_or("");
  }
  return package;
}

std::string Store::key_of(std::string_view question) const {
  return sha256_hex(std::string(question) + claims_);
}

std::optional<Package> Store::find_answer(const Source& source, std::string_view question,
                                          fs::file_time_type since) const {
  const fs::path path = answer_directory() / key_of(question);
  std::error_code error;
  const fs::file_time_type written = fs::last_write_time(path, error);
  if (error || written + kClockStep < since || written > fs::file_time_type::clock::now()) {
    return std::nullopt;
  }
  const auto object = read_file(path).and_then([](const std::string& bytes) { return parse_json(bytes); });
  return object ? find(source, string_member(*object, "id").value_or(""), string_member(*object, "ref").value_or(""))
                : std::nullopt;
}

void Store::note_answer(std::string_view question, const Package& package) const {
  Json::Value object(Json::objectValue);
  object["id"] = package.id;
  object["ref"] = package.ref;
  if (make(answer_directory())) {
    (void)write_file_atomically(answer_directory() / key_of(question), write_json(object) + "\n", Durable::no);
  }
}

std::optional<Package> Store::find_content(std::string_view h1, std::string_view modes) const {
  fs::path tree = package_directory(h1, modes) / "tree";
  if (!path_is_directory(tree)) {
    return std::nullopt;
  }
  note_use(tree.parent_path());
  return Package{.id = {}, .h1 = std::string(h1), .modes = std::string(modes), .directory = std::move(tree)};
}

std::vector<std::string> Store::modes_below(const fs::path& directory, std::string_view h1) const {
  const std::scoped_lock lock(work_->mutex);
  Work::Names& known = work_->names[directory];
  std::error_code error;
  const fs::file_time_type written = fs::last_write_time(directory, error);
  if (error || written != known.written) {
    const bool is_settled = !error && written + kClockStep < fs::file_time_type::clock::now();
    known = {is_settled ? written : fs::file_time_type::min(), {}};
    for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
      known.names.push_back(at->path().filename().string());
    }
    std::ranges::sort(known.names);
  }
  const std::string prefix = content_key(h1, "");
  std::vector<std::string> modes;
  auto at = std::lower_bound(known.names.begin(), known.names.end(), prefix);
  for (; at != known.names.end() && at->starts_with(prefix); ++at) {
    modes.push_back(at->substr(prefix.size()));
  }
  return modes;
}

std::optional<Package> Store::find_by_h1(std::string_view h1) const {
  for (const std::string& modes : modes_below(package_directory(), h1)) {
    if (auto package = find_content(h1, modes)) {
      return package;
    }
  }
  return std::nullopt;
}

Result<Package> Store::admit(const Source& source, FetchedTree tree, const Context& context) const {
  MODLOCK_TRY(const auto entries, list_tree(tree.directory));
  MODLOCK_TRY(refuse_override(entries));
  MODLOCK_TRY(auto h1, summarise_entries(entries, tree.digests, context).map([](const TreeSummary& summary) {
    return summary.h1();
  }));
  const std::string modes = hash_modes(entries);
  auto known = find_content(h1, modes);
  const bool was_known = known.has_value();
  MODLOCK_TRY(const auto intact, load_intact_package(*this, std::move(known), context));
  if (intact) {
    // It is no longer needed, but a failure to remove it is no error.
    (void)remove_tree(tree.directory);
  } else if (auto ok = move_in(tree.directory, package_directory(h1, modes)); !ok) {
    return fail(ok.error());
  } else if (was_known) {
    tree.warnings.push_back(damage_warning(source));
  }
  Package package{.id = std::move(tree.id),
                  .h1 = h1,
                  .modes = modes,
                  .directory = package_directory(h1, modes) / "tree",
                  .warnings = std::move(tree.warnings),
                  .ref = std::move(tree.ref),
                  .subdir = std::move(tree.subdir),
                  .package = std::move(tree.package),
                  .claimed = tree.claimed,
                  .validator = std::move(tree.validator)};
  MODLOCK_TRY(record(source, package));
  return package;
}

// Makes the package appear complete, by renaming a directory that already contains its tree.
Result<void> Store::move_in(const fs::path& tree, const fs::path& target) const {
  MODLOCK_TRY(make(target.parent_path()));
  MODLOCK_TRY(const auto staging, make_temporary());
  const auto give_up = [&](tl::unexpected<Error> failure) -> Result<void> {
    (void)remove_tree(staging);
    return failure;
  };
  const bool moved = ::rename(tree.c_str(), (staging / "tree").c_str()) == 0;
  if (!moved && errno != EXDEV) {
    return give_up(system_failure("move into the cache", tree, errno));
  }
  if (!moved) {
    if (auto ok = copy_tree(tree, staging / "tree"); !ok) {
      return give_up(fail(ok.error()));
    }
  }
  int reason = ::rename(staging.c_str(), target.c_str()) == 0 ? 0 : errno;
  if ((reason == EEXIST || reason == ENOTEMPTY) && !path_is_directory(target / "tree")) {
    // An interrupted removal may have left an incomplete package there.
    (void)remove_tree(target);
    reason = ::rename(staging.c_str(), target.c_str()) == 0 ? 0 : errno;
  }
  if (reason != 0 && !path_is_directory(target / "tree")) {
    if (moved) {
      (void)::rename((staging / "tree").c_str(), tree.c_str());
    }
    return give_up(system_failure("move into the cache", target, reason));
  }
  // If another process was first, its tree has the same content and this one is removed.
  (void)remove_tree(staging);
  if (!moved) {
    (void)remove_tree(tree);
  }
  return {};
}

Result<void> Store::record(const Source& source, const Package& package) const {
  if (!is_recordable(package.id)) {
    return fail(Code::internal, fmt::format("a package cannot be recorded in the cache under an id of {} characters",
                                            package.id.size()));
  }
  const fs::path path = record_of(source, package.id, package.ref, claims_);
  MODLOCK_TRY(make(path.parent_path()));
  Json::Value object(Json::objectValue);
  object["source"] = source.package_identity();
  object["id"] = package.id;
  object["h1"] = package.h1;
  object["modes"] = package.modes;
  for (const auto& [name, text] :
       {std::pair("ref", &package.ref), std::pair("subdir", &package.subdir), std::pair("package", &package.package),
        std::pair("validator", &package.validator), std::pair("by", &claims_)}) {
    if (!text->empty()) {
      object[name] = *text;
    }
  }
  if (package.claimed) {
    object["claimed"] = time_text(*package.claimed);
  }
  // Not flushed: a record that a power failure destroys is treated as absent.
  return write_file_atomically(path, write_json(object) + "\n", Durable::no);
}

std::optional<Package> Store::find_proven(std::string_view origin, std::string_view h1, const Context& context) const {
  const std::string key = proven_key(origin, h1);
  for (const std::string& modes : modes_below(proven_directory(), key)) {
    Package package{.id = {},
                    .h1 = std::string(h1),
                    .modes = modes,
                    .directory = proven_directory() / content_key(key, modes) / "tree"};
    if (auto intact = load_intact_package(*this, std::move(package), context); intact && *intact) {
      note_use((*intact)->directory.parent_path());
      return std::move(*intact);
    }
  }
  return std::nullopt;
}

Result<Package> Store::admit_proven(const fs::path& tree, std::string_view origin, std::string_view h1,
                                    std::string_view modes) const {
  MODLOCK_TRY(const auto entries, list_tree(tree));
  MODLOCK_TRY(refuse_override(entries));
  const fs::path directory = proven_directory() / content_key(proven_key(origin, h1), modes);
  MODLOCK_TRY(move_in(tree, directory));
  note_use(directory);
  return Package{.id = {}, .h1 = std::string(h1), .modes = std::string(modes), .directory = directory / "tree"};
}

void Store::note_claim(const Package& package, std::string_view source, std::string_view by) const {
  for (const std::string_view one : {by, std::string_view()}) {
    if (const fs::path claim = claim_of(package, source, one); make_directories(claim.parent_path())) {
      (void)write_file_atomically(claim, fmt::format("{} {}\n", source, one), Durable::no);
    }
  }
}

bool Store::is_claimed(const Package& package, std::string_view source, std::string_view by) const {
  return path_exists(claim_of(package, source, by));
}

void Store::drop(const Package& package) const {
  const fs::path directory = package.directory.parent_path();
  if (directory.parent_path() == package_directory() || directory.parent_path() == proven_directory()) {
    (void)remove_at_once(directory);
  }
}

Result<void> Store::remove_at_once(const fs::path& directory) const {
  MODLOCK_TRY(const auto aside, make_temporary());
  std::error_code error;
  fs::rename(directory, aside / "removed", error);
  if (error && error != std::errc::no_such_file_or_directory) {
    (void)remove_tree(aside);
    return system_failure("remove", directory, error.value());
  }
  return remove_tree(aside);
}

bool IntactPackages::has(const Package& package) {
  const std::lock_guard lock(mutex_);
  return known_.count({package.directory, package.h1, package.modes}) != 0;
}

void IntactPackages::add(const Package& package) {
  const std::lock_guard lock(mutex_);
  known_.insert({package.directory, package.h1, package.modes});
}

bool is_intact(const Store& store, const Package& package, const Context& context) {
  return hash_installed(store, package.directory, {.modes = package.modes}, context).value_or("") == package.h1;
}

Result<std::optional<Package>> load_intact_package(const Store& store, std::optional<Package> found,
                                                   const Context& context) {
  if (!found || (context.intact != nullptr && context.intact->has(*found))) {
    return found;
  }
  auto h1 = hash_installed(store, found->directory, {.modes = found->modes}, context);
  if (h1 && *h1 == found->h1) {
    if (context.intact != nullptr) {
      context.intact->add(*found);
    }
    return found;
  }
  if (!context.check()) {
    return found;
  }
  // Another process may have removed the package.
  if (!h1 && h1.error().code == Code::io_error && path_is_directory(found->directory)) {
    return fail(std::move(h1.error()));
  }
  store.drop(*found);
  return std::nullopt;
}

Diagnostic damage_warning(const Source& source) {
  return {Severity::warning,
          Error{.code = Code::hash_mismatch,
                .message = fmt::format("the cached package of {} was damaged: it has been fetched again",
                                       source.package_identity()),
                .hint = "find out what writes into the cache; only tofu-modlock should"}};
}

fs::path default_store_root() {
  const fs::path caches = xdg_directory("XDG_CACHE_HOME", ".cache");
  return caches.empty() ? caches : caches / "tofu-modlock";
}

}  // namespace modlock
