#include "backends/git/repository.h"

#include <fmt/format.h>

#include <system_error>
#include <vector>

#include "backends/crypto/digest.h"
#include "backends/files/files.h"
#include "backends/git/git_command.h"
#include "backends/git/remote.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCommits = "refs/modlock/commits/";
constexpr std::string_view kSubmodules = "refs/modlock/submodules/";
constexpr std::string_view kIncoming = "refs/modlock/incoming/";
constexpr std::string_view kLockFile = "modlock-guard";
constexpr std::string_view kSide = "history-";

fs::path directory_of(const fs::path& cache_directory, std::string_view identity) {
  return cache_directory / sha256_hex(identity);
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// A git that was killed leaves its lock files, which the next git would take for a running one's (nobody runs now), and
// a FETCH_HEAD, which holds whole URLs; we leave side repositories.
void remove_leftovers(const fs::path& repository) {
  std::error_code ignored;
  std::vector<fs::path> leftovers;
  const auto collect = [&](const fs::path& directory, auto is_leftover) {
    for (fs::recursive_directory_iterator at(directory, ignored), end; at != end; at.increment(ignored)) {
      if (is_leftover(at->path().filename().string())) {
        leftovers.push_back(at->path());
      }
    }
  };
  const auto is_lock = [](const std::string& name) {
    return name.size() > 5 && name.substr(name.size() - 5) == ".lock";
  };
  for (const char* name : {"shallow.lock", "packed-refs.lock", "config.lock", "HEAD.lock", "FETCH_HEAD"}) {
    leftovers.push_back(repository / name);
  }
  collect(repository / "refs", is_lock);
  collect(repository / "objects" / "pack", [](const std::string& name) { return starts_with(name, "tmp_"); });
  for (const fs::path& path : leftovers) {
    fs::remove(path, ignored);
  }
  leftovers.clear();
  for (fs::directory_iterator at(repository, ignored), end; at != end; at.increment(ignored)) {
    if (starts_with(at->path().filename().string(), kSide)) {
      leftovers.push_back(at->path());
    }
  }
  for (const fs::path& path : leftovers) {
    (void)remove_tree(path);  // in nobody's way
  }
}

void remove_contents(const fs::path& repository) {
  std::error_code ignored;
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(repository, ignored), end; at != end; at.increment(ignored)) {
    if (at->path().filename() != kLockFile) {
      entries.push_back(at->path());
    }
  }
  for (const fs::path& entry : entries) {
    (void)remove_tree(entry);  // What stays makes the next step fail, with its reason.
  }
}

}  // namespace

Result<void> make_bare_repository(const fs::path& path, std::string_view display, const Context& context) {
  // Named by the argument, not by GIT_DIR, for with that variable git asks whether the repository is bare.
  Command command = local_command(path, {"init", "--quiet", "--bare", "--template=", "--", path.string()});
  command.set_environment.erase("GIT_DIR");
  if (auto made = run_local(command, "make a repository for", display, context); !made) {
    return fail(std::move(made.error()));
  }
  return {};
}

Result<Repository> Repository::open(const fs::path& cache_directory, std::string_view identity,
                                    const Context& context) {
  fs::path path = directory_of(cache_directory, identity);
  if (auto made = make_directories(path); !made) {
    return fail(std::move(made.error()));
  }
  auto lock = FileLock::acquire(path / kLockFile, context);
  if (!lock) {
    return fail(std::move(lock.error()));
  }
  std::error_code ignored;
  if (fs::exists(path / "HEAD", ignored)) {
    if (auto objects = ObjectReader::open(path)) {
      remove_leftovers(path);
      return Repository(std::move(path), std::move(*lock), std::move(*objects));
    }
  }
  remove_contents(path);
  if (auto made = make_bare_repository(path, identity, context); !made) {
    return fail(std::move(made.error()));
  }
  auto objects = ObjectReader::open(path);
  if (!objects) {
    return fail(std::move(objects.error()));
  }
  return Repository(std::move(path), std::move(*lock), std::move(*objects));
}

bool Repository::exists(const fs::path& cache_directory, std::string_view identity) {
  std::error_code ignored;
  return fs::exists(directory_of(cache_directory, identity) / "HEAD", ignored);
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

void Repository::clear_incoming() const {
  objects_.delete_references(std::string(kIncoming));
}

}  // namespace modlock::git
