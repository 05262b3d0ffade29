#include "tests/support/git_repository.h"

#include "tests/support/run.h"

namespace modlock::test {
namespace {

constexpr long kFirstCommit = 1700000000;

}  // namespace

GitRepository::GitRepository(std::filesystem::path directory) : path_(std::move(directory)) {
  std::filesystem::create_directories(path_);
  git({"init", "--quiet", "--bare", "--template=", "--initial-branch=main"});
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

std::string GitRepository::write_blob(std::string_view content) {
  // An empty input would mean /dev/null, which is empty too.
  return git({"hash-object", "-w", "--stdin"}, std::string(content));
}

std::string GitRepository::write_tree(const std::string& lines) {
  return git({"mktree", "--missing"}, lines);
}

std::string GitRepository::commit_tree(const std::string& tree, const std::string& parent) {
  ++commits_;
  std::vector<std::string> arguments = {"commit-tree", tree, "-m", "commit " + std::to_string(commits_)};
  if (!parent.empty()) {
    arguments.insert(arguments.end(), {"-p", parent});
  }
  return git(std::move(arguments));
}

std::string GitRepository::commit(const Files& files, std::string_view branch_name) {
  const std::string index = (path_ / "test-index").string();
  std::filesystem::remove(index);
  std::string entries;
  for (const auto& [name, content] : files) {
    entries += "100644 " + write_blob(content) + "\t" + name + "\n";
  }
  git({"update-index", "--add", "--index-info"}, entries, {{"GIT_INDEX_FILE", index}});
  const std::string tree = git({"write-tree"}, {}, {{"GIT_INDEX_FILE", index}});
  const std::string reference = "refs/heads/" + std::string(branch_name);
  const std::string parent = git({"for-each-ref", "--format=%(objectname)", reference});
  const std::string made = commit_tree(tree, parent);
  git({"update-ref", reference, made});
  return made;
}

void GitRepository::branch(std::string_view name, std::string_view target) {
  git({"update-ref", "refs/heads/" + std::string(name), id(target)});
}

void GitRepository::tag(std::string_view name, std::string_view target) {
  git({"update-ref", "refs/tags/" + std::string(name), id(target)});
}

void GitRepository::annotated_tag(std::string_view name, std::string_view target) {
  git({"tag", "--force", "--annotate", "--message=tag", std::string(name), std::string(target)});
}

void GitRepository::remove(std::string_view full_reference) {
  git({"update-ref", "-d", std::string(full_reference)});
}

std::string GitRepository::id(std::string_view expression) const {
  return git({"rev-parse", "--verify", "--end-of-options", std::string(expression)});
}

void GitRepository::configure(std::string_view key, std::string_view value) {
  git({"config", std::string(key), std::string(value)});
}

}  // namespace modlock::test
