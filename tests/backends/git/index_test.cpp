#include "backends/git/library.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>

#include "tests/support/git_repository.h"
#include "tests/support/run.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

BOOST_AUTO_TEST_SUITE(index)

BOOST_AUTO_TEST_CASE(a_conflict_is_found_without_git) {
  TemporaryDirectory directory;
  GitRepository repository(directory.path() / "r.git");
  const std::string base = repository.commit({{"a", "base\n"}});
  const std::string ours = repository.commit({{"a", "ours\n"}});
  const std::string theirs = repository.commit({{"a", "theirs\n"}});
  struct Row {
    const char* name;
    std::vector<std::string> trees;  // empty: no index
    bool expected;
  };
  const Row rows[] = {
      {"no index", {}, false},
      {"one tree", {base}, false},
      {"changed by one side", {"-m", base, base, theirs}, false},
      {"changed by both sides", {"-m", base, ours, theirs}, true},
  };
  const std::filesystem::path file = repository.path() / "index";
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::filesystem::remove(file);
      if (!row.trees.empty()) {
        std::vector<std::string> arguments = row.trees;
        arguments.insert(arguments.begin(), "read-tree");
        repository.git(arguments, {}, {{"GIT_WORK_TREE", directory.path().string()}});
      }
      BOOST_TEST(git::may_have_conflicts(file) == row.expected);
    }
  }
  write_text(file, "not an index");
  BOOST_TEST(git::may_have_conflicts(file));
}

#ifndef MODLOCK_ADDRESS_SANITIZER  // which ends the process by itself
// libgit2 would crash.
BOOST_AUTO_TEST_CASE(without_memory_the_process_ends_with_the_reason) {
  const TemporaryDirectory directory;
  const std::filesystem::path index = directory.path() / "index";
  const std::string said = (directory.path() / "said").string();
  BOOST_TEST(!git::may_have_conflicts(index));  // the library is started
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(said.c_str(), O_WRONLY | O_CREAT, 0600), 2);
    const rlimit none{0, RLIM_INFINITY};
    ::setrlimit(RLIMIT_AS, &none);
    for (std::size_t size = std::size_t{1} << 20U; size >= 16; size -= size > 8192 ? size / 2 : 16) {
      void* volatile taken = nullptr;
      do {
        taken = std::malloc(size);
      } while (taken != nullptr);
    }
    (void)git::may_have_conflicts(index);
    std::_Exit(0);
  }
  int status = 0;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 1);
  BOOST_TEST(read_text(said) ==
             "Error: tofu-modlock ended early: no memory is left for this process [IO_ERROR]\n"
             "  hint: free some memory, or raise the limit (ulimit -v), then run it again\n");
}
#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
