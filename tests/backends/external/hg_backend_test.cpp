#include <signal.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <memory>

#include "backends/base/process.h"
#include "tests/backends/external/external_fixture.h"
#include "tests/support/environment.h"
#include "tests/support/needs.h"
#include "tests/support/run.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// Commands of hg in one repository.
class HgRepository {
 public:
  explicit HgRepository(fs::path path) : path_(std::move(path)) {}

  const fs::path& path() const { return path_; }
  std::string hg(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"hg", "--cwd", path_.string()});
    return run(std::move(arguments));
  }
  // Everything that lies there, and the id of the new changeset.
  std::string commit() const {
    hg({"commit", "--quiet", "--addremove", "--user=test", "--date=0 0", "--message=change"});
    return hg({"log", "--rev=.", "--template={node}"});
  }
  std::string commit(const std::string& name, const std::string& text) const {
    write_text(path_ / name, text);
    return commit();
  }
  // The id of the changeset that holds the tag.
  std::string tag(const std::string& name) const {
    hg({"tag", "--user=test", "--date=0 0", name});
    return hg({"log", "--rev=.", "--template={node}"});
  }

 private:
  fs::path path_;
};

// hg without the user's configuration.
class HgEnvironment {
 public:
  HgEnvironment() {
    for (const char* name : {"HGPLAIN", "HGPLAINEXCEPT", "HGUSER", "HGENCODING", "EMAIL"}) {
      variables_.push_back(std::make_unique<ScopedEnvironment>(name, std::nullopt));
    }
    variables_.push_back(std::make_unique<ScopedEnvironment>("HGRCPATH", ""));
  }

 private:
  std::vector<std::unique_ptr<ScopedEnvironment>> variables_;
};

// Made once, because hg takes its time: the tags v1.0.0 and v1.1.0, the bookmark "mark" on the first changeset, and the
// branch "side" behind the default one.
struct Pattern {
  Pattern() {
    run({"hg", "init", repository.path().string()});
    first = repository.commit("main.tf", "# 1\n");
    repository.tag("v1.0.0");
    repository.hg({"bookmark", "--rev=" + first, "mark"});
    write_text(repository.path() / "modules/net/main.tf", "# 2\n");
    fs::permissions(repository.path() / "main.tf", fs::perms::owner_exec, fs::perm_options::add);
    fs::create_symlink("main.tf", repository.path() / "link.tf");
    second = repository.commit();
    head = repository.tag("v1.1.0");
    repository.hg({"branch", "--quiet", "side"});
    side = repository.commit("side.tf", "# side\n");
  }
  static const Pattern& made() {
    static const Pattern pattern;
    return pattern;
  }

  TemporaryDirectory directory;
  HgRepository repository{directory / "repository"};
  std::string first, second, head, side;
};

struct HgFixture {
  HgFixture() {
    fs::copy(pattern.repository.path(), repository.path(),
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    backend = make_external_backend({.scheme = "hg", .command = {python(), MODLOCK_HG_BACKEND}});
  }

  SourceAddress source(const std::string& more = {}) const {
    auto parsed = parse_source("hg::file://" + repository.path().string() + more);
    BOOST_REQUIRE_MESSAGE(parsed.has_value(), outcome(parsed));
    return *parsed;
  }
  Result<FetchedTree> fetch(const FetchRequest& request, const std::string& more = {}) const {
    const std::vector<FetchRequest> requests = {request};
    return backend->fetch(source(more), requests, parent.path(), context).at(0);
  }

  const HgEnvironment environment;
  const Pattern& pattern = Pattern::made();
  const std::string& first = pattern.first;
  const std::string& second = pattern.second;
  TemporaryDirectory directory;
  TemporaryDirectory parent;
  TemporaryDirectory temporary;
  const ScopedEnvironment temporary_of_backend{"TMPDIR", temporary.path().string()};
  HgRepository repository{directory / "repository"};
  Context context;
  std::unique_ptr<BackendCore> backend;
};

// The repository over http, on a free port of the loopback.
class HgServer {
 public:
  explicit HgServer(const HgRepository& repository) {
    const fs::path pid_file = directory_ / "pid";
    url_ = repository.hg(
        {"serve", "--daemon", "--address=127.0.0.1", "--port=0", "--print-url", "--pid-file=" + pid_file.string()});
    url_.resize(url_.find_last_not_of("/\n") + 1);
    pid_ = std::stoi(read_text(pid_file));
  }
  ~HgServer() { ::kill(pid_, SIGTERM); }
  HgServer(const HgServer&) = delete;
  HgServer& operator=(const HgServer&) = delete;

