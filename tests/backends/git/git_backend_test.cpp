#include "backends/git/git_backend.h"

#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "backends/git/objects.h"
#include "tests/backends/git/git_fixture.h"
#include "tests/support/needs.h"
#include "tests/support/run.h"
#include "tests/support/small_disk.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A repository with v1.0.0 and v1.1.0 on main, and one commit more.
struct Versions : GitFixture {
  Versions() {
    first = repository.commit({{"main.tf", "# 1\n"}});
    repository.tag("v1.0.0");
    second = repository.commit({{"main.tf", "# 2\n"}, {"sub/x.tf", "# x\n"}});
    repository.annotated_tag("v1.1.0");
    third = repository.commit({{"main.tf", "# 3\n"}});
  }
  std::string display() const { return "git::" + repository.url(); }
  Result<Pin> pin(const std::string& ref) const {
    return backend->pin(source(repository.url() + "?ref=" + ref), context);
  }

  GitRepository repository{directory / "remote.git"};
  std::string first;
  std::string second;
  std::string third;
};

// Bytes that do not compress.
std::string noise(std::size_t size) {
  std::string text;
  for (unsigned x = 1; text.size() < size;) {
    x = x * 1103515245U + 12345U;
    text += static_cast<char>(x >> 24U);
  }
  return text;
}

std::string codes(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    text += std::string(to_string(diagnostic.severity)) + " " + std::string(to_string(diagnostic.what.code)) + ": " +
            diagnostic.what.message + "\n";
  }
  return text;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(git_backend, Versions)

BOOST_AUTO_TEST_CASE(it_serves_git_only) {
  BOOST_TEST(backend->serves(source(repository.url()).source));
  BOOST_TEST(!backend->serves(parse_source("./local")->source));
  BOOST_TEST(backend->hash_scheme() == "git");
}

BOOST_AUTO_TEST_CASE(no_server_redirects_to_this_machine_unless_git_allows_it) {
  const auto redirected = [&](const std::string& url) {
    return outcome(backend->git()->check_redirected(source(url), context));
  };
  const std::string denied = "SOURCE_DENIED: the repository \"git::" + repository.url() +
                             "\" is on this machine, and a server must not redirect to it";
  BOOST_TEST(redirected(repository.url()) == denied);
  BOOST_TEST(redirected("https://example.com/x.git") == "ok");
  write_text(directory / "home" / ".gitconfig", "[protocol \"file\"]\n\tallow = user\n");
  BOOST_TEST(redirected(repository.url()) == denied);
  write_text(directory / "home" / ".gitconfig", "[protocol \"file\"]\n\tallow = always\n");
  BOOST_TEST(redirected(repository.url()) == "ok");
  BOOST_TEST(requests() == 0U);
}

BOOST_AUTO_TEST_CASE(versions_are_listed_with_one_request) {
  repository.tag("latest");
  repository.tag("1.0.0", second);
  const auto listing = backend->list_versions(source(repository.url()), "", context);
  BOOST_REQUIRE_EQUAL(outcome(listing), "ok");
  BOOST_REQUIRE_EQUAL(listing->versions.size(), 2U);
  BOOST_TEST(listing->versions[0].tag == "v1.1.0");
  BOOST_TEST(listing->versions[0].id == second);
  BOOST_TEST(listing->versions[1].tag == "1.0.0");
  BOOST_TEST(listing->versions[1].ambiguous_with == "v1.0.0");
  BOOST_REQUIRE_EQUAL(listing->skipped.size(), 1U);
  BOOST_TEST(listing->skipped[0].tag == "latest");
  BOOST_TEST(listing->complete);
  BOOST_TEST(requests() == 1U);
}

