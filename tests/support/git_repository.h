#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace modlock::test {

// A real git repository (bare: servers and file:// URLs use it as it is) with commits made without a work tree. Names,
// dates and configuration are fixed, so equal steps give equal commits. Throws std::runtime_error where git fails. What
// tests do most often (commits, branches, tags) writes git's files without a process, because thousands of processes
// were most of their time.
class GitRepository {
 public:
  using Files = std::map<std::string, std::string>;  // name -> content; "name" may hold "/"

  // Makes `directory`, which must not exist.
  explicit GitRepository(std::filesystem::path directory);

  const std::filesystem::path& path() const { return path_; }
  std::string url() const { return "file://" + path_.string(); }

  // A commit of exactly these files on top of `branch` (made where it is not there); returns its id. Each commit is a
  // minute younger than the one before.
  std::string commit(const Files& files, std::string_view branch = "main");
  // A commit of a tree made before; `parent` empty: a root commit. No branch names it.
  std::string commit_tree(const std::string& tree, const std::string& parent = {});
  std::string write_blob(std::string_view content);
  // Lines of `git ls-tree`: "<mode> <type> <id>\t<name>".
  std::string write_tree(const std::string& lines);

  void branch(std::string_view name, std::string_view target);  // made or moved
  void tag(std::string_view name, std::string_view target = "main");
  void annotated_tag(std::string_view name, std::string_view target = "main");
  void remove(std::string_view full_reference);
  std::string id(std::string_view expression) const;
  void configure(std::string_view key, std::string_view value);

  // `git <arguments>` in the repository; its stdout without the last line end.
  std::string git(std::vector<std::string> arguments, std::string input = {},
                  std::map<std::string, std::string> environment = {}) const;

 private:
  std::string date() const;
  // An object of git; returns its id.
  std::string write_object(std::string_view type, const std::string& content);
  // The tree of the files from `file` on whose names begin with `directory`; `file` is then the next one.
  std::string write_files(Files::const_iterator& file, Files::const_iterator end, const std::string& directory);
  void write_reference(const std::string& name, const std::string& commit);

  std::filesystem::path path_;
  int commits_ = 0;
};

}  // namespace modlock::test
