// Files of a revision, by the git program.

#include "plugin/lock/local_git.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/support/run.h"
#include "tests/support/temporary_directory.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

struct History {
  History() {
    git({"init", "--quiet", "--template=", "--initial-branch=main", repository.string()}, directory.path());
    commit("first\n");
    git({"tag", "base"}, repository);
    commit("second\n");
  }
  static void git(std::vector<std::string> arguments, const fs::path& place) {
    arguments.insert(arguments.begin(), {"git", "-c", "user.name=n", "-c", "user.email=e"});
    test::run(std::move(arguments), place, {{"GIT_CONFIG_GLOBAL", "/dev/null"}, {"GIT_CONFIG_NOSYSTEM", "1"}});
  }
  void commit(std::string_view text) const {
    test::write_text(repository / "a/lock.hcl", text);
    test::write_text(repository / "b.hcl", "same\n");
    git({"add", "--all"}, repository);
    git({"commit", "--quiet", "--message=m"}, repository);
  }
  fs::path clone(const std::string& name, std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"-c", "protocol.file.allow=always", "clone", "--quiet"});
    flags.insert(flags.end(), {"file://" + repository.string(), name});
    git(std::move(flags), directory.path());
    return directory / name;
  }
  // "a/lock.hcl=first b.hcl=same", or the error.
  static std::string at(const fs::path& top, const std::string& revision, const std::vector<std::string>& paths) {
    const Context context;
    const auto texts = RevisionReader(top, context).texts_at(revision, paths);
    if (!texts) {
      return fmt::format("{}: {}; {}", to_string(texts.error().code), texts.error().message, texts.error().hint.text());
    }
    std::string found;
    for (const auto& [path, text] : *texts) {
      found += fmt::format("{}{}={}", found.empty() ? "" : " ", path, text.substr(0, text.find('\n')));
    }
    return found;
  }

  test::TemporaryDirectory directory;
  const fs::path repository = directory / "repository";
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(revision_reader, History)

BOOST_AUTO_TEST_CASE(texts_of_a_revision) {
  BOOST_TEST(at(repository, "base", {"a/lock.hcl", "b.hcl", "none.hcl", "a"}) == "a/lock.hcl=first b.hcl=same");
  BOOST_TEST(at(repository, "main", {"a/lock.hcl"}) == "a/lock.hcl=second");
  test::write_text(repository / "b.hcl", "\xff\n");
  git({"commit", "--quiet", "--all", "--message=m"}, repository);
  BOOST_TEST(
      at(repository, "main", {"b.hcl"}).starts_with("IO_ERROR: cannot read b.hcl at the revision \"main\": no "));
  std::vector<std::string> many(1000, "none.hcl");
  many.emplace_back("a/lock.hcl");
  BOOST_TEST(at(repository, "base", many) == "a/lock.hcl=first");
}

BOOST_AUTO_TEST_CASE(a_revision_that_is_not_there) {
  BOOST_TEST(at(repository, "v9", {"b.hcl"}) ==
             fmt::format("INVALID_PARAMS: revision \"v9\" not found in the repository {}; name a branch, tag or commit "
                         "that was fetched",
                         repository.string()));
  const fs::path shallow = clone("shallow", {"--depth=1"});
  BOOST_TEST(at(shallow, "HEAD", {"a/lock.hcl"}) == "a/lock.hcl=second");
  BOOST_TEST(at(shallow, "HEAD^", {"a/lock.hcl"}) ==
             fmt::format("INVALID_PARAMS: revision \"HEAD^\" not found in the shallow clone {}; clone with the history "
                         "(fetch-depth: 0 on GitHub, GIT_DEPTH: \"0\" on GitLab), or fetch the revision before",
                         shallow.string()));
}

// A file that is not on this machine is not taken for one that the revision does not have.
BOOST_AUTO_TEST_CASE(a_partial_clone_without_the_file) {
  git({"config", "uploadpack.allowFilter", "true"}, repository);
  const fs::path partial = clone("partial", {"--filter=blob:none", "--no-checkout"});
  BOOST_TEST(at(partial, "HEAD^", {"none.hcl"}) == "");
  BOOST_TEST(at(partial, "HEAD^", {"a/lock.hcl"}) ==
             fmt::format("IO_ERROR: cannot read revisions of {}: the clone is partial and lacks files; clone the "
                         "repository without --filter",
                         partial.string()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock
