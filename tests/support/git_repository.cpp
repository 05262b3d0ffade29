#include "tests/support/git_repository.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "backends/base/ascii.h"
#include "backends/base/digest.h"
#include "tests/support/run.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr long kFirstCommit = 1700000000;
constexpr std::string_view kPerson = "Test <test@example.test> ";

bool is_id(std::string_view text) {
  return text.size() == 40 && std::all_of(text.begin(), text.end(), ascii::is_lower_hex);
}

std::string compressed(const std::string& text) {
  uLongf size = ::compressBound(text.size());
  std::string packed(size, '\0');
  // zlib reads and writes unsigned characters.
  if (::compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                  text.size(), Z_BEST_SPEED) != Z_OK) {
    throw std::runtime_error("zlib failed");
  }
  packed.resize(size);
  return packed;
}

std::string tree_entry(std::string_view mode, const std::string& name, std::string_view id) {
  std::string entry = std::string(mode) + " " + name + '\0';
  for (; !id.empty(); id.remove_prefix(2)) {
    entry += static_cast<char>(ascii::hex_value(id[0]) * 16 + ascii::hex_value(id[1]));
  }
  return entry;
}

// The id in a file of a reference; nullopt where there is none.
std::optional<std::string> read_id(const fs::path& file) {
  if (!fs::is_regular_file(file)) {
    return std::nullopt;
  }
  const std::string text = read_text(file);
  return text.size() == 41 && is_id(text.substr(0, 40)) ? std::optional(text.substr(0, 40)) : std::nullopt;
}

}  // namespace

GitRepository::GitRepository(fs::path directory) : path_(std::move(directory)) {
  // What `git init --bare --template= --initial-branch=main` writes.
  for (const char* name : {"objects/info", "objects/pack", "refs/heads", "refs/tags"}) {
    fs::create_directories(path_ / name);
  }
  write_text(path_ / "HEAD", "ref: refs/heads/main\n");
  write_text(path_ / "config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n");
}

std::string GitRepository::git(std::vector<std::string> arguments, std::string input,
                               std::map<std::string, std::string> environment) const {
  arguments.insert(arguments.begin(), "git");
  environment.insert({{"GIT_DIR", path_.string()},
                      {"GIT_CONFIG_NOSYSTEM", "1"},
                      {"GIT_CONFIG_GLOBAL", "/dev/null"},
                      {"GIT_AUTHOR_NAME", "Test"},
                      {"GIT_AUTHOR_EMAIL", "test@example.test"},
                      {"GIT_COMMITTER_NAME", "Test"},
                      {"GIT_COMMITTER_EMAIL", "test@example.test"},
                      {"GIT_AUTHOR_DATE", date()},
                      {"GIT_COMMITTER_DATE", date()}});
  std::string output = run(std::move(arguments), path_, std::move(environment), std::move(input));
  while (!output.empty() && output.back() == '\n') {
    output.pop_back();
  }
  return output;
}

std::string GitRepository::date() const {
  return std::to_string(kFirstCommit + 60L * commits_) + " +0000";
}

std::string GitRepository::write_object(std::string_view type, const std::string& content) {
  const std::string object = std::string(type) + " " + std::to_string(content.size()) + '\0' + content;
  std::string id = hex(hash_of(Hash::sha1, object));
  const fs::path file = path_ / "objects" / id.substr(0, 2) / id.substr(2);
  if (!fs::exists(file)) {
    write_text(file, compressed(object));
    fs::permissions(file, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  }
  return id;
}

std::string GitRepository::write_blob(std::string_view content) {
  return write_object("blob", std::string(content));
}

std::string GitRepository::write_tree(const std::string& lines) {
  return git({"mktree", "--missing"}, lines);
}

std::string GitRepository::write_files(Files::const_iterator& file, Files::const_iterator end,
                                       const std::string& directory) {
  std::string tree;
  while (file != end && file->first.starts_with(directory)) {
    const std::string below = file->first.substr(directory.size());
    const std::string name = below.substr(0, below.find('/'));
    if (name == below) {
      tree += tree_entry("100644", name, write_blob(file->second));
      ++file;
    } else {
      tree += tree_entry("40000", name, write_files(file, end, directory + name + "/"));
    }
  }
  return write_object("tree", tree);
}

std::string GitRepository::commit_tree(const std::string& tree, const std::string& parent) {
  ++commits_;
  const std::string by = std::string(kPerson) + date();
  return write_object("commit", "tree " + tree + "\n" + (parent.empty() ? "" : "parent " + parent + "\n") + "author " +
                                    by + "\ncommitter " + by + "\n\ncommit " + std::to_string(commits_) + "\n");
}

std::string GitRepository::commit(const Files& files, std::string_view branch_name) {
  auto file = files.begin();
  const std::string tree = write_files(file, files.end(), "");
  const std::string reference = "refs/heads/" + std::string(branch_name);
  std::string parent = read_id(path_ / reference).value_or("");
  if (parent.empty() && fs::exists(path_ / "packed-refs")) {
    parent = git({"for-each-ref", "--format=%(objectname)", reference});
  }
  std::string made = commit_tree(tree, parent);
  write_reference(reference, made);
  return made;
}

void GitRepository::write_reference(const std::string& name, const std::string& commit) {
  write_text(path_ / name, commit + "\n");
}

void GitRepository::branch(std::string_view name, std::string_view target) {
  write_reference("refs/heads/" + std::string(name), id(target));
}

void GitRepository::tag(std::string_view name, std::string_view target) {
  write_reference("refs/tags/" + std::string(name), id(target));
}

void GitRepository::annotated_tag(std::string_view name, std::string_view target) {
  git({"tag", "--force", "--annotate", "--message=tag", std::string(name), std::string(target)});
}

void GitRepository::remove(std::string_view full_reference) {
  git({"update-ref", "-d", std::string(full_reference)});
}

std::string GitRepository::id(std::string_view expression) const {
  if (is_id(expression)) {
    return std::string(expression);
  }
  // The order of git.
  for (const char* directory : {"refs/tags/", "refs/heads/"}) {
    if (const auto found = read_id(path_ / (directory + std::string(expression)))) {
      return *found;
    }
  }
  return git({"rev-parse", "--verify", "--end-of-options", std::string(expression)});
}

void GitRepository::configure(std::string_view key, std::string_view value) {
  git({"config", std::string(key), std::string(value)});
}

}  // namespace modlock::test
