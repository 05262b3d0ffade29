#include "backends/git/tree_proof.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <system_error>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/git/checkout.h"
#include "backends/git/objects.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;

Result<std::string> blob_id(const fs::path& path, bool is_link) {
  std::error_code error;
  const std::string target = is_link ? fs::read_symlink(path, error).string() : std::string();
  if (error) {
    return system_failure("read the link", path, error.value());
  }
  MODLOCK_TRY(const auto file, is_link ? Result<MappedFile>(MappedFile()) : MappedFile::open(path));
  std::string_view content = is_link ? std::string_view(target) : file.content();
  RunningHash hash(Hash::sha1);
  hash.update(fmt::format("blob {}", content.size()) + '\0');
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  while (!content.empty()) {
    const std::string_view piece = content.substr(0, kPiece);
    hash.update(piece);
    if (!is_link) {
      release_pages(piece);
    }
    content.remove_prefix(piece.size());
  }
  return hex(hash.finish());
}

TreeFile::Kind kind_of(const TreeEntry& entry) {
  constexpr unsigned kOwnerExecutes = 0100U;
  return entry.type != TreeEntry::Type::file  ? TreeFile::Kind::link
         : (entry.mode & kOwnerExecutes) != 0 ? TreeFile::Kind::executable
                                              : TreeFile::Kind::plain;
}

tl::unexpected<Error> mismatch(const std::string& commit, std::string_view why) {
  return fail(Code::hash_mismatch, fmt::format("it does not match commit {}: {}", commit, why));
}

}  // namespace

Result<Proof> prove_tree(std::string_view objects, const std::string& commit, const fs::path& directory,
                         const std::vector<TreeEntry>& entries) {
  // Only one large set of objects is in memory at a time.
  constexpr std::size_t kSmall = std::size_t{256} << 10U;
  static std::mutex mutex;
  const auto alone = objects.size() > kSmall ? std::unique_lock(mutex) : std::unique_lock<std::mutex>();
  const auto reader = ObjectReader::of_objects(objects);
  const auto facts = reader ? reader->tree_entries(commit) : fail(reader.error());
  if (!facts || facts->hostile) {
    return mismatch(commit, facts ? facts->hostile->why : facts.error().message);
  }
  if (!facts->submodules.empty()) {
    return Proof::none;
  }
  std::map<std::string_view, const TreeFile*> files;
  bool has_attributes = false;
  for (const TreeFile& file : facts->files) {
    files.emplace(file.path, &file);
    has_attributes = has_attributes || fs::path(file.path).filename() == ".gitattributes";
  }
  Proof proof = Proof::content;
  for (const TreeEntry& entry : entries) {
    const auto file = files.find(entry.name);
    if (file == files.end()) {
      return mismatch(commit, fmt::format("\"{}\" is not in it", shown_path(entry.name)));
    }
    if (file->second->kind != kind_of(entry)) {
      return mismatch(commit, fmt::format("\"{}\" has another kind or executable bit", shown_path(entry.name)));
    }
    MODLOCK_TRY(const auto id, blob_id(directory / entry.name, file->second->kind == TreeFile::Kind::link));
    if (id != file->second->id) {
      if (!has_attributes || file->second->kind == TreeFile::Kind::link) {
        return mismatch(commit, fmt::format("\"{}\" has other content", shown_path(entry.name)));
      }
      proof = Proof::kinds;  // line endings, for example
    }
  }
  return entries.size() == files.size() ? Result<Proof>(proof) : mismatch(commit, "a file is missing");
}

}  // namespace modlock::git
