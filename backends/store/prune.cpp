#include "backends/store/prune.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "backends/base/files.h"
#include "backends/store/links.h"
#include "backends/store/work_directory.h"
#include "protocol/base/json.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::minutes;

constexpr std::string_view kUseMark = "used";
constexpr minutes kUseStep{10};
constexpr hours kInUse{1};
constexpr hours kUnfinished{24};

enum class Kind { package, repository, record };

struct CacheEntry {
  Kind kind;
  fs::path path;
  fs::file_time_type used;
  std::uint64_t bytes = 0;
};

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

bool is_gone(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
}

// Adds a thing to the sizes of its kind.
void add_to(messages::CacheSizes& sizes, const CacheEntry& thing) {
  using Sizes = messages::CacheSizes;
  constexpr std::array kOfKind = {std::pair(&Sizes::packages, &Sizes::package_bytes),
                                  std::pair(&Sizes::repositories, &Sizes::repository_bytes),
                                  std::pair(&Sizes::records, &Sizes::record_bytes)};
  const auto [things, bytes] = kOfKind.at(static_cast<std::size_t>(thing.kind));
  ++(sizes.*things);
  sizes.*bytes += thing.bytes;
}

// Returns when a thing was used last: the time of its mark, else the newest time of the entries directly in it (git
// writes there).
fs::file_time_type last_use(const fs::path& thing) {
  std::error_code error;
  const fs::file_time_type marked = fs::last_write_time(thing / kUseMark, error);
  if (!error) {
    return marked;
  }
  fs::file_time_type newest = fs::last_write_time(thing, error);
  for (fs::directory_iterator at(thing, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (const auto written = at->last_write_time(gone); !gone) {
      newest = std::max(newest, written);
    }
  }
  return newest;
}

// Returns what prune() removes by its limits.
Result<std::vector<CacheEntry>> things_in(const Store& store, const Context& context) {
  std::vector<CacheEntry> things;
  const auto collect = [&](Kind kind, const fs::path& directory) -> Result<void> {
    MODLOCK_TRY(const auto paths, list_directory(directory));
    for (const fs::path& path : paths) {
      MODLOCK_TRY(context.check());
      std::error_code error;
      if (kind == Kind::record &&
          (is_hidden(path) || fs::symlink_status(path, error).type() != fs::file_type::regular)) {
        continue;
      }
      MODLOCK_TRY(const auto bytes, kind == Kind::record ? fs::file_size(path, error) : bytes_below(path));
      if (!error) {
        things.push_back({kind, path, last_use(path), bytes});
      }
    }
    return {};
  };
  MODLOCK_TRY(collect(Kind::package, store.package_directory()));
  MODLOCK_TRY(collect(Kind::package, store.proven_directory()));
  MODLOCK_TRY(collect(Kind::repository, store.git_directory()));
  for (const fs::path& directory : store.record_directories()) {
    MODLOCK_TRY(collect(Kind::record, directory));
  }
  return things;
}

class Pruning {
 public:
  Pruning(const Store& store, const PruneLimits& limits, const Context& context, fs::file_time_type now)
      : store_(store), limits_(limits), context_(context), now_(now) {}

  Result<PruneReport> run() {
    MODLOCK_TRY(remove_unfinished());
    MODLOCK_TRY(remove_older_layout());
    MODLOCK_TRY(linked_, recorded_links(store_, now_));
    MODLOCK_TRY(auto things, things_in(store_, context_));
    MODLOCK_TRY(remove_things(std::move(things)));
    MODLOCK_TRY(remove_identities());
    return report_;
  }

 private:
  // The least recently used first.
  Result<void> remove_things(std::vector<CacheEntry> things) {
    std::ranges::sort(things, {}, &CacheEntry::used);
    std::uint64_t total = 0;
    for (const CacheEntry& thing : things) {
      total += thing.bytes;
    }
    for (const CacheEntry& thing : things) {
      const bool too_old = limits_.max_age && now_ - thing.used > *limits_.max_age;
      const bool too_much = limits_.max_bytes && total > *limits_.max_bytes;
      if ((!too_old && !too_much) || now_ - thing.used < kInUse || is_linked(thing)) {
        continue;
      }
      MODLOCK_TRY(context_.check());
      MODLOCK_TRY(thing.kind == Kind::record ? remove_tree(thing.path) : store_.remove_at_once(thing.path));
      total -= thing.bytes;
      add_to(report_.removed, thing);
    }
    return {};
  }

  // An installation may have found the package, and recorded its link, since the things were collected.
  bool is_linked(const CacheEntry& thing) const {
    return thing.kind == Kind::package &&
           (linked_.count(thing.path.filename().string()) != 0 || now_ - last_use(thing.path) < kInUse);
  }

  // Whether the last write is so old that no process can still be working on it.
  bool is_abandoned(const fs::path& path) const {
    std::error_code error;
    const auto written = fs::last_write_time(path, error);
    return !error && now_ - written > kUnfinished;
  }

  // An unfinished file of write_file_atomically().
  bool is_unfinished_write(const fs::path& path) const { return is_hidden(path) && is_abandoned(path); }

  Result<void> remove_unfinished() {
    const auto abandoned = [this](const fs::path& path) { return is_abandoned(path); };
    report_.leftovers += remove_abandoned_work(store_.temporary_directory(), &report_.removed.unfinished_bytes);
    MODLOCK_TRY(remove_each(store_.temporary_directory(),
                            [&](const fs::path& path) { return !path_is_directory(path) && is_abandoned(path); }));
    MODLOCK_TRY(remove_each(store_.answer_directory(), abandoned));
    std::vector<fs::path> directories = store_.record_directories();
    directories.push_back(store_.seen_directory());
    std::ranges::copy(store_.installed_directories(), std::back_inserter(directories));
    for (const fs::path& directory : directories) {
      MODLOCK_TRY(remove_each(directory, [this](const fs::path& path) { return is_unfinished_write(path); }));
    }
    return {};
  }

  Result<void> remove_older_layout() {
    std::error_code error;
    if (!fs::exists(fs::symlink_status(store_.older_layout(), error))) {
      return {};
    }
    ++report_.leftovers;
    return store_.remove_at_once(store_.older_layout());
  }

  // Removes those whose package no longer exists.
  Result<void> remove_identities() {
    MODLOCK_TRY(const auto sources, list_directory(store_.identity_directory()));
    for (const fs::path& source : sources) {
      MODLOCK_TRY(remove_each(source, [this](const fs::path& record) {
        if (is_unfinished_write(record)) {
          return true;
        }
        const auto text = read_file(record);
        const auto object = text.and_then([](const std::string& bytes) { return parse_json(bytes); });
        const auto text_of = [&](const char* member) {
          return object ? string_member(*object, member).value_or("") : std::string();
        };
        return !path_exists(store_.package_directory(text_of("h1"), text_of("modes")));
      }));
      std::error_code ignored;
      fs::remove(source, ignored);  // succeeds only if it is empty
    }
    return {};
  }

  template <typename Predicate>
  Result<void> remove_each(const fs::path& directory, const Predicate& is_leftover) {
    MODLOCK_TRY(const auto paths, list_directory(directory));
    for (const fs::path& path : paths) {
      MODLOCK_TRY(context_.check());
      if (!is_leftover(path)) {
        continue;
      }
      MODLOCK_TRY(remove_tree(path));
      ++report_.leftovers;
    }
    return {};
  }

  const Store& store_;
  const PruneLimits& limits_;
  const Context& context_;
  fs::file_time_type now_;
  std::set<std::string> linked_;  // names of packages
  PruneReport report_;
};

}  // namespace