  const std::string& url() const { return url_; }

 private:
  TemporaryDirectory directory_;
  std::string url_;
  int pid_ = -1;
};

std::vector<std::string> files_of(const fs::path& directory) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_directory() || entry.is_symlink()) {
      const bool is_program =
          !entry.is_symlink() && (entry.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
      files.push_back(entry.path().lexically_relative(directory).string() + (entry.is_symlink() ? "@" : "") +
                      (is_program ? "*" : ""));
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

BOOST_FIXTURE_TEST_SUITE(hg_backend_test, HgFixture, *needs("hg, python3"))

BOOST_AUTO_TEST_CASE(listing_tags) {
  const auto listed = backend->list_versions(source(), "", context);
  BOOST_REQUIRE_MESSAGE(listed.has_value(), outcome(listed));
  BOOST_REQUIRE(listed->versions.size() == 2U);
  BOOST_TEST(listed->versions[0].tag == "v1.1.0");
  BOOST_TEST(listed->versions[0].id == second);
  BOOST_TEST(listed->versions[1].tag == "v1.0.0");
  BOOST_TEST(listed->versions[1].id == first);
  BOOST_TEST(listed->skipped.empty());
  BOOST_TEST(listed->complete);
}

BOOST_AUTO_TEST_CASE(pinning_names) {
  struct Row {
    const char* name;
    std::string more;
    std::string outcome;  // of the id
  };
  const std::string prefix = "the backend \"hg\" (\"" + python() + "\") could not find the ";
  const std::string identity = "\"hg::file://" + repository.path().string();
  const Row rows[] = {
      {"the default branch", "", pattern.head},
      {"a tag", "?tag=v1.0.0", first},
      {"a tag as rev", "?rev=v1.0.0", first},
      {"a bookmark", "?rev=mark", first},
      {"a branch", "?rev=side", pattern.side},
      {"an id", "?rev=" + second, second},
      {"an abbreviated id", "?rev=" + second.substr(0, 12), second},
      {"an unknown tag", "?tag=mark",
       "NOT_FOUND: " + prefix + "tag \"mark\" of " + identity + "?tag=mark\": there is no tag \"mark\""},
      {"an unknown revision", "?rev=none",
       "NOT_FOUND: " + prefix + "ref \"none\" of " + identity + "?rev=none\": hg says: abort: unknown revision 'none'"},
      {"a revset", "?rev=first(all())",
       "NOT_FOUND: " + prefix + "ref \"first(all())\" of " + identity +
           "?rev=first%28all%28%29%29\": \"first(all())\" is no name of a changeset"},
      {"a query that hg does not take", "?rev=v1.0.0&token=T0KEN",
       "SOURCE_INVALID: " + prefix + "ref \"v1.0.0\" of " + identity +
           "?rev=v1.0.0\": the address has query arguments, and hg takes none"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto pin = backend->pin(source(row.more), context);
      BOOST_TEST((pin ? pin->id : outcome(pin)) == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_CASE(fetching_a_tree) {
  const auto tree = fetch({second, "v1.1.0"});
  BOOST_REQUIRE_MESSAGE(tree.has_value(), outcome(tree));
  BOOST_TEST(tree->id == second);
  // What a clone of the same changeset has, but for .hg.
  const fs::path clone = directory / "clone";
  run({"hg", "clone", "--quiet", "--updaterev=" + second, repository.path().string(), clone.string()});
  fs::remove_all(clone / ".hg");
  BOOST_TEST(files_of(tree->directory) == files_of(clone), boost::test_tools::per_element());
  const std::vector<std::string> expected = {".hgtags", "link.tf@", "main.tf*", "modules/net/main.tf"};
  BOOST_TEST(files_of(tree->directory) == expected, boost::test_tools::per_element());
  BOOST_TEST(read_text(tree->directory / "modules/net/main.tf") == "# 2\n");

  const auto by_name = fetch({"", "v1.0.0"});
  BOOST_REQUIRE_MESSAGE(by_name.has_value(), outcome(by_name));
  BOOST_TEST(by_name->id == first);
  const auto of_source = fetch({}, "?rev=side");
  BOOST_REQUIRE_MESSAGE(of_source.has_value(), outcome(of_source));
  BOOST_TEST(of_source->id == pattern.side);
  BOOST_TEST(of_source->ref == "side");
}

BOOST_AUTO_TEST_CASE(over_http) {
  const HgServer server(repository);
  const auto remote = parse_source("hg::" + server.url() + "/?rev=v1.1.0");
  BOOST_REQUIRE_MESSAGE(remote.has_value(), outcome(remote));
  const auto listed = backend->list_versions(*remote, "", context);
  BOOST_REQUIRE_MESSAGE(listed.has_value(), outcome(listed));
  BOOST_TEST(listed->versions.size() == 2U);
  const auto pin = backend->pin(*remote, context);
  BOOST_TEST((pin ? pin->id : outcome(pin)) == second);
  const std::vector<FetchRequest> requests = {{second, "v1.1.0"}, {}};
  const auto trees = backend->fetch(*remote, requests, parent.path(), context);
  for (const auto& tree : trees) {
    BOOST_REQUIRE_MESSAGE(tree.has_value(), outcome(tree));
    BOOST_TEST(tree->id == second);
    BOOST_TEST(read_text(tree->directory / "modules/net/main.tf") == "# 2\n");
  }
}

BOOST_AUTO_TEST_CASE(a_copy_is_renewed_when_asked_for_more) {
  BOOST_REQUIRE(fetch({first, ""}).has_value());
  const std::string later = repository.commit("later.tf", "# later\n");
  const auto tree = fetch({later, ""});
  BOOST_REQUIRE_MESSAGE(tree.has_value(), outcome(tree));
  BOOST_TEST(fs::exists(tree->directory / "later.tf"));
}

BOOST_AUTO_TEST_CASE(what_is_not_there) {
  const std::string none(40, 'a');
  const auto no_changeset = fetch({none, ""});
  BOOST_TEST(to_string(no_changeset.error().code) == "NOT_FOUND");
  const auto no_id = fetch({"v1.0.0", ""});
  BOOST_TEST(no_id.error().message.find("\"v1.0.0\" is no changeset: 40 hexadecimal digits were expected") !=
             std::string::npos);
  fs::remove_all(repository.path());
  const auto no_repository = backend->pin(source(), context);
  BOOST_TEST(outcome(no_repository) == "NOT_FOUND: the backend \"hg\" (\"" + python() +
                                           "\") could not find the default version of \"hg::file://" +
                                           repository.path().string() + "\": hg says: abort: repository " +
                                           repository.path().string() + " not found");
  BOOST_TEST(fs::is_empty(parent.path()));
}

BOOST_AUTO_TEST_CASE(subrepositories_are_refused) {
  run({"hg", "init", (repository.path() / "sub").string()});
  const std::string with_sub = repository.commit(".hgsub", "sub = sub\n");
  const auto tree = fetch({with_sub, ""});
  BOOST_TEST(to_string(tree.error().code) == "SOURCE_UNSUPPORTED");
}

BOOST_AUTO_TEST_CASE(its_copies_go_with_it) {
  BOOST_REQUIRE(fetch({first, ""}).has_value());
  BOOST_TEST(!fs::is_empty(temporary.path()));
  backend.reset();
  BOOST_TEST(fs::is_empty(temporary.path()));
}

BOOST_AUTO_TEST_CASE(its_help) {
  BOOST_TEST(run({python(), MODLOCK_HG_BACKEND, "--help"}).find("usage: hg-backend") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
