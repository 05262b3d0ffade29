#include "backends/git/objects.h"

#include <fmt/format.h>
#include <git2.h>
#include <git2/sys/mempack.h>
#include <git2/sys/path.h>
#if __has_include(<git2/sys/errors.h>)
#include <git2/sys/errors.h>
#endif

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <unordered_set>

#include "backends/base/ascii.h"
#include "backends/base/deleter.h"
#include "backends/base/entry_name.h"
#include "backends/git/library.h"
#include "backends/package/unpack.h"

namespace modlock::git {
namespace {

constexpr std::size_t kLongestName = 255;
constexpr std::size_t kLongestPath = 4000;  // leaves room below PATH_MAX

constexpr std::size_t kLargestPointer = 1024;  // bytes, by the specification of Git LFS
constexpr std::string_view kPointerStart = "version https://git-lfs.github.com/spec/v1\n";
constexpr std::string_view kOverrideName = "modlock_override.tf";
constexpr UnpackLimits kLimits{};  // nested trees that name a tree many times grow without bound

using Object = std::unique_ptr<git_object, Deleter<git_object_free>>;
using Commit = std::unique_ptr<git_commit, Deleter<git_commit_free>>;
using Tree = std::unique_ptr<git_tree, Deleter<git_tree_free>>;
using Blob = std::unique_ptr<git_blob, Deleter<git_blob_free>>;
using Database = std::unique_ptr<git_odb, Deleter<git_odb_free>>;

// Whether the last object was complete, because its id matched, but is not a valid tree.
bool is_malformed_tree() {
  const git_error* last = git_error_last();
  return last != nullptr && last->klass == GIT_ERROR_TREE;
}

tl::unexpected<Error> broken(git_repository* repository) {
  if (git_repository_path(repository) == nullptr) {
    return fail(Code::source_invalid, fmt::format("an object of git is missing or damaged: {}", library_reason()));
  }
  return fail(
      Code::io_error,
      fmt::format("the cached repository \"{}\" cannot be read: {}", git_repository_path(repository), library_reason()),
      "remove that directory: it is created again");
}

std::string text_of(const git_oid& id) {
  std::string text(GIT_OID_HEXSZ, '\0');
  git_oid_fmt(text.data(), &id);
  return text;
}

std::string_view content(const git_blob* blob) {
  return {static_cast<const char*>(git_blob_rawcontent(blob)), static_cast<std::size_t>(git_blob_rawsize(blob))};
}

Blob load_blob(git_repository* repository, const git_oid& id) {
  git_blob* blob = nullptr;
  return git_blob_lookup(&blob, repository, &id) == 0 ? Blob(blob) : Blob();
}

// The results of one walk over a tree.
struct Walk {
  TreeFacts facts;
  std::vector<git_oid> attributes;
  std::unordered_set<std::string> paths;
  std::uint64_t name_bytes = 0;
};

// Whether the entry has a kind that every git writes. Only git itself may know the meaning of other modes.
bool is_usual_mode(const git_tree_entry* entry) {
  constexpr unsigned kTypeBits = 0170000U;
  const unsigned type = static_cast<unsigned>(git_tree_entry_filemode_raw(entry)) & kTypeBits;
  return type == (GIT_FILEMODE_BLOB & kTypeBits) || type == GIT_FILEMODE_LINK || type == GIT_FILEMODE_TREE ||
         type == GIT_FILEMODE_COMMIT;
}

TreeFile::Kind kind_of(const git_tree_entry* entry) {
  const git_filemode_t mode = git_tree_entry_filemode(entry);
  return mode == GIT_FILEMODE_LINK              ? TreeFile::Kind::link
         : mode == GIT_FILEMODE_BLOB_EXECUTABLE ? TreeFile::Kind::executable
                                                : TreeFile::Kind::plain;
}

int visit(const char* root, const git_tree_entry* entry, void* payload) {
  Walk& walk = *static_cast<Walk*>(payload);
  const std::string_view name = git_tree_entry_name(entry);
  const std::string path = root + std::string(name);
  const git_object_t type = git_tree_entry_type(entry);
  std::string_view fault = entry_fault(path, name, git_tree_entry_filemode(entry) == GIT_FILEMODE_LINK);
  if (fault.empty() && !walk.paths.insert(path).second) {
    fault = "which its tree names twice";
  }
  if (!fault.empty()) {
    walk.facts.hostile = HostileEntry{path, fault};
    return GIT_EUSER;  // ends the walk
  }
  walk.name_bytes += path.size();
  if (walk.paths.size() > kLimits.entries || walk.name_bytes > kLimits.name_bytes) {
    walk.facts.hostile = HostileEntry{path,
                                      walk.paths.size() > kLimits.entries ? "which is one more than the 200000 allowed"
                                                                          : "which takes the names over 64 MiB",
                                      Code::limit_exceeded};
    return GIT_EUSER;
  }
  walk.facts.is_literal = walk.facts.is_literal && is_usual_mode(entry);
  if (type == GIT_OBJECT_COMMIT) {
    walk.facts.submodules.push_back({path, text_of(*git_tree_entry_id(entry))});
  }
  if (type == GIT_OBJECT_BLOB) {
    if (name == kOverrideName) {
      walk.facts.own_overrides.push_back(path);
    }
    if (name == ".gitattributes") {
      walk.attributes.push_back(*git_tree_entry_id(entry));
    }
    walk.facts.files.push_back({path, text_of(*git_tree_entry_id(entry)), kind_of(entry)});
  }
  return 0;
}

bool attributes_hold(git_repository* repository, const Walk& walk, std::string_view word) {
  return std::ranges::any_of(walk.attributes, [&](const git_oid& id) {
    const Blob blob = load_blob(repository, id);
    return blob && content(blob.get()).find(word) != std::string_view::npos;
  });
}

// Whether an attribute makes a checkout change the bytes of a blob without any configuration. Line endings already are
// those of this system, and filters need a program that is not configured.
bool attributes_convert(git_repository* repository, const Walk& walk) {
  constexpr std::array<std::string_view, 3> kConverting = {"eol=crlf", "ident", "working-tree-encoding"};
  return std::ranges::any_of(kConverting,
                             [&](std::string_view word) { return attributes_hold(repository, walk, word); });
}

Database open_database(git_repository* repository) {
  git_odb* database = nullptr;
  return git_repository_odb(&database, repository) == 0 ? Database(database) : Database();
}

struct OidHash {
  std::size_t operator()(const git_oid& id) const {
    std::size_t start = 0;
    std::memcpy(&start, id.id, sizeof(start));
    return start;
  }
};
struct OidEqual {
  bool operator()(const git_oid& left, const git_oid& right) const { return git_oid_equal(&left, &right) != 0; }
};

// Returns false if a blob is missing.
bool add_sizes(git_repository* repository, TreeFacts& facts) {
  const Database database = open_database(repository);
  std::unordered_set<git_oid, OidHash, OidEqual> seen;
  for (TreeFile& file : facts.files) {
    git_oid id;
    std::size_t size = 0;
    git_object_t type = GIT_OBJECT_INVALID;
    if (!database || git_oid_fromstr(&id, file.id.c_str()) != 0 ||
        git_odb_read_header(&size, &type, database.get(), &id) != 0) {
      return false;
    }
    file.size = size;
    facts.bytes += size;
    facts.distinct_bytes += seen.insert(id).second ? size : 0;
  }
  return true;
}

void find_pointers(git_repository* repository, Walk& walk) {
  for (const TreeFile& file : walk.facts.files) {
    git_oid id;
    if (file.size > kLargestPointer || git_oid_fromstr(&id, file.id.c_str()) != 0) {
      continue;
    }
    const Blob blob = load_blob(repository, id);
    if (blob && content(blob.get()).substr(0, kPointerStart.size()) == kPointerStart) {
      walk.facts.lfs_pointers.push_back(file.path);
    }
  }
}

Commit load_commit(git_repository* repository, const std::string& id) {
  git_oid oid;
  git_commit* commit = nullptr;
  if (git_oid_fromstr(&oid, id.c_str()) != 0 || git_commit_lookup(&commit, repository, &oid) != 0) {
    return {};
  }
  return Commit(commit);
}

tl::unexpected<Error> too_many_objects() {
  return fail(Code::limit_exceeded,
              fmt::format("the trees of a commit have more than {} bytes or {} objects", kObjectBytes, kObjectCount));
}

// Reads the entries of a commit's tree. A hostile one ends the walk.
Result<Walk> walk_tree(git_repository* repository, const std::string& commit) {
  const Commit loaded = load_commit(repository, commit);
  git_tree* raw = nullptr;
  if (!loaded) {
    return broken(repository);
  }
  Walk walk;
  git_error_clear();
  int ended = git_commit_tree(&raw, loaded.get());
  const Tree tree(raw);
  if (ended == 0) {
    ended = git_tree_walk(tree.get(), GIT_TREEWALK_PRE, visit, &walk);
  }
  if (ended != 0 && !walk.facts.hostile && is_malformed_tree()) {
    walk.facts.hostile = HostileEntry{"", "an entry that cannot be read"};
  }
  if (ended != 0 && !walk.facts.hostile) {
    return broken(repository);
  }
  walk.facts.entries = walk.paths.size();
  return walk;
}

// Removes one object of commit_and_trees() from the front of the text, and adds it to a database.
bool take_object(std::string_view& text, git_odb* database) {
  const std::size_t space = text.find(' ');
  const std::size_t end = text.find('\0');
  if (space == std::string_view::npos || end == std::string_view::npos || space > end) {
    return false;
  }
  const std::string type(text.substr(0, space));
  std::size_t size = 0;
  const auto [stopped, error] = std::from_chars(text.data() + space + 1, text.data() + end, size);
  if ((type != "commit" && type != "tree") || error != std::errc() || stopped != text.data() + end ||
      size > text.size() - end - 1) {
    return false;
  }
  git_oid id;
  const bool is_added =
      git_odb_write(&id, database, text.data() + end + 1, size, git_object_string2type(type.c_str())) == 0;
  text.remove_prefix(end + 1 + size);
  return is_added;
}

// Whether all trees below this one and all their blobs are present. Each is checked once, however often it is named.
bool holds_all(git_repository* repository, const git_oid& top) {
  const Database database = open_database(repository);
  std::unordered_set<git_oid, OidHash, OidEqual> seen = {top};
  std::vector<git_oid> pending = {top};
  while (database && !pending.empty()) {
    git_tree* raw = nullptr;
    if (git_tree_lookup(&raw, repository, &pending.back()) != 0) {
      return is_malformed_tree();  // the next step reports the error
    }
    const Tree tree(raw);
    pending.pop_back();
    for (std::size_t i = 0; i < git_tree_entrycount(tree.get()); ++i) {
      const git_tree_entry* entry = git_tree_entry_byindex(tree.get(), i);
      const git_object_t type = git_tree_entry_type(entry);
      if (type == GIT_OBJECT_COMMIT || !seen.insert(*git_tree_entry_id(entry)).second) {
        continue;
      }
      if (type == GIT_OBJECT_TREE) {
        pending.push_back(*git_tree_entry_id(entry));
      } else if (git_odb_exists(database.get(), git_tree_entry_id(entry)) != 1) {
        return false;
      }
    }
  }
  return database != nullptr;
}

}  // namespace

std::string_view entry_fault(std::string_view path, std::string_view name, bool is_link) {
  constexpr std::string_view kForbidden = "which no checkout may write";
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string_view::npos || is_git_entry(name) ||
      disguised_name(name)) {
    return kForbidden;
  }
  if (is_link && git_path_is_gitfile(name.data(), name.size(), GIT_PATH_GITFILE_GITMODULES, GIT_PATH_FS_GENERIC) != 0) {
    return kForbidden;
  }
  if (name.size() > kLongestName) {
    return "whose name is longer than 255 bytes";
  }
  return path.size() > kLongestPath ? "whose path is longer than 4000 bytes" : "";
}