Result<std::vector<fs::path>> list_directory(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    paths.push_back(at->path());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return system_failure("read the directory", directory, error.value());
  }
  std::ranges::sort(paths);
  return paths;
}

Result<std::uint64_t> bytes_below(const fs::path& directory) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code entry_error;
    const fs::file_type type = at->symlink_status(entry_error).type();
    if (type == fs::file_type::directory) {
      MODLOCK_TRY(const auto inside, bytes_below(at->path()));
      bytes += inside;
    } else if (type == fs::file_type::regular) {
      const std::uintmax_t size = at->file_size(entry_error);
      bytes += entry_error ? 0 : size;
    }
  }
  return !error || is_gone(error) ? Result<std::uint64_t>(bytes)
                                  : system_failure("read the directory", directory, error.value());
}

Result<messages::CacheSizes> measure(const Store& store) {
  messages::CacheSizes sizes;
  MODLOCK_TRY(const auto things, things_in(store, {}));
  for (const CacheEntry& thing : things) {
    add_to(sizes, thing);
  }
  MODLOCK_TRY(sizes.unfinished_bytes, bytes_below(store.temporary_directory()));
  return sizes;
}

Result<PruneReport> prune(const Store& store, const PruneLimits& limits, const Context& context,
                          fs::file_time_type now) {
  return Pruning(store, limits, context, now).run();
}

void note_use(const fs::path& thing) {
  if (const fs::path mark = thing / kUseMark; !touch(mark)) {
    (void)write_file_atomically(mark, "", Durable::no);
  }
}

bool touch(const fs::path& file) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  const auto touched = fs::last_write_time(file, error);
  const bool is_there = !error;
  if (is_there && (now - touched > kUseStep || touched > now)) {
    fs::last_write_time(file, now, error);
  }
  return is_there;
}

}  // namespace modlock
