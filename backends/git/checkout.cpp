#include "backends/git/checkout.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "backends/files/files.h"
#include "backends/git/git_command.h"
#include "backends/git/git_error.h"
#include "backends/git/remote.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;

// The first three, and how many more there are.
std::string enumerate(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", shown_path(names[i]));
  }
  return names.size() > kShown ? fmt::format("{} and {} more", text, names.size() - kShown) : text;
}

Result<void> check_tree(const TreeFacts& facts, const std::string& commit, std::string_view display) {
  if (facts.hostile) {
    return fail(Code::archive_unsafe,
                fmt::format("commit {} of \"{}\" holds \"{}\", {}", commit, display, shown_path(facts.hostile->path),
                            facts.hostile->why),
                "do not use this commit");
  }
  if (!facts.own_overrides.empty()) {
    return fail(Code::archive_unsafe,
                fmt::format("commit {} of \"{}\" holds {}, a name that is kept for overrides written by tofu-modlock",
                            commit, display, enumerate(facts.own_overrides)),
                "have the file removed from the module");
  }
  return {};
}

Diagnostics warnings_of(const TreeFacts& facts, const std::string& commit, std::string_view display) {
  if (facts.lfs_pointers.empty()) {
    return {};
  }
  return {{Severity::warning,
           Error{.code = Code::lfs_pointer,
                 .message = fmt::format("commit {} of \"{}\" keeps {} in Git LFS: the pointer is installed and locked, "
                                        "not the content",
                                        commit, display, enumerate(facts.lfs_pointers)),
                 .hint = "a module that needs the content cannot be used from git"}}};
}

Result<void> write_tree(const Repository& repository, const std::string& commit, const fs::path& directory,
                        const fs::path& index, std::string_view display, const Context& context) {
  auto done = run_local(local_command(repository.path(), {"read-tree", "--reset", "-u", commit}, directory, index),
                        "check out", display, context);
  if (done) {
    return {};
  }
  // What git refuses beyond what was refused before is no matter of the disk either.
  for (const std::string_view refusal : {"invalid path '", "File name too long"}) {
    const auto& notes = done.error().notes;
    if (std::any_of(notes.begin(), notes.end(),
                    [refusal](const std::string& note) { return note.find(refusal) != std::string::npos; })) {
      done.error().code = Code::archive_unsafe;
      done.error().message = fmt::format("commit {} of \"{}\" holds an entry that git does not write", commit, display);
      done.error().hint = "do not use this commit";
    }
  }
  return fail(std::move(done.error()));
}

}  // namespace

std::string shown_path(std::string_view path) {
  constexpr std::size_t kShown = 100;
  return path.size() > kShown ? "…" + quotable(path.substr(path.size() - kShown)) : quotable(path);
}

Result<CheckedOut> check_out(const Repository& repository, const std::string& commit, const fs::path& directory,
                             const fs::path& index, std::string_view display, const Context& context) {
  auto facts = repository.objects().tree_facts(commit);
  if (!facts) {
    return fail(facts.error());
  }
  if (auto fine = check_tree(*facts, commit, display); !fine) {
    return fail(std::move(fine.error()));
  }
  if (auto made = make_directories(directory); !made) {
    return fail(std::move(made.error()));
  }
  auto written = write_tree(repository, commit, directory, index, display, context);
  std::error_code ignored;
  fs::remove(index, ignored);
  if (!written) {
    return fail(std::move(written.error()));
  }
  return CheckedOut{warnings_of(*facts, commit, display), std::move(facts->submodules)};
}

}  // namespace modlock::git
