#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/e2e/scene.h"

namespace modlock::test {

// A root module that is the top directory of a git repository, and people who work on it in branches.
class TeamScene : public Scene {
 public:
  // Makes the repository, with the branch main and no commit yet.
  TeamScene();

  // Runs git in the root, in the environment of the binary, with fixed names.
  Ran git(std::vector<std::string> arguments) const;
  // The same for a command that has to succeed; its stdout.
  std::string succeed(std::vector<std::string> arguments) const;
  // Commits everything in the work tree.
  void commit(const std::string& message) const;

  // Makes two branches of main with a commit each, "theirs" and "ours", which stays checked out. Each function changes
  // the work tree as the person in that branch does.
  void diverge(const std::function<void()>& ours, const std::function<void()>& theirs) const;

  // How the change of "theirs" comes into "ours". A conflict is left as git leaves it.
  enum class Way { merge, rebase, cherry_pick, stash_pop };
  void bring_theirs(Way way) const;
};

std::ostream& operator<<(std::ostream& out, TeamScene::Way way);

}  // namespace modlock::test
