#include "backends/git/git_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "backends/address/scrub.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/process.h"
#include "backends/base/text.h"
#include "backends/git/git_command.h"

namespace modlock::git {
namespace {

struct Phrase {
  std::string_view text;
  GitFailure failure;
};

// The first matching row applies, so causes come before the consequences that git reports with them.
constexpr std::array kPhrases = {
    Phrase{"mismatched algorithms: client sha1; server sha256", GitFailure::object_format},
    Phrase{"died of signal 25", GitFailure::too_large},  // SIGXFSZ
    Phrase{"File size limit exceeded", GitFailure::too_large},
    Phrase{"Too many open files", GitFailure::too_many_files},
    Phrase{"File too large", GitFailure::too_large},
    Phrase{"Cannot allocate memory", GitFailure::no_memory},
    Phrase{"No space left on device", GitFailure::disk_full},
    Phrase{"Disk quota exceeded", GitFailure::disk_full},
    Phrase{"Read-only file system", GitFailure::read_only},
    Phrase{"insufficient permission for adding an object", GitFailure::read_only},
    Phrase{"URL returned error: 407", GitFailure::proxy_refused},
    Phrase{"response 407", GitFailure::proxy_refused},                         // "CONNECT tunnel failed, response 407"
    Phrase{"refused the connection (status 407)", GitFailure::proxy_refused},  // our own HTTP client
    Phrase{"HTTP code 407 from proxy", GitFailure::proxy_refused},
    Phrase{"couldn't find remote ref", GitFailure::unknown_reference},
    Phrase{"not our ref", GitFailure::unknown_commit},
    Phrase{"Server does not allow request for unadvertised object", GitFailure::refused_commit},
    Phrase{"terminal prompts disabled", GitFailure::credentials_needed},
    Phrase{"could not read Username", GitFailure::credentials_needed},
    Phrase{"unable to get password from user", GitFailure::credentials_needed},  // since git 2.47
    Phrase{"could not read Password", GitFailure::credentials_needed},
    Phrase{"Authentication failed", GitFailure::credentials_refused},
    Phrase{"The requested URL returned error: 401", GitFailure::credentials_refused},
    Phrase{"HTTP Basic: Access denied", GitFailure::credentials_refused},
    Phrase{"Host key verification failed", GitFailure::ssh_host_unknown},
    Phrase{"Permission denied (", GitFailure::ssh_key_refused},
    Phrase{"The requested URL returned error: 403", GitFailure::forbidden},
    Phrase{"The requested URL returned error: 429", GitFailure::rate_limited},
    Phrase{"The requested URL returned error: 404", GitFailure::no_repository},
    Phrase{"The requested URL returned error: 410", GitFailure::no_repository},
    Phrase{"The requested URL returned error: 5", GitFailure::server_error},
    Phrase{"unable to update url base from redirection", GitFailure::redirected},
    Phrase{"The requested URL returned error: 3", GitFailure::redirected},
    Phrase{"Repository not found", GitFailure::no_repository},
    Phrase{"does not appear to be a git repository", GitFailure::no_repository},
    Phrase{"The project you were looking for could not be found", GitFailure::no_repository},
    Phrase{"access denied or repository not exported", GitFailure::no_repository},
    Phrase{"Protocol \"http\" ", GitFailure::downgraded},
    Phrase{"SSL certificate problem", GitFailure::certificate},
    Phrase{"server certificate verification failed", GitFailure::certificate},
    Phrase{"server verification failed", GitFailure::certificate},  // since libcurl 8.13 with GnuTLS
    Phrase{"SSL: no alternative certificate subject name", GitFailure::certificate},
    Phrase{"SSL: certificate subject name (", GitFailure::certificate},
    Phrase{"error setting certificate", GitFailure::certificate},
    Phrase{"Operation too slow", GitFailure::timeout},
    Phrase{"Connection timed out", GitFailure::timeout},
    Phrase{"Operation timed out", GitFailure::timeout},
    Phrase{"timed out after", GitFailure::timeout},
    Phrase{"Timeout was reached", GitFailure::timeout},
    Phrase{"SSL connection timeout", GitFailure::timeout},
    Phrase{"Could not resolve", GitFailure::unreachable},
    Phrase{"unable to look up", GitFailure::unreachable},
    Phrase{"Failed to connect", GitFailure::unreachable},
    Phrase{"Couldn't connect", GitFailure::unreachable},
    Phrase{"Connection refused", GitFailure::unreachable},
    Phrase{"No route to host", GitFailure::unreachable},
    Phrase{"Network is unreachable", GitFailure::unreachable},
    Phrase{"' not allowed", GitFailure::transport_refused},
    Phrase{"early EOF", GitFailure::broken_response},
    Phrase{"unexpected disconnect", GitFailure::broken_response},
    Phrase{"the remote end hung up", GitFailure::broken_response},
    Phrase{"invalid index-pack output", GitFailure::broken_response},
    Phrase{"pack has bad object", GitFailure::broken_response},
    Phrase{"pack is corrupted", GitFailure::broken_response},
    Phrase{"protocol error", GitFailure::broken_response},
    Phrase{"bad line length", GitFailure::broken_response},
    Phrase{"expected flush after", GitFailure::broken_response},
    Phrase{"expected 'packfile'", GitFailure::broken_response},
    Phrase{"invalid server response", GitFailure::broken_response},
    Phrase{"not valid: is this a git repository?", GitFailure::broken_response},
    Phrase{"RPC failed", GitFailure::broken_response},
    Phrase{"transfer closed", GitFailure::broken_response},
    Phrase{"Empty reply from server", GitFailure::broken_response},
    Phrase{"Recv failure", GitFailure::unreachable},
    Phrase{"Connection reset", GitFailure::unreachable},
    Phrase{"GnuTLS recv error", GitFailure::unreachable},
    Phrase{"Could not read from remote repository", GitFailure::unreachable},
};

// "fatal: repository 'https://host/x/' not found": the address is between the words.
bool says_repository_not_found(std::string_view text) {
  const std::size_t start = text.find("repository '");
  return start != std::string_view::npos && text.find("' not found", start) != std::string_view::npos;
}

struct Meaning {
  GitFailure failure;
  Code code;
  std::string_view found;  // follows "git could not list the tags of "x": "
  std::string_view hint;
};

constexpr std::array kMeanings = {
    Meaning{GitFailure::unknown_reference, Code::not_found, "branch or tag not found",
            "check the reference, or whether it was deleted"},
    Meaning{GitFailure::unknown_commit, Code::not_found, "the remote does not serve that commit",
            "check the commit, or whether the history was rewritten"},
    Meaning{GitFailure::refused_commit, Code::not_found, "the remote serves only branches and tags, not that commit",
            "name a branch or tag from which the commit is reachable"},
    Meaning{GitFailure::no_repository, Code::not_found, "repository not found, or access denied",
            "check the address; a server may hide a private repository in this way: then configure git credentials"},
    Meaning{GitFailure::forbidden, Code::forbidden, "access denied: the credentials lack read permission",
            "request read access to the repository, or configure other git credentials"},
    Meaning{GitFailure::rate_limited, Code::rate_limited, "rate limit exceeded",
            "wait, or configure git credentials with a higher limit"},
    Meaning{GitFailure::server_error, Code::unreachable, "server error", "try again later"},
    Meaning{GitFailure::proxy_refused, Code::unreachable, "the proxy requires a user name and a password",
            "put the user name and password for the proxy into the URL of https_proxy or http_proxy"},
    Meaning{GitFailure::unreachable, Code::unreachable, "the server could not be reached",
            "check the host, the network and the proxy settings"},
    Meaning{GitFailure::certificate, Code::unreachable, "the server's certificate was not accepted",
            "name your authority's certificates in GIT_SSL_CAINFO or in git's http.sslCAInfo"},
    Meaning{GitFailure::timeout, Code::timeout, "the server did not respond in time", "try again later"},
    Meaning{GitFailure::broken_response, Code::bad_response, "the response was truncated or malformed",
            "try again; if it persists, run `git fsck` in the repository on the server"},
    Meaning{GitFailure::redirected, Code::bad_response,
            "the server redirected to an address that is not this repository",
            "write the address that the repository has now"},
    Meaning{GitFailure::downgraded, Code::bad_response,
            "the server redirected from https to http, which is not allowed",
            "write the https address that the repository has now"},
    Meaning{GitFailure::transport_refused, Code::source_denied, "its transport is not allowed",
            "only https, http, ssh, git and file are; GIT_ALLOW_PROTOCOL and url.<base>.insteadOf of git's "
            "configuration may have a part in it"},
    Meaning{GitFailure::object_format, Code::source_unsupported,
            "it is a repository of the SHA-256 object format, and only SHA-1 is understood",
            "use a copy of the repository in the SHA-1 object format"},
    Meaning{GitFailure::too_large, Code::limit_exceeded, "it is larger than the limit for repositories",
            "do not use this repository, or have large files removed from its history"},
    Meaning{GitFailure::too_many_files, Code::io_error, "it may not open more files",
            "raise the limit (ulimit -n), then run it again"},
    Meaning{GitFailure::no_memory, Code::io_error, "no memory is left for it",
            "free some memory, or raise the limit (ulimit -v), then run it again"},
    Meaning{GitFailure::disk_full, Code::io_error, "the disk that holds the cache is full",
            "make room, or name another cache directory"},
    Meaning{GitFailure::read_only, Code::io_error, "the cache directory cannot be written",
            "make it writable, or name another cache directory"},
    Meaning{GitFailure::other, Code::bad_response, "git failed", "run `git ls-remote` on the address to see more"},
};

// Returns the lines that are not empty. Progress ends a line with "\r".
std::vector<std::string> output_lines(std::string text) {
  std::ranges::replace(text, '\r', '\n');
  std::vector<std::string> lines = lines_of(text);
  std::erase(lines, "");
  return lines;
}

std::vector<std::string> last_lines(std::string_view text) {
  std::vector<std::string> lines = output_lines(std::string(text));
  constexpr std::size_t kKept = 6;
  lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(std::min(lines.size(), kKept)));
  for (std::string& line : lines) {
    line = "git: " + quotable(scrub_urls(line));
  }
  return lines;
}

Error authentication(GitFailure failure, const RemoteAddress& remote, std::string_view prefix) {
  Error error;
  error.code = Code::auth_required;
  if (failure == GitFailure::ssh_host_unknown) {
    error.message = fmt::format("{}: the key of the ssh host {} is not known (looked in: the known_hosts files of ssh)",
                                prefix, remote.host);
    const std::size_t colon = remote.host.rfind(':');
    const bool has_port = colon != std::string::npos && remote.host.find(']', colon) == std::string::npos;
    error.hint = fmt::format("check the host's key and record it: ssh-keyscan {}{} >> ~/.ssh/known_hosts",
                             has_port ? "-p " + shell_word(remote.host.substr(colon + 1)) + " " : "",
                             shell_word(remote.host.substr(0, colon)));
  } else if (failure == GitFailure::ssh_key_refused) {
    error.message = fmt::format(
        "{}: the ssh host {} accepted no key (looked in: the ssh agent, ssh's configuration and "
        "default keys)",
        prefix, remote.host);
    error.hint = fmt::format("load a key that may read the repository: ssh-add, then try: git ls-remote {}",
                             shell_word(remote.url));
  } else {
    const std::string name = remote.host.substr(0, remote.host.find(':'));
    const bool given = failure == GitFailure::credentials_refused;
    const bool has_entry = given && !netrc_logins(remote, lookup_environment).empty();
    error.message = fmt::format("{}: {} {} (looked in: the address, git's credential helpers, ~/.netrc{})", prefix,
                                remote.host, given ? "rejected the credentials" : "requires authentication",
                                remote.uses_askpass ? ", GIT_ASKPASS, core.askPass, SSH_ASKPASS" : "");
    error.hint = fmt::format(
        "configure a git credential helper for {}://{}, or {}; then `git ls-remote {}` works without a prompt",
        remote.scheme, remote.host,
        has_entry ? fmt::format("correct the password for {} in ~/.netrc", name)
                  : fmt::format("add \"machine {} login … password …\" to ~/.netrc", name),
        shell_word(remote.url));
  }
  return error;
}

// Returns the server's text in git's protocol as one line: the text of the packet that ended it, otherwise the last
// line of band 3, which git shows like progress. Empty: no text.
std::string words_of_server(std::string_view text) {
  constexpr std::string_view kEnded = "remote error: ";
  constexpr std::string_view kShown = "remote: ";
  constexpr std::size_t kKept = 300;
  std::string words;
  bool is_last = false;
  const std::vector<std::string> lines = output_lines(std::string(text));
  for (auto at = lines.begin(); at != lines.end() && !is_last; ++at) {
    std::string_view line = *at;
    const std::size_t ended = line.find(kEnded);
    is_last = ended != std::string_view::npos;
    if (is_last) {
      line.remove_prefix(ended + kEnded.size());
    } else if (line.starts_with(kShown)) {
      line.remove_prefix(kShown.size());
    } else {
      continue;
    }
    line = line.substr(0, line.find("\x1b[K"));  // git clears the rest of the line here
    line = line.substr(0, line.find_last_not_of(' ') + 1);
    words = std::ranges::any_of(line, ascii::is_alnum) ? line : words;
  }
  return quotable(scrub_urls(words.substr(0, kKept)));
}

// Whether a git with a file size limit may have ended like this: the program that it starts for a pack writes no error.
bool may_be_cut_off(GitFailure failure) {
  return failure == GitFailure::too_large || failure == GitFailure::broken_response || failure == GitFailure::other;
}

// Whether index-pack was ended, and neither by a response that ended early nor by a damaged pack in its place
// (git 2.47).
bool is_silent_end(GitFailure failure, std::string_view text) {
  const auto says = [text](std::string_view words) { return text.find(words) != std::string_view::npos; };
  return failure == GitFailure::broken_response && says("invalid index-pack output") && !says("early EOF") &&
         !says("unable to rename temporary");
}

}  // namespace

