#pragma once

#include <string>
#include <string_view>

#include "backends/base/context.h"
#include "backends/git/git_error.h"
#include "backends/git/http_plan.h"
#include "backends/git/wire.h"
#include "backends/http/http_client.h"

namespace modlock::git {

// Where a repository was found and how, and what it takes to go on from there.
struct RepositoryEndpoint {
  HttpPlan plan;
  SecretText base;           // behind every redirect
  SecretText authorization;  // that the server took; empty: none
  std::string body;          // the advertisement, which parse_advertisement() has read
  std::string capabilities;  // of it
};

struct Advertised {
  References references;
  RepositoryEndpoint found;
};

// What is said to one repository by git's smart HTTP protocol v0. Errors are those of Backend in the words of
// git_error.h.
class HttpExchange {
 public:
  // All outlive the object. `doing` as in git_error.h.
  HttpExchange(HttpClient& http, const HttpPlan& plan, std::string_view doing, const Context& context)
      : http_(http), plan_(plan), remote_(plan.remote), doing_(doing), context_(context) {}

  // One request, two where the server asks for credentials; these are the address's, else those of git's credential
  // helpers.
  Result<Advertised> advertise();
  // The address that the redirects lead to; empty where it is none of this repository's.
  Result<SecretText> resolve();
  // Whether fetch() knows how.
  static bool can_fetch(const RepositoryEndpoint& found);
  // Objects that the server advertised, without their history. One request. `answer` has the pack in place then.
  // False where the server has one of them no longer.
  Result<bool> fetch(const RepositoryEndpoint& found, const std::vector<std::string>& ids, PackResponse& answer);

  // Why git itself may have an answer where there was none; empty where it would have the same.
  const std::string& only_git() const { return only_git_; }

 private:
  std::string base() const;
  std::string tail() const;
  std::string url() const;
  HttpRequest request(SecretText url, const SecretText& authorization) const;
  Result<HttpResponse> get(const SecretText& authorization);
  Result<HttpResponse> get_with_credentials();
  Result<void> check_advertisement(const HttpResponse& response);
  Error explain_failure(Error error);
  Error explain_status(HttpResponse response) const;
  // Of an answer that cannot be understood, or says why there is none: then `said` are its words.
  Error explain_content(const Error& error, std::string_view said) const;
  tl::unexpected<Error> failure(GitFailure failure) const;

  HttpClient& http_;
  const HttpPlan& plan_;
  const RemoteAddress& remote_;
  std::string_view doing_;
  const Context& context_;
  SecretText authorization_ = {};           // of the last request
  AdvertisementReader advertisement_ = {};  // of its answer
  std::string only_git_ = {};
};

}  // namespace modlock::git