void ObjectReader::Release::operator()(git_repository* repository) const {
  git_repository_free(repository);
}

Result<ObjectReader> ObjectReader::open(const std::filesystem::path& repository) {
  start_library();
  git_repository* opened = nullptr;
  if (git_repository_open_bare(&opened, repository.c_str()) != 0) {
    return fail(Code::io_error,
                fmt::format("the cached repository \"{}\" cannot be read: {}", repository.string(), library_reason()),
                "remove that directory: it is created again");
  }
  return ObjectReader(opened);
}

Result<ObjectReader> ObjectReader::of_objects(std::string_view objects) {
  start_library();
  if (objects.size() > kObjectBytes) {
    return too_many_objects();
  }
  git_odb* raw = nullptr;
  git_odb_backend* memory = nullptr;
  git_repository* repository = nullptr;
  const bool is_made = git_odb_new(&raw) == 0;
  const Database database(raw);
  if (!is_made || git_mempack_new(&memory) != 0 || git_odb_add_backend(database.get(), memory, 1) != 0 ||
      git_repository_wrap_odb(&repository, database.get()) != 0) {
    return fail(Code::io_error, fmt::format("cannot read objects of git: {}", library_reason()));
  }
  ObjectReader reader(repository);
  for (std::size_t count = 0; !objects.empty(); ++count) {
    if (count == kObjectCount) {
      return too_many_objects();
    }
    if (!take_object(objects, database.get())) {
      return fail(Code::source_invalid, "not a commit and trees of git");
    }
  }
  return reader;
}