GitFailure classify(std::string_view error_output) {
  const bool repository_gone = says_repository_not_found(error_output);
  for (const Phrase& phrase : kPhrases) {
    if (error_output.find(phrase.text) != std::string_view::npos) {
      return repository_gone && phrase.failure == GitFailure::unreachable ? GitFailure::no_repository : phrase.failure;
    }
  }
  return repository_gone ? GitFailure::no_repository : GitFailure::other;
}

Error explain(const RemoteAddress& remote, std::string_view doing, int exit_code, std::string_view error_output) {
  const auto limit = file_size_limit();
  GitFailure failure = classify(error_output);
  const bool is_limited = limit && is_silent_end(failure, error_output);
  failure = is_limited ? GitFailure::too_large : failure;
  if (failure == GitFailure::credentials_needed && !netrc_logins(remote, lookup_environment).empty()) {
    failure = GitFailure::credentials_refused;  // git has sent it
  }
  const std::string said = words_of_server(error_output);
  Error error = explain(remote, doing, failure, said);
  if (failure == GitFailure::other && said.empty()) {
    error.message += fmt::format(" with exit code {}", exit_code);
  }
  error.notes = last_lines(error_output);
  if (limit && may_be_cut_off(failure)) {
    error.notes.push_back(
        fmt::format("a file may have {} bytes here: raise that limit (ulimit -f) if it is too low", *limit));
  }
  error.hint =
      is_limited ? "raise the limit of the size of a file (ulimit -f), then run it again" : std::move(error.hint);
  return error;
}

