#include "backends/external/external_backend.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/backends/external/external_fixture.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(external_backend_test)

BOOST_AUTO_TEST_CASE(which_sources_it_serves) {
  const auto backend = make_external_backend({.scheme = "hg", .command = {"hg-backend"}});
  struct Row {
    const char* source;
    bool served;
  };
  const Row rows[] = {
      {"hg::https://example.com/mod", true},  {"git::https://example.com/mod", false},
      {"HG::https://example.com/mod", false}, {"s3::https://s3.amazonaws.com/bucket/mod.zip", false},
      {"hashicorp/consul/aws", false},        {"./hg", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.source) {
      const auto source = parse_source(row.source);
      BOOST_REQUIRE(source.has_value());
      BOOST_TEST(backend->serves(source->source) == row.served);
    }
  }
  BOOST_TEST(backend->hash_scheme() == "hg");
}

BOOST_AUTO_TEST_CASE(hosts_of_a_built_in_kind) {
  BackendSet backends;
  backends.add(make_external_backend({.scheme = "git", .command = {"x"}}),
               {.hosts = {"git.example.com", "bücher.example:8443"}});
  struct Row {
    const char* source;
    bool served;
  };
  const Row rows[] = {
      {"git::https://git.example.com/mod", true},
      {"git::https://GIT.example.com/mod?ref=v1", true},
      {"git::https://me:secret@git.example.com/mod", true},
      {"git@git.example.com:team/mod.git", true},
      {"git::ssh://git@git.example.com/mod", true},
      {"git::https://bücher.example:8443/mod", true},
      {"git::https://xn--bcher-kva.example:8443/mod", true},
      {"git::https://git.example.com:8443/mod", false},
      {"git::https://example.com/mod", false},
      {"git::https://git.example.com.example.org/mod", false},
      {"git::file:///git.example.com/mod", false},
      {"https://git.example.com/mod.zip", false},
      {"git.example.com/a/b/c", false},
      {"oci://git.example.com/mod", false},
      {"hg::https://git.example.com/mod", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.source) {
      const auto source = parse_source(row.source);
      BOOST_REQUIRE(source.has_value());
      const Backend* const backend = backends.find(source->source);
      BOOST_TEST((backend != nullptr) == row.served);
      BOOST_TEST((backend == nullptr || backend->answered_by() == "the backend \"git\" (\"x\")"));
    }
  }
}

