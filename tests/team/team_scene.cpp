#include "tests/team/team_scene.h"

#include <boost/test/unit_test.hpp>
#include <ostream>

namespace modlock::test {

TeamScene::TeamScene() {
  write_text(path("home/.gitconfig"),
             "[user]\n  name = Test\n  email = test@example.test\n[init]\n  defaultBranch = main\n");
  environment["GIT_EDITOR"] = "true";
  succeed({"init", "--quiet", "--template="});
  write(".gitignore", ".terraform\n");
}

Ran TeamScene::git(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), "git");
  return program(std::move(arguments));
}

std::string TeamScene::succeed(std::vector<std::string> arguments) const {
  const std::string name = arguments.front();
  const Ran ran = git(std::move(arguments));
  BOOST_TEST_REQUIRE(ran.exit_code == 0, "git " << name << ": " << ran.out << ran.err);
  return ran.out;
}

void TeamScene::commit(const std::string& message) const {
  succeed({"add", "--all"});
  succeed({"commit", "--quiet", "--allow-empty", "--message=" + message});
}

void TeamScene::diverge(const std::function<void()>& ours, const std::function<void()>& theirs) const {
  succeed({"checkout", "--quiet", "-b", "theirs", "main"});
  theirs();
  commit("theirs");
  succeed({"checkout", "--quiet", "-b", "ours", "main"});
  ours();
  commit("ours");
}

void TeamScene::bring_theirs(Way way) const {
  switch (way) {
    case Way::merge:
      git({"merge", "--quiet", "--no-edit", "theirs"});
      return;
    case Way::rebase:
      // What is rebased is "theirs" to git.
      succeed({"checkout", "--quiet", "theirs"});
      git({"rebase", "--quiet", "ours"});
      return;
    case Way::cherry_pick:
      git({"cherry-pick", "theirs"});
      return;
    case Way::stash_pop:
      succeed({"checkout", "--quiet", "--detach", "theirs"});
      succeed({"reset", "--quiet", "--soft", "main"});
      succeed({"stash", "push", "--quiet"});
      succeed({"checkout", "--quiet", "ours"});
      git({"stash", "pop", "--quiet"});
      return;
  }
}

std::ostream& operator<<(std::ostream& out, TeamScene::Way way) {
  const char* const names[] = {"merge", "rebase", "cherry-pick", "stash pop"};
  return out << names[static_cast<int>(way)];
}

}  // namespace modlock::test
