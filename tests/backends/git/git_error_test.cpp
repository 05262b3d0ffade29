#include "backends/git/git_error.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/environment.h"
#include "tests/support/temporary_directory.h"

namespace modlock::git {

BOOST_AUTO_TEST_SUITE(git_error)

namespace {

RemoteAddress remote() {
  return {.url = "https://h.test:8443/m.git",
          .full_url = {},
          .display = "git::https://h.test:8443/m.git",
          .scheme = "https",
          .host = "h.test:8443",
          .username = {},
          .password = {}};
}

constexpr const char* kAccessRights =
    "fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the "
    "repository exists.\n";

}  // namespace

// What git 2.39 (and the servers and ssh behind it) wrote; the rows of GitHub, GitLab, a full disk and HTTP/2 are
// written after their documentation.
BOOST_AUTO_TEST_CASE(recorded_outputs_have_a_meaning) {
  struct Row {
    const char* name;
    std::string output;
    const char* code;
    const char* found;
  };
  const std::string rights = kAccessRights;
  for (const Row& row : {
           Row{"no such reference", "fatal: couldn't find remote ref refs/tags/nope\n", "NOT_FOUND",
               "branch or tag not found"},
           Row{"no such commit",
               "fatal: git upload-pack: not our ref 1111111111111111111111111111111111111111\nfatal: remote error: "
               "upload-pack: not our ref 1111111111111111111111111111111111111111\n",
               "NOT_FOUND", "the remote does not serve that commit"},
           Row{"file repository gone", "fatal: '/tmp/r' does not appear to be a git repository\n" + rights, "NOT_FOUND",
               "repository not found, or access denied"},
           Row{"https repository gone", "fatal: repository 'https://h.test/m.git/' not found\n", "NOT_FOUND",
               "repository not found, or access denied"},
           Row{"ssh repository gone", "ERROR: Repository not found.\n" + rights, "NOT_FOUND",
               "repository not found, or access denied"},
           Row{"forbidden", "fatal: unable to access 'https://h.test/m.git/': The requested URL returned error: 403\n",
               "FORBIDDEN", "access denied: the credentials lack read permission"},
           Row{"a proxy that wants credentials",
               "fatal: unable to access 'http://h.test/m.git/': The requested URL returned error: 407\n", "UNREACHABLE",
               "the proxy requires a user name and a password"},
           Row{"the same over https",
               "fatal: unable to access 'https://h.test/m.git/': CONNECT tunnel failed, response 407\n", "UNREACHABLE",
               "the proxy requires a user name and a password"},
           Row{"too many requests",
               "fatal: unable to access 'https://h.test/m.git/': The requested URL returned error: 429\n",
               "RATE_LIMITED", "rate limit exceeded"},
           Row{"server error",
               "fatal: unable to access 'https://h.test/m.git/': The requested URL returned error: 503\n",
               "UNREACHABLE", "server error"},
           Row{"nobody listens",
               "fatal: unable to access 'https://localhost:1/x/': Failed to connect to localhost port 1 after 0 ms: "
               "Couldn't connect to server\n",
               "UNREACHABLE", "the server could not be reached"},
           Row{"unknown host",
               "fatal: unable to access 'https://nonexist.invalid/x/': Could not resolve host: nonexist.invalid\n",
               "UNREACHABLE", "the server could not be reached"},
           Row{"ssh, nobody listens", "ssh: connect to host localhost port 1: Connection refused\n" + rights,
               "UNREACHABLE", "the server could not be reached"},
           Row{"unknown authority",
               "fatal: unable to access 'https://h.test/m/': SSL certificate problem: unable to get local issuer "
               "certificate\n",
               "UNREACHABLE", "the server's certificate was not accepted"},
           Row{"unknown authority, GnuTLS",
               "fatal: unable to access 'https://h.test/m/': server certificate verification failed. CAfile: none "
               "CRLfile: none\n",
               "UNREACHABLE", "the server's certificate was not accepted"},
           Row{"unknown authority, GnuTLS of Debian 13",
               "fatal: unable to access 'https://h.test/m/': server verification failed: certificate signer not "
               "trusted. (CAfile: none CRLfile: none)\n",
               "UNREACHABLE", "the server's certificate was not accepted"},
           Row{"silent",
               "error: RPC failed; curl 28 Operation too slow. Less than 1 bytes/sec transferred the last 60 seconds\n",
               "TIMEOUT", "the server did not respond in time"},
           Row{"silent in the TLS handshake", "fatal: unable to access 'https://h.test/m/': SSL connection timeout\n",
               "TIMEOUT", "the server did not respond in time"},
           Row{"no descriptor left", "fatal: could not open '/dev/null' for reading and writing: Too many open files\n",
               "IO_ERROR", "it may not open more files"},
           Row{"no memory left", "error: cannot fork() for index-pack: Cannot allocate memory\n", "IO_ERROR",
               "no memory is left for it"},
           Row{"a limit of files", "fatal: write error: File too large\n", "LIMIT_EXCEEDED",
               "it is larger than the limit for repositories"},
           Row{"truncated pack", "fatal: early EOF\nfatal: fetch-pack: invalid index-pack output\n", "BAD_RESPONSE",
               "the response was truncated or malformed"},
           Row{"broken stream",
               "error: RPC failed; curl 92 HTTP/2 stream 5 was not closed cleanly: CANCEL (err 8)\nfatal: expected "
               "'packfile'\n",
               "BAD_RESPONSE", "the response was truncated or malformed"},
           Row{"a web page", "fatal: https://h.test/info/refs not valid: is this a git repository?\n", "BAD_RESPONSE",
               "the response was truncated or malformed"},
           Row{"redirect elsewhere",
               "fatal: unable to update url base from redirection:\n  asked for: https://h.test/m\n   redirect: "
               "https://h.test/login\n",
               "BAD_RESPONSE", "the server redirected to an address that is not this repository"},
           Row{"redirect to http",
               "fatal: unable to access 'https://h.test/m/': Protocol \"http\" not supported or disabled in libcurl\n",
               "BAD_RESPONSE", "the server redirected from https to http, which is not allowed"},
           Row{"transport", "fatal: transport 'ext' not allowed\n", "SOURCE_DENIED", "its transport is not allowed"},
           Row{"SHA-256", "fatal: mismatched algorithms: client sha1; server sha256\n", "SOURCE_UNSUPPORTED",
               "it is a repository of the SHA-256 object format, and only SHA-1 is understood"},
           Row{"full disk", "fatal: write error: No space left on device\nfatal: index-pack failed\n", "IO_ERROR",
               "the disk that holds the cache is full"},
           Row{"full disk, seen by the pack reader",
               "error: file write error: No space left on device\nfatal: unable to write file\nfatal: early EOF\n",
               "IO_ERROR", "the disk that holds the cache is full"},
           Row{"read-only", "error: insufficient permission for adding an object to repository database\n", "IO_ERROR",
               "the cache directory cannot be written"},
           Row{"a refusal", "fatal: remote error: quota of \x1b[1macme exceeded, see https://u:p@h.test/q?t=1\n",
               "BAD_RESPONSE", "the server said: quota of \\x1b[1macme exceeded, see https://…@h.test/q…"},
           Row{"a refusal beside the pack",
               "remote: Counting objects\nremote: ======        \nremote: the disk is broken\x1b[K\nremote: ======\n"
               "fatal: early EOF\nfatal: fetch-pack: invalid index-pack output\n",
               "BAD_RESPONSE", "the server said: the disk is broken"},
           Row{"a refusal of a known kind", "fatal: remote error: access denied or repository not exported: /x\n",
               "NOT_FOUND", "repository not found, or access denied"},
           Row{"never seen", "fatal: something new\n", "BAD_RESPONSE", "git failed with exit code 128"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const Error error = explain(remote(), "list the tags of", 128, row.output);
      BOOST_TEST(to_string(error.code) == row.code);
      BOOST_TEST(error.message ==
                 "git could not list the tags of \"git::https://h.test:8443/m.git\": " + std::string(row.found));
      BOOST_TEST(!error.hint.empty());
      BOOST_TEST(!error.notes.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(an_entry_of_netrc_was_rejected) {
  const test::TemporaryDirectory home;
  const test::ScopedEnvironment variable("HOME", home.path().string());
  struct Row {
    const char* name;
    const char* netrc;
    bool is_rejected;
  };
  for (const Row& row : {
           Row{"the host", "machine h.test login u password p\n", true},
           Row{"the last of several", "machine a.test\n  login u\n  password p\nmachine h.test login u\n", true},
           Row{"the default", "machine a.test login u password p\ndefault login u password p\n", true},
           Row{"another host", "machine a.test login u password p\n", false},
           Row{"a value of another host, which libcurl takes for the keyword",
               "machine a.test login default password x\n", true},
           Row{"a comment", "# default machine h.test password p\n", false},
           Row{"a macro", "macdef init\nmachine h.test login u password p\n", false},
           Row{"without a password or a login", "machine h.test\n", false},
           Row{"nothing", "", false},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      test::write_text(home.path() / ".netrc", row.netrc);
      const Error error =
          explain(remote(), "list the tags of", 128,
                  "fatal: could not read Username for 'https://h.test:8443': terminal prompts disabled\n");
      BOOST_TEST((error.message.find("h.test:8443 rejected the credentials") != std::string::npos) == row.is_rejected);
      BOOST_TEST((error.hint.text().find("or correct the password for h.test in ~/.netrc;") != std::string::npos) ==
                 row.is_rejected);
    }
  }
}

BOOST_AUTO_TEST_CASE(missing_credentials_say_where_was_looked_and_what_to_do) {
  const test::TemporaryDirectory home;
  const test::ScopedEnvironment variable("HOME", home.path().string());
  struct Row {
    const char* name;
    const char* output;
    const char* message;
    const char* hint;
  };
  constexpr const char* kHelper =
      "configure a git credential helper for https://h.test:8443, or add \"machine h.test login … password …\" to "
      "~/.netrc; then `git ls-remote https://h.test:8443/m.git` works without a prompt";
  for (const Row& row : {
           Row{"none", "fatal: could not read Username for 'https://h.test:8443': terminal prompts disabled\n",
               "h.test:8443 requires authentication (looked in: the address, git's credential helpers, ~/.netrc)",
               kHelper},
           Row{"none, git 2.47", "fatal: unable to get password from user\n",
               "h.test:8443 requires authentication (looked in: the address, git's credential helpers, ~/.netrc)",
               kHelper},
           Row{"wrong ones", "fatal: Authentication failed for 'https://h.test:8443/m.git/'\n",
               "h.test:8443 rejected the credentials (looked in: the address, git's credential helpers, ~/.netrc)",
               kHelper},
           Row{"ssh key", "git@h.test: Permission denied (publickey).\nfatal: Could not read from remote repository.\n",
               "the ssh host h.test:8443 accepted no key (looked in: the ssh agent, ssh's configuration and default "
               "keys)",
               "load a key that may read the repository: ssh-add, then try: git ls-remote https://h.test:8443/m.git"},
           Row{"ssh host", "Host key verification failed.\nfatal: Could not read from remote repository.\n",
               "the key of the ssh host h.test:8443 is not known (looked in: the known_hosts files of ssh)",
               "check the host's key and record it: ssh-keyscan -p 8443 h.test >> ~/.ssh/known_hosts"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const Error error = explain(remote(), "fetch from", 128, row.output);
      BOOST_TEST(to_string(error.code) == "AUTH_REQUIRED");
      BOOST_TEST(error.message ==
                 "git could not fetch from \"git::https://h.test:8443/m.git\": " + std::string(row.message));
      BOOST_TEST(error.hint == row.hint);
    }
  }
}

// The author of a package chose the address, and a hint is pasted into a shell.
BOOST_AUTO_TEST_CASE(addresses_in_hints_are_quoted_for_the_shell) {
  const test::TemporaryDirectory home;
  const test::ScopedEnvironment variable("HOME", home.path().string());
  RemoteAddress hostile = remote();
  hostile.url = "https://h.test/$(touch x)'.git";
  const std::string quoted = "git ls-remote 'https://h.test/$(touch x)'\\''.git'";
  for (const char* output :
       {"fatal: could not read Username for 'https://h.test': terminal prompts disabled\n",
        "git@h.test: Permission denied (publickey).\nfatal: Could not read from remote repository.\n"}) {
    const Error error = explain(hostile, "fetch from", 128, output);
    BOOST_TEST(error.hint.text().find(quoted) != std::string::npos, error.hint);
  }
}

BOOST_AUTO_TEST_CASE(notes_are_the_last_lines_without_user_info) {
  const Error error =
      explain(remote(), "fetch from", 128, "fatal: bad\rremote: x\nfatal: 'https://u:p@h.test/m' gone\n");
  BOOST_TEST(error.notes == (std::vector<std::string>{"git: fatal: bad", "git: remote: x",
                                                      "git: fatal: 'https://…@h.test/m' gone"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(notes_are_lines_of_valid_text) {
  const Error error = explain(remote(), "fetch from", 128, "remote: \x1b[31mred\x07\xff\xc2\x9b end\n");
  BOOST_REQUIRE_EQUAL(error.notes.size(), 1U);
  BOOST_TEST(error.notes[0] == "git: remote: \\x1b[31mred\\x07\xef\xbf\xbd\\xc2\\x9b end");
}

BOOST_AUTO_TEST_CASE(a_missing_git_says_what_needed_it) {
  const Error error = git_missing("list the tags of", "git::https://h.test/m.git");
  BOOST_TEST(to_string(error.code) == "TOOL_MISSING");
  BOOST_TEST(error.message == "git is needed to list the tags of \"git::https://h.test/m.git\" and is not on PATH");
  BOOST_TEST(
      error.hint ==
      "install it (apt-get install git); without it branches and tags come over https and http, and what is in the "
      "store already is installed and verified");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::git