BOOST_AUTO_TEST_CASE(commands_that_are_refused) {
  struct Row {
    const char* name;
    ExternalCommand command;
    const char* outcome;
  };
  const Row rows[] = {
      {"a name", {"hg", {"hg-backend"}}, "ok"},
      {"a whole path", {"s3", {"/opt/s3-backend", "--region", "x"}}, "ok"},
      {"no scheme", {"", {"x"}}, "CONFIG_PARSE: a backend needs a scheme of letters and digits, found \"\""},
      {"no getter", {"a-b", {"x"}}, "CONFIG_PARSE: a backend needs a scheme of letters and digits, found \"a-b\""},
      {"served", {"git", {"x"}}, "CONFIG_PARSE: no backend can be added for \"git\": the name is taken"},
      {"hosts of git", {"git", {"x"}, {"git.example.com", "127.0.0.1:8443"}}, "ok"},
      {"hosts that only sources can have",
       {"git", {"x"}, {"git_server.example", "[::1]:9", "xn--bcher-kva.example"}},
       "ok"},
      {"hosts that registries cannot have",
       {"registry", {"x"}, {"example.com", "git_server.example"}},
       "CONFIG_PARSE: the hosts of the backend \"registry\" must be names of hosts, found \"git_server.example\""},
      {"a pattern",
       {"git", {"x"}, {"*.example.com"}},
       "CONFIG_PARSE: the hosts of the backend \"git\" must be names of hosts, found \"*.example.com\""},
      {"a user",
       {"git", {"x"}, {"me@example.com"}},
       "CONFIG_PARSE: the hosts of the backend \"git\" must be names of hosts, found \"me@example.com\""},
      {"an empty host",
       {"archive", {"x"}, {""}},
       "CONFIG_PARSE: the hosts of the backend \"archive\" must be names of hosts, found \"\""},
      {"hosts of another scheme",
       {"hg", {"x"}, {"example.com"}},
       "CONFIG_PARSE: the backend \"hg\" cannot have hosts: it serves all sources of its scheme; those with hosts are "
       "for git, registry, oci, archive, s3, gcs"},
      {"hosts of another built-in kind",
       {"https", {"x"}, {"example.com"}},
       "CONFIG_PARSE: the backend \"https\" cannot have hosts: those with hosts are for git, registry, oci, archive, "
       "s3, gcs"},
      {"hosts of oci", {"oci", {"x"}, {"example.com:5000"}}, "ok"},
      {"hosts of archives", {"archive", {"x"}, {"example.com"}}, "ok"},
      {"hosts of S3", {"s3", {"x"}, {"s3-eu-west-1.amazonaws.com", "localhost:9000"}}, "ok"},
      {"hosts of Google", {"gcs", {"x"}, {"www.googleapis.com"}}, "ok"},
      {"Google without hosts, which is all of it", {"gcs", {"x"}}, "ok"},
      {"archives without hosts, which is never asked", {"archive", {"x"}}, "ok"},
      {"no host",
       {"git", {"x"}, {"git.example.com", "https://example.com"}},
       "CONFIG_PARSE: the hosts of the backend \"git\" must be names of hosts, found \"https://example.com\""},
      {"a relative program for hosts",
       {"git", {"./x"}, {"git.example.com"}},
       "CONFIG_PARSE: the command of the backend \"git\" must begin with the name or the whole path of a program, "
       "found "
       "\"./x\""},
      {"a hash", {"h1", {"x"}}, "CONFIG_PARSE: no backend can be added for \"h1\": the name is taken"},
      {"no command",
       {"hg", {}},
       "CONFIG_PARSE: the command of the backend \"hg\" must begin with the name or the whole path of a program, found "
       "\"\""},
      {"a path of the working directory",
       {"hg", {"bin/x"}},
       "CONFIG_PARSE: the command of the backend \"hg\" must begin with the name or the whole path of a program, found "
       "\"bin/x\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(outcome(check_external_command(row.command)) == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_CASE(hints_about_hosts) {
  struct Row {
    const char* scheme;
    std::vector<std::string> hosts;
    const char* hint;
  };
  const Row rows[] = {
      {"hg", {"example.com"}, "remove hosts"},
      {"https", {"example.com"}, "name a kind that can have hosts: git or registry or oci or archive or s3 or gcs"},
      {"git", {}, "name the hosts that it serves: hosts = [\"git.example.com\"]"},
      {"git", {"https://example.com"}, "write it as \"git.example.com\""},
      {"git", {"example.com:99999"}, "write it as \"git.example.com\""},
      {"registry", {"xn--bcher-kva.example:8443"}, "write the name in Unicode: \"bücher.example\""},
      {"registry", {"xn--bcher-kva.example"}, "write the name in Unicode: \"bücher.example\""},
      {"registry", {"xn--a.example"}, "write it as \"git.example.com\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.scheme << " " << (row.hosts.empty() ? "" : row.hosts[0])) {
      const auto checked = check_external_command({row.scheme, {"x"}, row.hosts});
      BOOST_TEST_REQUIRE(!checked.has_value());
      BOOST_TEST(checked.error().hint == row.hint);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(external_backend_process_test, *needs("python3"))

std::vector<std::string> shown(const Listing& listing) {
  std::vector<std::string> lines;
  for (const ListedVersion& listed : listing.versions) {
    lines.push_back(listed.version.to_string() + " " + listed.tag + " " + listed.ref + " " + listed.id +
                    (listed.ambiguous_with.empty() ? "" : " or " + listed.ambiguous_with));
  }
  for (const SkippedTag& skipped : listing.skipped) {
    lines.push_back("- " + skipped.tag + ": " + skipped.reason);
  }
  return lines;
}

BOOST_AUTO_TEST_CASE(listing) {
  struct Row {
    const char* name;  // the behaviour
    std::string_view prefix;
    bool complete;
    std::vector<std::string> lines;
  };
  const Row rows[] = {
      {"normal",
       "",
       true,
       {"1.1.0 v1.1.0 v1.1.0 ", "1.0.0 v1.0.0 v1.0.0 id-v1.0.0", "- other: not a semantic version"}},
      {"normal", "other/", true, {"- v1.0.0: other prefix", "- v1.1.0: other prefix", "- other: other prefix"}},
      {"tells more",
       "",
       true,
       {"1.1.0 v1.1.0 v1.1.0 ", "1.0.0 v1.0.0 v1.0.0 id-v1.0.0", "- other: not a semantic version"}},
      {"floods stderr",
       "",
       true,
       {"1.1.0 v1.1.0 v1.1.0 ", "1.0.0 v1.0.0 v1.0.0 id-v1.0.0", "- other: not a semantic version"}},
      {"same versions",
       "",
       false,
       {"1.2.0 v1.2.0 v1.2.0 ", "1.1.0 v1.1.0 v1.1.0 a", "1.0.0 v1.0.0 v1.0.0 a or 1.0.0",
        "- bad\\x0atag: not a valid tag name", "- : not a valid tag name",
        "- 1.1.0: the same version and id as \"v1.1.0\""}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name << " " << row.prefix) {
      ExternalFixture fixture;
      auto backend = fixture.backend(row.name);
      const auto listed = backend->list_versions(fixture.source(), row.prefix, fixture.context);
      BOOST_REQUIRE_MESSAGE(listed.has_value(), outcome(listed));
      BOOST_TEST(shown(*listed) == row.lines, boost::test_tools::per_element());
      BOOST_TEST(listed->complete == row.complete);
      backend.reset();
      BOOST_TEST(fixture.all_gone());
    }
  }
}

BOOST_AUTO_TEST_CASE(pins_and_what_they_ask) {
  ExternalFixture fixture;
  const auto backend = fixture.backend("normal");
  struct Row {
    const char* more;
    const char* request;
    const char* id;
    const char* ref;
  };
  const Row rows[] = {
      {"?tag=v1.0.0", R"("fake::https://example.com/mod?tag=v1.0.0", "tag": "v1.0.0"})", "id-v1.0.0", "v1.0.0"},
      {"?rev=stable", R"("ref": "stable", "source": "fake::https://example.com/mod?rev=stable"})", "id-stable",
       "stable"},
      {"?ref=main", R"("ref": "main", "source": "fake::https://example.com/mod?ref=main"})", "id-main", "main"},
      {"//sub", R"("ref": "", "source": "fake::https://example.com/mod"})", "id-default", ""},
  };
  std::vector<std::string> expected = {"backend/describe {}"};
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.more) {
      const auto pin = backend->pin(fixture.source(row.more), fixture.context);
      BOOST_REQUIRE_MESSAGE(pin.has_value(), outcome(pin));
      BOOST_TEST(pin->id == row.id);
      BOOST_TEST(pin->ref == row.ref);
    }
    const bool is_tag = std::string_view(row.more).starts_with("?tag");
    expected.push_back(std::string("backend/pin {") + (is_tag ? "\"source\": " : "") + row.request);
  }
  BOOST_TEST(fixture.requests() == expected, boost::test_tools::per_element());
  BOOST_TEST(fixture.starts() == 1U);
  BOOST_TEST(fixture.stats.requests.load() == 4U);
}

BOOST_AUTO_TEST_CASE(fetching_by_id_and_by_name) {
  struct Row {
    const char* name;
    const char* more;
    FetchRequest fetch_request;
    const char* asked;  // of the params
    const char* id;
    const char* ref;
  };
  const Row rows[] = {
      {"an id", "", {"id-x", "v1.0.0"}, "\"id\": \"id-x\"", "id-x", "v1.0.0"},
      {"a listed tag", "", {"", "v1.1.0"}, "\"tag\": \"v1.1.0\"", "id-v1.1.0", "v1.1.0"},
      {"the source's own ref", "?rev=stable", {"", "stable"}, "\"ref\": \"stable\"", "id-stable", "stable"},
      {"nothing: the source's own ref", "?rev=stable", {}, "\"ref\": \"stable\"", "id-stable", "stable"},
      {"nothing: the source's own tag", "?tag=v1.0.0", {}, "\"tag\": \"v1.0.0\"", "id-v1.0.0", "v1.0.0"},
      {"nothing at all", "", {}, "\"ref\": \"\"", "id-default", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ExternalFixture fixture;
      const auto backend = fixture.backend("normal");
      const std::vector<FetchRequest> fetch_requests = {row.fetch_request};
      const auto trees =
          backend->fetch(fixture.source(row.more), fetch_requests, fixture.directory / "parent", fixture.context);
      BOOST_REQUIRE_MESSAGE(trees.at(0).has_value(), outcome(trees.at(0)));
      BOOST_TEST(trees[0]->id == row.id);
      BOOST_TEST(trees[0]->ref == row.ref);
      BOOST_TEST((trees[0]->directory.parent_path() == fixture.directory / "parent"));
      BOOST_TEST(read_text(trees[0]->directory / "main.tf") == std::string("# ") + row.id + "\n");
      BOOST_TEST(fixture.requests().at(1).find(row.asked) != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(answers_may_come_in_any_order) {
  const ExternalFixture fixture;
  const auto backend = fixture.backend("in reverse");
  const std::vector<FetchRequest> fetch_requests = {{"id-1", ""}, {"id-2", ""}, {"id-3", ""}};
  const auto trees = backend->fetch(fixture.source(), fetch_requests, fixture.directory / "parent", fixture.context);
  BOOST_REQUIRE(trees.size() == 3U);
  for (std::size_t i = 0; i < trees.size(); ++i) {
    BOOST_REQUIRE_MESSAGE(trees[i].has_value(), outcome(trees[i]));
    BOOST_TEST(trees[i]->id == fetch_requests[i].id);
    BOOST_TEST(read_text(trees[i]->directory / "main.tf") == "# " + fetch_requests[i].id + "\n");
  }
}

BOOST_AUTO_TEST_CASE(many_threads_share_one_process) {
  ExternalFixture fixture;
  auto backend = fixture.backend("normal");
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        for (int round = 0; round < 20; ++round) {
          const std::string name = "r" + std::to_string(i) + "-" + std::to_string(round);
          const auto pin = backend->pin(fixture.source("?rev=" + name), fixture.context);
          wrong += pin && pin->id == "id-" + name ? 0 : 1;
        }
      });
    }
  }
  BOOST_TEST(wrong == 0);
  BOOST_TEST(fixture.starts() == 1U);
  BOOST_TEST(fixture.stats.requests.load() == 160U);
  backend.reset();
  BOOST_TEST(fixture.all_gone());
}

BOOST_AUTO_TEST_CASE(offline_starts_nothing) {
  ExternalFixture fixture;
  fixture.context.offline = true;
  const auto backend = fixture.backend("normal");
  BOOST_TEST(
      outcome(backend->list_versions(fixture.source(), "", fixture.context)) ==
      "OFFLINE_MISS: the backend \"fake\" may not list the tags of \"fake::https://example.com/mod\" in offline mode: "
      "it is not in the cache");
  const std::vector<FetchRequest> fetch_requests = {{"id-x", ""}};
  const auto trees = backend->fetch(fixture.source(), fetch_requests, fixture.directory / "parent", fixture.context);
  BOOST_TEST(to_string(trees.at(0).error().code) == "OFFLINE_MISS");
  BOOST_TEST(fixture.starts() == 0U);
  BOOST_TEST(fs::is_empty(fixture.directory / "parent"));
}

BOOST_AUTO_TEST_CASE(what_it_says_goes_to_the_log) {
  ExternalFixture fixture;
  const auto backend = fixture.backend("floods stderr");
  BOOST_TEST(outcome(backend->list_versions(fixture.source(), "", fixture.context)) == "ok");
  // Lines of 32 KiB are left out.
  const std::vector<std::string> expected = {
      "debug: the backend \"fake\" is fake program 1.5", "debug: the backend \"fake\" says: \\x1b[1mdone",
      "debug: the backend \"fake\" (\"" + python() + "\"), backend/list fake::https://example.com/mod: answered"};
  BOOST_TEST(fixture.log.lines() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(no_secret_is_shown) {
  ExternalFixture fixture;
  const auto backend = fixture.backend("echoes secrets");
  const auto secret =
      parse_source("fake::https://me-and-myself:canary-password@example.com/mod?key=canary-query&rev=stable");
  BOOST_REQUIRE(secret.has_value());
  const auto listed = backend->list_versions(*secret, "", fixture.context);
  BOOST_TEST(outcome(listed) ==
             "NOT_FOUND: the backend \"fake\" (\"" + python() +
                 "\") could not list the tags of \"fake::https://example.com/mod?rev=stable\": user … "
                 "with … at https://…@example.com/mod…\\x0ais not …");
  BOOST_TEST(listed.error().hint == "look at https://…@example.com/mod…");
  const std::vector<std::string> expected = {
      "debug: the backend \"fake\" is fake program 1.5",
      "debug: the backend \"fake\" says: asked for https://…@example.com/mod…",
      "debug: the backend \"fake\" (\"" + python() +
          "\"), backend/list fake::https://example.com/mod?rev=stable: NOT_FOUND"};
  BOOST_TEST(fixture.log.lines() == expected, boost::test_tools::per_element());
  const std::string pid = read_text(fixture.directory / "starts");
  const std::string arguments = read_text("/proc/" + pid.substr(0, pid.find('\n')) + "/cmdline");
  BOOST_TEST(arguments.find("program.py") != std::string::npos);
  BOOST_TEST(arguments.find("canary") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