// A backend for one command: many calls of a repository name references of it, and directories in it.
BOOST_AUTO_TEST_CASE(references_of_a_repository_are_pinned_with_one_request) {
  backend = make_git_backend({.cache_directory = directory / "cache", .http = http.get(), .memoizes = true});
  for (const char* const call : {"//sub?ref=v1.0.0", "?ref=v1.1.0", "//other?ref=main", "?ref=v1.0.0"}) {
    BOOST_TEST(outcome(backend->pin(source(repository.url() + call), context)) == "ok");
  }
  BOOST_TEST(requests() == 1U);
  BOOST_TEST(pin("v1.1.0")->id == second);
  const auto head = backend->pin(source(repository.url()), context);
  BOOST_TEST_REQUIRE(head.has_value());
  BOOST_TEST(head->id == third);
  BOOST_TEST(requests() == 2U);
}

// git lists only tags for a full name of a tag, and says nothing of branches then.
BOOST_AUTO_TEST_CASE(references_that_git_lists_are_pinned_in_any_order) {
  repository.branch("both", first);
  repository.tag("both", second);
  const std::pair<std::string, std::string> refs[] = {
      {"refs/tags/v1.1.0", second}, {"main", third}, {"main~1", second}, {"both", second}, {"refs/heads/both", first}};
  for (const auto& [earlier, earlier_id] : refs) {
    for (const auto& [later, later_id] : refs) {
      BOOST_TEST_CONTEXT(earlier << ", then " << later) {
        backend = make_git_backend({.cache_directory = directory / "cache", .memoizes = true});
        for (const auto& [ref, id] : {std::pair(earlier, earlier_id), std::pair(later, later_id)}) {
          const auto pinned = pin(ref);
          BOOST_REQUIRE_EQUAL(outcome(pinned), "ok");
          BOOST_TEST(pinned->id == id);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(references_are_pinned) {
  repository.branch("v1.1.0", first);
  repository.branch("side", first);
  repository.branch(second.substr(0, 8), first);
  repository.branch("2024", first);
  struct Row {
    const char* name;
    std::string ref;
    std::string expected_ref;
    std::string expected_id;
  };
  for (const Row& row :
       {Row{"tag before branch", "v1.1.0", "refs/tags/v1.1.0", second}, Row{"branch", "side", "refs/heads/side", first},
        Row{"HEAD", "HEAD", "HEAD", third}, Row{"peeled tag", "v1.1.0^{}", "refs/tags/v1.1.0", second},
        Row{"tag, no step back", "v1.1.0~0", "refs/tags/v1.1.0", second},
        Row{"commit before branch", second.substr(0, 8), "", second},
        Row{"branch of digits", "2024", "refs/heads/2024", first}, Row{"tip by id", third, "", third},
        Row{"older commit by id", second, "", second}}) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto pinned = pin(row.ref);
      BOOST_REQUIRE_EQUAL(outcome(pinned), "ok");
      BOOST_TEST(pinned->ref == row.expected_ref);
      BOOST_TEST(pinned->id == row.expected_id);
    }
  }
  const auto pinned = backend->pin(source(repository.url()), context);
  BOOST_REQUIRE_EQUAL(outcome(pinned), "ok");
  BOOST_TEST(pinned->ref == "HEAD");
  BOOST_TEST(pinned->id == third);
}

BOOST_AUTO_TEST_CASE(an_inner_commit_is_found_on_a_branch_although_clocks_were_wrong) {
  // Every commit above is dated before its parent: the history since its date does not show the way.
  const std::string tree = repository.id("main^{tree}");
  const std::string inner = repository.commit_tree(tree);
  const std::string date = "1000000000 +0000";
  const std::string top =
      repository.git({"commit-tree", tree, "-m", "top", "-p", inner}, {}, {{"GIT_COMMITTER_DATE", date}});
  repository.branch("skewed", top);
  const auto pinned = pin(inner);
  BOOST_TEST(outcome(pinned) == "ok");
}

BOOST_AUTO_TEST_CASE(a_commit_on_no_branch_or_tag_is_refused) {
  // As hosts keep the commits of forks: there, and given out to whoever names them.
  const std::string fork = repository.commit_tree(repository.id("main^{tree}"), third);
  BOOST_TEST(outcome(pin(fork)) == "HASH_MISMATCH: commit " + fork + " is on no branch and no tag of \"" + display() +
                                       "\": it may come from a fork, or from a history that was rewritten");
  // Nor does having looked at it once make it good.
  BOOST_TEST(outcome(pin(fork)).substr(0, 14) == "HASH_MISMATCH:");
  BOOST_TEST(outcome(fetch_one(repository.url(), {fork, "", true})).substr(0, 14) == "HASH_MISMATCH:");
  BOOST_TEST(outcome(fetch_one(repository.url(), {fork, "refs/tags/v1.0.0", true})) ==
             "HASH_MISMATCH: \"refs/tags/v1.0.0\" of \"" + display() + "\" points to commit " + first +
                 " now; the locked commit " + fork + " is no longer reachable from any branch or tag");
}

BOOST_AUTO_TEST_CASE(an_unknown_commit_is_named) {
  const std::string unknown(40, '1');
  BOOST_TEST(outcome(pin(unknown)) == "NOT_FOUND: \"" + display() + "\" has no commit " + unknown);
  const auto tree = fetch_one(repository.url(), {unknown, "", true});
  BOOST_TEST(outcome(tree) == "NOT_FOUND: \"" + display() + "\" has no commit " + unknown);
  BOOST_TEST((tree.error().reason == Reason::locked_thing_gone));
}

BOOST_AUTO_TEST_CASE(all_wishes_arrive_with_one_request_and_stay) {
  const std::vector<FetchRequest> fetch_requests = {
      {first, "refs/tags/v1.0.0", false}, {second, "refs/tags/v1.1.0", true}, {third, "HEAD", false}};
  auto trees = fetch(repository.url(), fetch_requests);
  BOOST_REQUIRE_EQUAL(trees.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    BOOST_REQUIRE_EQUAL(outcome(trees[i]), "ok");
    BOOST_TEST(trees[i]->id == fetch_requests[i].id);
    BOOST_TEST(trees[i]->directory.parent_path() == directory / "parent");
    BOOST_TEST(read_text(trees[i]->directory / "main.tf") == "# " + std::to_string(i + 1) + "\n");
    BOOST_TEST(!fs::exists(trees[i]->directory / ".git"));
    BOOST_TEST(trees[i]->warnings.empty());
  }
  BOOST_TEST(read_text(trees[1]->directory / "sub" / "x.tf") == "# x\n");
  BOOST_TEST(requests() == 1U);

  // The repository may vanish: what was fetched is there.
  fs::remove_all(repository.path());
  context.offline = true;
  trees = fetch(repository.url(), fetch_requests);
  BOOST_TEST(outcome(trees[1]) == "ok");
  BOOST_TEST(requests() == 1U);
  BOOST_TEST(outcome(pin(first)) == "ok");
}

BOOST_AUTO_TEST_CASE(a_repository_with_commits_costs_one_request_and_is_fetched_again_if_it_is_damaged) {
  const std::vector<FetchRequest> wanted = {{first, "refs/tags/v1.0.0", true}, {third, "HEAD", true}};
  const auto is_whole = [&](const Result<fs::path>& found) {
    BOOST_REQUIRE_EQUAL(outcome(found), "ok");
    const auto objects = git::ObjectReader::open(*found);
    BOOST_REQUIRE_EQUAL(outcome(objects), "ok");
    return objects->is_whole(first) && objects->is_whole(third);
  };
  const SourceAddress address = source(repository.url());
  const auto found = backend->git()->repository_with(address, wanted, context);
  BOOST_TEST(is_whole(found));
  BOOST_TEST(is_whole(backend->git()->repository_with(address, wanted, context)));
  BOOST_TEST(requests() == 1U);
  fs::remove_all(*found / "objects" / "pack");
  BOOST_TEST(is_whole(backend->git()->repository_with(address, wanted, context)));
  BOOST_TEST(requests() == 3U);  // one of them failed
  BOOST_TEST(outcome(backend->git()->repository_with(
                 address, std::vector<FetchRequest>{{std::string(40, '1'), "", true}}, context)) ==
             "NOT_FOUND: \"" + display() + "\" has no commit " + std::string(40, '1'));
}

BOOST_AUTO_TEST_CASE(offline_asks_nobody) {
  context.offline = true;
  BOOST_TEST(outcome(backend->list_versions(source(repository.url()), "", context)) ==
             "OFFLINE_MISS: git may not list the tags of \"" + display() +
                 "\" in offline mode: it is not in the cache");
  BOOST_TEST(outcome(pin("v1.0.0")).substr(0, 13) == "OFFLINE_MISS:");
  BOOST_TEST(outcome(pin(first)).substr(0, 13) == "OFFLINE_MISS:");
  BOOST_TEST(outcome(fetch_one(repository.url(), {first, "refs/tags/v1.0.0", true})).substr(0, 13) == "OFFLINE_MISS:");
  BOOST_TEST(requests() == 0U);
  BOOST_TEST(!fs::exists(directory / "cache"));
}

BOOST_AUTO_TEST_CASE(a_moved_tag_leaves_the_locked_commit_where_it_is_reachable) {
  repository.tag("v1.0.0", second);
  const auto tree = fetch_one(repository.url(), {first, "refs/tags/v1.0.0", true});
  BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
  BOOST_TEST(read_text(tree->directory / "main.tf") == "# 1\n");
  BOOST_TEST(codes(tree->warnings) == "warning TAG_MOVED: \"refs/tags/v1.0.0\" of \"" + display() +
                                          "\" points to commit " + second + " now; the locked commit " + first +
                                          " is used, because it is still reachable from a branch or tag\n");
}

BOOST_AUTO_TEST_CASE(a_moved_tag_of_a_rewritten_history_is_a_mismatch) {
  const std::string other = repository.commit_tree(repository.id("main^{tree}"));
  repository.branch("main", other);
  repository.tag("v1.0.0", other);
  repository.remove("refs/tags/v1.1.0");
  repository.git({"gc", "--quiet", "--prune=now"});
  BOOST_TEST(outcome(fetch_one(repository.url(), {first, "refs/tags/v1.0.0", true})) ==
             "HASH_MISMATCH: \"refs/tags/v1.0.0\" of \"" + display() + "\" points to commit " + other +
                 " now; the locked commit " + first + " is no longer reachable from any branch or tag");
}

BOOST_AUTO_TEST_CASE(what_was_just_resolved_must_not_have_moved) {
  repository.tag("v1.0.0", second);
  BOOST_TEST(outcome(fetch_one(repository.url(), {first, "refs/tags/v1.0.0", false})) ==
             "CONTENT_MODIFIED: \"refs/tags/v1.0.0\" of \"" + display() + "\" pointed to commit " + first +
                 " a moment ago and points to " + second + " now");
}

BOOST_AUTO_TEST_CASE(a_branch_that_moved_on_is_no_warning) {
  const auto tree = fetch_one(repository.url(), {first, "main", true});
  BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
  BOOST_TEST(codes(tree->warnings) == "");
}

BOOST_AUTO_TEST_CASE(one_deleted_tag_does_not_sink_the_others) {
  repository.remove("refs/tags/v1.0.0");
  const auto trees = fetch(
      repository.url(),
      {{first, "refs/tags/v1.0.0", true}, {second, "refs/tags/v1.1.0", true}, {first, "refs/tags/v0.9.0", false}});
  BOOST_REQUIRE_EQUAL(outcome(trees[0]), "ok");
  BOOST_TEST(codes(trees[0]->warnings) == "warning TAG_MOVED: \"refs/tags/v1.0.0\" of \"" + display() +
                                              "\" is gone; the locked commit " + first +
                                              " is used, because it is still reachable from a branch or tag\n");
  BOOST_TEST(outcome(trees[1]) == "ok");
  BOOST_TEST(outcome(trees[2]) == "NOT_FOUND: \"refs/tags/v0.9.0\" of \"" + display() + "\" is gone");
}

BOOST_AUTO_TEST_CASE(a_tag_of_a_blob_or_tree_is_no_version_to_install) {
  const std::string blob = repository.write_blob("text\n");
  repository.tag("v2.0.0", blob);
  repository.tag("v3.0.0", "main^{tree}");
  repository.annotated_tag("v4.0.0", blob);
  const auto listing = backend->list_versions(source(repository.url()), "", context);
  BOOST_REQUIRE_EQUAL(outcome(listing), "ok");
  const auto fetch_version = [&](std::size_t i) {
    const ListedVersion& version = listing->versions.at(i);
    return outcome(fetch_one(repository.url(), {version.id, "refs/tags/" + version.tag, false}));
  };
  BOOST_TEST(fetch_version(0) ==
             "NOT_FOUND: \"refs/tags/v4.0.0\" of \"" + display() + "\" points to a blob, not to a commit");
  BOOST_TEST(fetch_version(1) ==
             "NOT_FOUND: \"refs/tags/v3.0.0\" of \"" + display() + "\" points to a tree, not to a commit");
  BOOST_TEST(fetch_version(2) ==
             "NOT_FOUND: \"refs/tags/v2.0.0\" of \"" + display() + "\" points to a blob, not to a commit");
}

BOOST_AUTO_TEST_CASE(a_wish_that_is_no_commit_or_reference_is_refused) {
  struct Row {
    const char* name;
    FetchRequest fetch_request;
    std::string expected;
  };
  const std::string forged = "refs/heads/main:refs/modlock/commits/" + first;
  for (const Row& row : {
           Row{"id",
               {"-x", "", true},
               "NOT_FOUND: \"" + display() + "\" has no commit \"-x\": 40 hexadecimal digits were expected"},
           Row{"refspec",
               {first, forged, true},
               "NOT_FOUND: \"" + display() + "\" has no branch or tag \"" + forged +
                   "\": no reference can have that name"},
           Row{"another commit",
               {first, second, true},
               "HASH_MISMATCH: commit " + second + " of \"" + display() + "\" is asked for, and " + first +
                   " is expected"},
           Row{"the same commit", {first, first, true}, "ok"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(outcome(fetch_one(repository.url(), row.fetch_request)) == row.expected);
    }
  }
  repository.annotated_tag("v9.0.0");
  const std::string tag_object = repository.id("refs/tags/v9.0.0");
  BOOST_TEST(outcome(fetch_one(repository.url(), {tag_object, "", false})) ==
             "NOT_FOUND: \"" + tag_object + "\" of \"" + display() + "\" points to a tag object, not to a commit");
}

BOOST_AUTO_TEST_CASE(a_vanished_repository_is_named) {
  fs::remove_all(repository.path());
  const std::string gone = "\": repository not found, or access denied";
  BOOST_TEST(outcome(backend->list_versions(source(repository.url()), "", context)) ==
             "NOT_FOUND: git could not list the tags of \"" + display() + gone);
  BOOST_TEST(outcome(fetch_one(repository.url(), {first, "refs/tags/v1.0.0", true})) ==
             "NOT_FOUND: git could not fetch from \"" + display() + gone);
}

BOOST_AUTO_TEST_CASE(a_killed_git_leaves_nothing_that_stops_the_next) {
  BOOST_TEST(outcome(fetch_one(repository.url(), {first, "refs/tags/v1.0.0", false})) == "ok");
  const fs::path cached = fs::directory_iterator(directory / "cache")->path();
  write_text(cached / "shallow.lock", "");
  write_text(cached / "refs/modlock/incoming/0.lock", "");
  write_text(cached / "objects/pack/tmp_pack_x", "half");
  BOOST_TEST(outcome(fetch_one(repository.url(), {second, "refs/tags/v1.1.0", false})) == "ok");
  BOOST_TEST(!fs::exists(cached / "objects/pack/tmp_pack_x"));
}

BOOST_AUTO_TEST_CASE(a_broken_cache_is_made_anew) {
  BOOST_TEST(outcome(fetch_one(repository.url(), {first, "refs/tags/v1.0.0", false})) == "ok");
  const fs::path cached = fs::directory_iterator(directory / "cache")->path();
  fs::remove_all(cached / "objects");
  BOOST_TEST(outcome(fetch_one(repository.url(), {first, "refs/tags/v1.0.0", false})) == "ok");
}

BOOST_AUTO_TEST_CASE(threads_share_one_repository) {
  std::vector<std::string> outcomes(4);
  std::vector<std::thread> threads;
  for (std::string& slot : outcomes) {
    threads.emplace_back([&] { slot = outcome(fetch_one(repository.url(), {second, "refs/tags/v1.1.0", false})); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::string& found : outcomes) {
    BOOST_TEST(found == "ok");
  }
  BOOST_TEST(requests() == 1U);
}

BOOST_AUTO_TEST_CASE(transport_helpers_never_run) {
  const fs::path witness = directory / "ran";
  SourceAddress address = source(repository.url());
  address.package_url = SecretText("ext::touch " + witness.string());
  BOOST_TEST(outcome(backend->list_versions(address, "", context)).substr(0, 14) == "SOURCE_DENIED:");
  // Nor by the back door of a rewritten address.
  write_text(directory / "home" / ".gitconfig", "[url \"ext::touch " + witness.string() + " \"]\n\tinsteadOf = " +
                                                    repository.url() + "\n[protocol \"ext\"]\n\tallow = always\n");
  BOOST_TEST(outcome(backend->list_versions(source(repository.url()), "", context)) ==
             "SOURCE_DENIED: git could not list the tags of \"" + display() + "\": its transport is not allowed");
  BOOST_TEST(!fs::exists(witness));
}

BOOST_AUTO_TEST_CASE(the_repository_of_the_environment_is_left_alone) {
  const ScopedEnvironment directory_variable("GIT_DIR", (directory / "nowhere").string());
  const ScopedEnvironment index_variable("GIT_INDEX_FILE", (directory / "nowhere-index").string());
  BOOST_TEST(outcome(fetch_one(repository.url(), {first, "refs/tags/v1.0.0", false})) == "ok");
  BOOST_TEST(!fs::exists(directory / "nowhere-index"));
}

BOOST_AUTO_TEST_CASE(a_repository_of_another_owner_is_read, *needs("root")) {
  run({"chown", "-R", "12345", repository.path().string()});
  BOOST_TEST(outcome(fetch_one(repository.url(), {first, "refs/tags/v1.0.0", false})) == "ok");
}

BOOST_AUTO_TEST_CASE(without_git_the_tool_is_named) {
  const ScopedEnvironment path("PATH", (directory / "empty").string());
  BOOST_TEST(outcome(backend->list_versions(source(repository.url()), "", context)) ==
             "TOOL_MISSING: git is needed to list the tags of \"" + display() + "\" and is not on PATH");
  BOOST_TEST(outcome(fetch_one(repository.url(), {first, "refs/tags/v1.0.0", false})).substr(0, 13) == "TOOL_MISSING:");
}

BOOST_AUTO_TEST_CASE(a_cache_that_cannot_be_made_is_named) {
  write_text(directory / "cache", "a file");
  BOOST_TEST(outcome(fetch_one(repository.url(), {first, "refs/tags/v1.0.0", false})).substr(0, 9) == "IO_ERROR:");
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_named_and_nothing_is_left, *needs(kMount)) {
  const std::string big = repository.commit({{"big", noise(2000000)}});
  const FetchRequest fetch_request{big, "HEAD", false};
  {
    const SmallDisk disk(directory / "cache", 400);
    BOOST_TEST(outcome(fetch_one(repository.url(), fetch_request)) ==
               "IO_ERROR: git could not fetch from \"" + display() + "\": the disk that holds the cache is full");
    // What fits still comes.
    BOOST_TEST(outcome(fetch_one(repository.url(), {first, "refs/tags/v1.0.0", false})) == "ok");
  }
  const SmallDisk disk(directory / "parent", 400);
  BOOST_TEST(outcome(fetch_one(repository.url(), fetch_request)) ==
             "IO_ERROR: git could not check out \"" + display() + "\": cannot write \"big\": No space left on device");
  BOOST_TEST(fs::is_empty(directory / "parent"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