std::optional<PeeledObject> ObjectReader::peel(const std::string& reference) const {
  git_oid id;
  return git_reference_name_to_id(&id, repository_.get(), reference.c_str()) == 0 ? peel_object(text_of(id))
                                                                                  : std::nullopt;
}

std::optional<PeeledObject> ObjectReader::peel_object(const std::string& id) const {
  git_oid oid;
  git_object* raw = nullptr;
  if (git_oid_fromstr(&oid, id.c_str()) != 0 || git_object_lookup(&raw, repository_.get(), &oid, GIT_OBJECT_ANY) != 0) {
    return std::nullopt;
  }
  Object object(raw);
  if (git_object_type(object.get()) == GIT_OBJECT_TAG) {
    git_object* target = nullptr;
    if (git_object_peel(&target, object.get(), GIT_OBJECT_ANY) != 0) {
      return std::nullopt;
    }
    object.reset(target);
  }
  return PeeledObject{text_of(*git_object_id(object.get())), git_object_type2string(git_object_type(object.get()))};
}

bool ObjectReader::has_object(const std::string& id) const {
  git_oid oid;
  const Database database = open_database(repository_.get());
  return database && git_oid_fromstr(&oid, id.c_str()) == 0 && git_odb_exists(database.get(), &oid) == 1;
}