Error explain(const RemoteAddress& remote, std::string_view doing, GitFailure failure, std::string_view said) {
  const std::string prefix = fmt::format("git could not {} \"{}\"", doing, remote.display);
  const auto meaning = std::ranges::find(kMeanings, failure, &Meaning::failure);
  const bool is_unknown = failure == GitFailure::broken_response || failure == GitFailure::other;
  if (is_unknown && !said.empty()) {
    return Error{.code = Code::bad_response,
                 .message = fmt::format("{}: the server said: {}", prefix, said),
                 .hint = "ask those who run the server; it may be gone if you try again later"};
  }
  return meaning == kMeanings.end() ? authentication(failure, remote, prefix)
                                    : Error{.code = meaning->code,
                                            .message = fmt::format("{}: {}", prefix, meaning->found),
                                            .hint = std::string(meaning->hint)};
}

Error not_in_cache(std::string_view display, std::string_view doing) {
  return Error{.code = Code::offline_miss,
               .message = fmt::format("git may not {} \"{}\" in offline mode: it is not in the cache", doing, display),
               .hint = "run the command without offline mode"};
}

Error git_missing(std::string_view doing, std::string_view display) {
  return Error{
      .code = Code::tool_missing,
      .message = fmt::format("git is needed to {} \"{}\" and is not on PATH", doing, display),
      .hint =
          "install it (apt-get install git); without it branches and tags come over https and http, and what is in "
          "the store already is installed and verified"};
}

}  // namespace modlock::git
