#include "backends/git/repository.h"

#include <algorithm>

#include <system_error>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/git/git_error.h"
#include "backends/git/wire.h"
#include "protocol/base/result.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCommits = "refs/modlock/commits/";
constexpr std::string_view kSubmodules = "refs/modlock/submodules/";
constexpr std::string_view kIncoming = "refs/modlock/incoming/";
constexpr std::string_view kLockFile = "modlock-guard";
constexpr std::string_view kSide = "history-";

// Returns the entries of a directory whose names fit.
template <typename Fits>
std::vector<fs::path> entries_of(const fs::path& directory, const Fits& fits) {
  std::error_code ignored;
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(directory, ignored), end; at != end; at.increment(ignored)) {
    if (fits(at->path().filename().string())) {
      entries.push_back(at->path());
    }
  }
  return entries;
}

// Removes leftovers of killed processes: git's lock files, which the next git would attribute to a running one (there
// is none now), its FETCH_HEAD, which has whole URLs, and our side repositories and partial packs.
void remove_leftovers(const fs::path& repository) {
  std::error_code ignored;
  std::vector<fs::path> locks;
  for (fs::recursive_directory_iterator at(repository / "refs", ignored), end; at != end; at.increment(ignored)) {
    if (at->path().extension() == ".lock") {
      locks.push_back(at->path());
    }
  }
  for (const fs::path& path : locks) {
    fs::remove(path, ignored);
  }
  (void)remove_partial_packs(repository);
  for (const fs::path& path : entries_of(repository, [](const std::string& name) {
         return name == "shallow.lock" || name == "packed-refs.lock" || name == "config.lock" || name == "HEAD.lock" ||
                name == "FETCH_HEAD" || name.starts_with(kSide) || name.starts_with(kArriving);
       })) {
    (void)remove_tree(path);  // a remaining file is harmless
  }
}

void remove_contents(const fs::path& repository) {
  for (const fs::path& entry :
       entries_of(repository, [](const std::string& name) { return name != kLockFile && name != kEndpointFile; })) {
    (void)remove_tree(entry);  // If an entry remains, the next step fails with the reason.
  }
}

}  // namespace

std::uintmax_t remove_partial_packs(const fs::path& repository) {
  std::error_code ignored;
  std::uintmax_t largest = 0;
  for (const fs::path& path : entries_of(repository / "objects" / "pack", [](const std::string& name) {
         return name.starts_with("tmp_") || name.starts_with("pack_");
       })) {
    const std::uintmax_t size = fs::file_size(path, ignored);
    largest = ignored ? largest : std::max(largest, size);
    fs::remove(path, ignored);
  }
  return largest;
}

Result<void> make_bare_repository(const fs::path& path) {
  for (const char* directory : {"objects/info", "objects/pack", "refs/heads", "refs/tags"}) {
    MODLOCK_TRY(make_directories(path / directory));
  }
  auto written = write_file_atomically(
      path / "config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n", Durable::no);
  // HEAD makes the directory a repository, so it is written last.
  return written ? write_file_atomically(path / "HEAD", "ref: refs/heads/main\n", Durable::no) : written;
}

Result<Repository> Repository::open(const fs::path& cache_directory, std::string_view identity,
                                    const Context& context) {
  fs::path path = cache_directory / sha256_hex(identity);
  if (context.offline && !path_exists(path / "HEAD")) {
    return fail(not_in_cache(identity));
  }
  MODLOCK_TRY(make_directories(path));
  MODLOCK_TRY(auto lock, FileLock::acquire(path / kLockFile, context));
  if (path_exists(path / "HEAD")) {
    if (auto objects = ObjectReader::open(path)) {
      remove_leftovers(path);
      return Repository(std::move(path), std::move(lock), std::move(*objects), true);
    }
  }
  return make(std::move(path), std::move(lock));
}

Result<Repository> Repository::empty(Repository damaged) {
  return make(std::move(damaged.path_), std::move(damaged.lock_));
}

Result<Repository> Repository::make(fs::path path, FileLock lock) {
  remove_contents(path);
  MODLOCK_TRY(make_bare_repository(path));
  MODLOCK_TRY(auto objects, ObjectReader::open(path));
  return Repository(std::move(path), std::move(lock), std::move(objects), false);
}

bool Repository::has_commit(const std::string& id) const {
  const auto peeled = objects_.peel(std::string(kCommits) + id);
  return peeled && peeled->id == id;
}

Result<void> Repository::accept(const std::string& id) const {
  return objects_.set_reference(std::string(kCommits) + id, id);
}

bool Repository::has_submodule(const std::string& id) const {
  const auto peeled = objects_.peel(std::string(kSubmodules) + id);
  return (peeled && peeled->id == id) || has_commit(id);
}

Result<void> Repository::keep_submodule(const std::string& id) const {
  return objects_.set_reference(std::string(kSubmodules) + id, id);
}

fs::path Repository::make_side_path() const {
  return path_ / (std::string(kSide) + random_hex(8));
}

std::string Repository::incoming(std::size_t number) {
  return std::string(kIncoming) + std::to_string(number);
}

// git treats a commit with missing parents as broken unless `shallow` names it.
Result<void> Repository::note_cut_histories(const std::vector<std::string>& ids) const {
  const auto before = read_file(path_ / "shallow");
  if (!before && before.error().code != Code::not_found) {
    return fail(before.error());
  }
  std::string lines = before ? *before : "";
  for (const std::string& id : ids) {
    const auto commit = objects_.peel_object(id);
    if (commit && objects_.has_parents(commit->id) && lines.find(commit->id) == std::string::npos) {
      lines += commit->id + "\n";
    }
  }
  const bool is_same = lines.empty() || (before && lines == *before);
  return is_same ? Result<void>() : write_file_atomically(path_ / "shallow", lines, Durable::no);
}

Result<void> Repository::keep_incoming(const std::vector<std::string>& ids) const {
  MODLOCK_TRY(note_cut_histories(ids));
  clear_incoming();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    MODLOCK_TRY(objects_.set_reference(incoming(i), ids[i]));
  }
  return {};
}

void Repository::clear_incoming() const {
  objects_.delete_references(std::string(kIncoming));
}

}  // namespace modlock::git