bool ObjectReader::is_whole(const std::string& id) const {
  const auto peeled = peel_object(id);
  if (!peeled || peeled->kind == "blob") {
    return peeled.has_value();
  }
  git_oid oid;
  if (peeled->kind == "tree") {
    return git_oid_fromstr(&oid, peeled->id.c_str()) == 0 && holds_all(repository_.get(), oid);
  }
  const Commit commit = load_commit(repository_.get(), peeled->id);
  return commit && holds_all(repository_.get(), *git_commit_tree_id(commit.get()));
}

bool ObjectReader::has_parents(const std::string& commit) const {
  const Commit loaded = load_commit(repository_.get(), commit);
  return loaded && git_commit_parentcount(loaded.get()) > 0;
}

Result<void> ObjectReader::with_blob(const std::string& id,
                                     const std::function<Result<void>(std::string_view)>& use) const {
  git_oid oid;
  const Blob blob = git_oid_fromstr(&oid, id.c_str()) == 0 ? load_blob(repository_.get(), oid) : Blob();
  return blob ? use(content(blob.get())) : broken(repository_.get());
}

Result<void> ObjectReader::set_reference(const std::string& reference, const std::string& id) const {
  git_oid oid;
  git_reference* made = nullptr;
  if (git_oid_fromstr(&oid, id.c_str()) != 0 ||
      git_reference_create(&made, repository_.get(), reference.c_str(), &oid, 1, nullptr) != 0) {
    return broken(repository_.get());
  }
  git_reference_free(made);
  return {};
}

void ObjectReader::delete_references(const std::string& prefix) const {
  git_strarray names{};
  if (git_reference_list(&names, repository_.get()) != 0) {
    return;
  }
  for (std::size_t i = 0; i < names.count; ++i) {
    if (std::string_view(names.strings[i]).substr(0, prefix.size()) == prefix) {
      git_reference_remove(repository_.get(), names.strings[i]);
    }
  }
  git_strarray_dispose(&names);
}

Result<std::chrono::sys_seconds> ObjectReader::commit_time(const std::string& commit) const {
  const Commit loaded = load_commit(repository_.get(), commit);
  if (!loaded) {
    return broken(repository_.get());
  }
  return std::chrono::sys_seconds(std::chrono::seconds(git_commit_time(loaded.get())));
}

Result<TreeFacts> ObjectReader::tree_entries(const std::string& commit) const {
  MODLOCK_TRY(auto walk, walk_tree(repository_.get(), commit));
  return std::move(walk.facts);
}

Result<std::string> ObjectReader::commit_and_trees(const std::string& commit) const {
  const Commit loaded = load_commit(repository_.get(), commit);
  const Database database = open_database(repository_.get());
  if (!loaded || !database) {
    return broken(repository_.get());
  }
  std::string objects;
  std::size_t count = 0;
  std::unordered_set<git_oid, OidHash, OidEqual> seen;
  std::vector<git_oid> pending = {*git_commit_tree_id(loaded.get()), *git_commit_id(loaded.get())};
  while (!pending.empty()) {
    git_odb_object* raw = nullptr;
    if (git_odb_read(&raw, database.get(), &pending.back()) != 0) {
      return broken(repository_.get());
    }
    const std::unique_ptr<git_odb_object, Deleter<git_odb_object_free>> object(raw);
    pending.pop_back();
    const std::size_t size = git_odb_object_size(raw);
    if (size > kObjectBytes - objects.size() || ++count > kObjectCount) {
      return too_many_objects();
    }
    objects += fmt::format("{} {}", git_object_type2string(git_odb_object_type(raw)), size);
    objects.push_back('\0');
    objects.append(static_cast<const char*>(git_odb_object_data(raw)), size);
    if (objects.size() > kObjectBytes) {
      return too_many_objects();
    }
    git_tree* found = nullptr;
    if (git_odb_object_type(raw) != GIT_OBJECT_TREE) {
      continue;
    }
    if (git_tree_lookup(&found, repository_.get(), git_odb_object_id(raw)) != 0) {
      return broken(repository_.get());
    }
    const Tree tree(found);
    for (std::size_t i = 0; i < git_tree_entrycount(tree.get()); ++i) {
      const git_tree_entry* entry = git_tree_entry_byindex(tree.get(), i);
      if (git_tree_entry_type(entry) == GIT_OBJECT_TREE && seen.insert(*git_tree_entry_id(entry)).second) {
        pending.push_back(*git_tree_entry_id(entry));
      }
    }
  }
  return objects;
}

Result<TreeFacts> ObjectReader::tree_facts(const std::string& commit) const {
  MODLOCK_TRY(auto walk, walk_tree(repository_.get(), commit));
  if (walk.facts.hostile) {
    return std::move(walk.facts);
  }
  if (!add_sizes(repository_.get(), walk.facts)) {
    return broken(repository_.get());
  }
  walk.facts.is_literal = walk.facts.is_literal && !attributes_convert(repository_.get(), walk);
  if (attributes_hold(repository_.get(), walk, "filter=lfs")) {
    find_pointers(repository_.get(), walk);
  }
  return std::move(walk.facts);
}

}  // namespace modlock::git
