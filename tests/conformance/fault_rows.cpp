#include "tests/conformance/fault_rows.h"

#include "tests/support/faults.h"

namespace modlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Exceptions = std::map<Ask, Outcome>;
using Make = std::function<Behaviour(World&, const Column&)>;

constexpr Outcome kFine{};
constexpr Outcome kUnreachable{Code::unreachable, Tries::all};
constexpr Outcome kUnreachableOnce{Code::unreachable, Tries::once};
constexpr Outcome kTimeout{Code::timeout, Tries::all};
constexpr Outcome kTimeoutOnce{Code::timeout, Tries::once};
constexpr Outcome kDeadline{Code::deadline_exceeded, Tries::once};
constexpr Outcome kSlowDeadline{Code::deadline_exceeded, Tries::once, Pace::slow};
constexpr Outcome kBadResponse{Code::bad_response, Tries::once};
constexpr Outcome kTooLarge{Code::limit_exceeded, Tries::once};
constexpr Outcome kTooLargeTwice{Code::limit_exceeded, Tries::versions};
constexpr Outcome kMismatch{Code::hash_mismatch, Tries::once};

// The same whatever is asked, wherever.
Make same(Behaviour behaviour) {
  return [behaviour = std::move(behaviour)](World&, const Column&) { return behaviour; };
}

// A good answer whose body is changed.
Behaviour with_body(std::function<std::string(std::string)> change) {
  return [change = std::move(change)](ServerStream& stream, const ReceivedRequest& request,
                                      const std::function<ServerAnswer()>& good) {
    ServerAnswer answer = good();
    answer.body = change(std::move(answer.body));
    return stream.write(wire_text(answer, request.method == "HEAD"));
  };
}

Behaviour body(std::string text) {
  return with_body([text = std::move(text)](const std::string&) { return text; });
}

// One bit of the body's middle is another.
std::string with_changed_bit(std::string text) {
  text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
  return text;
}

// States a length that nobody has, and starts to send it.
Behaviour huge_length() {
  return [](ServerStream& stream, const ReceivedRequest&, const std::function<ServerAnswer()>& good) {
    const std::string text = wire_text(good());
    const std::size_t at = text.find("Content-Length: ");
    return stream.write(text.substr(0, at) + "Content-Length: 1099511627776\r\n\r\nPK\x03\x04") && false;
  };
}

Behaviour refusal(int status) {
  return faults::answer({.status = status, .headers = {{"WWW-Authenticate", "Basic realm=\"origin\""}}});
}

std::string path_elsewhere(const Column& column) {
  const bool is_git = column.path == std::string_view("/git/");
  return is_git ? "/git/vpc.git/info/refs?service=git-upload-pack" : std::string(column.path);
}

Behaviour redirect_elsewhere(World& world, const Column& column) {
  return faults::redirect(world.elsewhere_base() + path_elsewhere(column));
}

Behaviour redirect_to_http(World& world, const Column& column) {
  return faults::redirect(world.plain().url(path_elsewhere(column)));
}

// A program is asked once, whatever it comes to.
Exceptions by_program(const Outcome& outcome) {
  Exceptions all;
  for (const Column& column : columns()) {
    if (column.by_program()) {
      all[column.ask] = outcome;
    }
  }
  return all;
}

// What is asked for by its digest is not read any further.
Exceptions mismatch_by_digest() {
  return {{Ask::oci_manifest, kMismatch},
          {Ask::oci_blob, kMismatch},
          {Ask::archive_package, kMismatch},
          {Ask::external_fetch, kMismatch}};
}

// The first of two exceptions counts.
Exceptions with(Exceptions first, Exceptions more) {
  first.merge(more);
  return first;
}

// A git or archive server may be silent for one time, not for one time per attempt.
Exceptions silent() {
  return with({{Ask::git_listing, kTimeoutOnce},
               {Ask::git_fetch, kTimeoutOnce},
               {Ask::archive_location, kTimeoutOnce},
               {Ask::archive_package, kTimeoutOnce}},
              by_program(kDeadline));
}

std::vector<FaultRow> places() {
  return {
      {.name = "DNS failure",
       .outcome = kUnreachable,
       .place = Place::nowhere,
       .not_for = {{Ask::oci_token, "credentials are not sent to another domain"}}},
      {.name = "refused", .outcome = kUnreachable, .place = Place::refused},
      {.name = "black hole", .outcome = kTimeout, .place = Place::silent, .pace = Pace::silent, .otherwise = silent()},
      {.name = "TLS of an unknown authority", .outcome = kUnreachableOnce, .place = Place::unknown_authority},
      {.name = "TLS expired", .outcome = kUnreachableOnce, .place = Place::expired},
      {.name = "TLS of another host", .outcome = kUnreachableOnce, .place = Place::wrong_host},
  };
}

std::vector<FaultRow> broken_answers() {
  return {
      {.name = "silence after the request",
       .outcome = kTimeout,
       .behaviour = same(faults::black_hole()),
       .pace = Pace::silent,
       .otherwise = silent()},
      {.name = "reset mid-body",
       .outcome = kUnreachable,
       .behaviour = same(faults::reset_mid_body()),
       .otherwise = {{Ask::git_program_listing, kUnreachableOnce}, {Ask::git_program_fetch, kBadResponse}}},
      // What holds no package has to be whole within a time; a package may take as long as the caller has.
      {.name = "slow drip",
       .outcome = kTimeout,
       .behaviour = same(faults::slow_drip(milliseconds(10))),
       .pace = Pace::slow,
       .otherwise = with({{Ask::registry_package, kDeadline},
                          {Ask::oci_blob, kDeadline},
                          {Ask::archive_package, kDeadline},
                          {Ask::archive_location, kTimeoutOnce},
                          {Ask::git_listing, kDeadline},
                          {Ask::git_fetch, kTimeoutOnce}},
                         by_program(kDeadline))},
      {.name = "truncation",
       .outcome = kUnreachable,
       .behaviour = same(faults::truncated()),
       .otherwise = {{Ask::git_program_listing, kBadResponse}, {Ask::git_program_fetch, kBadResponse}}},
      {.name = "length over the body's",
       .outcome = kUnreachable,
       .behaviour = same(faults::wrong_length("100000")),
       .otherwise = {{Ask::oci_blob, kMismatch}, {Ask::git_program_listing, kBadResponse}},
       .not_for = {{Ask::git_program_fetch, "git has the whole pack before it misses a byte"}}},
      {.name = "length under the body's",
       .outcome = kBadResponse,
       .behaviour = same(faults::wrong_length("20")),
       .otherwise = mismatch_by_digest()},
      {.name = "length that is none", .outcome = kBadResponse, .behaviour = same(faults::wrong_length("many"))},
  };
}

std::vector<FaultRow> refusals() {
  const auto limited = [](std::string wait) { return same(faults::rate_limited(std::move(wait))); };
  const Outcome patient{Code::rate_limited, Tries::all};
  const Outcome once{Code::rate_limited, Tries::once};
  return {
      {.name = "401", .outcome = {Code::auth_required}, .behaviour = same(refusal(401))},
      {.name = "403", .outcome = {Code::forbidden}, .behaviour = same(refusal(403))},
      {.name = "404", .outcome = {Code::not_found}, .behaviour = same(faults::status(404))},
      {.name = "429", .outcome = patient, .behaviour = limited("")},
      {.name = "429 with Retry-After of 7 s", .outcome = patient, .behaviour = limited("7"), .retry_after = seconds(7)},
      {.name = "429 with Retry-After of an hour",
       .outcome = once,
       .behaviour = limited("3600"),
       .retry_after = seconds(3600)},
      {.name = "500 then fine",
       .outcome = {{}, Tries::twice},
       .behaviour = same(faults::status(500)),
       .times = 1,
       .otherwise = with({{Ask::registry_discovery, kUnreachableOnce}}, by_program(kUnreachableOnce))},
      {.name = "503 forever", .outcome = kUnreachable, .behaviour = same(faults::status(503))},
  };
}

std::vector<FaultRow> redirects() {
  return {
      {.name = "redirect loop",
       .outcome = {Code::bad_response, Tries::redirects},
       .behaviour = same(faults::redirect_loop()),
       .otherwise = {{Ask::git_fetch, kBadResponse}, {Ask::git_program_fetch, kBadResponse}}},
      {.name = "redirect to another host with credentials",
       .outcome = kFine,
       .behaviour = redirect_elsewhere,
       .otherwise = {{Ask::git_fetch, kBadResponse}, {Ask::git_program_fetch, kBadResponse}}},
      {.name = "redirect from https to http", .outcome = kBadResponse, .behaviour = redirect_to_http},
  };
}

std::vector<FaultRow> wrong_contents() {
  constexpr const char* kNoDigest = "nothing names its digest";
  return {
      {.name = "huge body",
       .outcome = kTooLarge,
       .behaviour = same(faults::endless_body()),
       // A package may have gigabytes: the row of the stated length shows its limit.
       .otherwise = {{Ask::registry_package, kSlowDeadline},
                     {Ask::oci_blob, kMismatch},
                     {Ask::archive_package, kSlowDeadline},
                     {Ask::git_listing, kTooLargeTwice},
                     {Ask::git_fetch, kBadResponse},
                     {Ask::git_program_listing, kSlowDeadline},
                     {Ask::git_program_fetch, kBadResponse},
                     {Ask::external_fetch, kTooLarge}}},
      {.name = "huge length",
       .outcome = kTooLarge,
       .behaviour = same(huge_length()),
       .otherwise = {{Ask::oci_blob, kMismatch},
                     {Ask::git_listing, kTooLargeTwice},
                     {Ask::git_program_listing, kBadResponse},
                     {Ask::git_program_fetch, kBadResponse}}},
      {.name = "bad JSON",
       .outcome = kBadResponse,
       .behaviour = same(body(R"({"modules":[{"versions":)")),
       .otherwise = mismatch_by_digest()},
      {.name = "JSON of the wrong shape",
       .outcome = kBadResponse,
       .behaviour = same(body(R"({"modules.v1":7,"modules":{},"location":[],"tags":"v1.0.0","token":{}})")),
       .otherwise = with({{Ask::registry_discovery, {Code::not_found}}}, mismatch_by_digest())},
      {.name = "wrong digest",
       .outcome = kMismatch,
       .behaviour = same(with_body(with_changed_bit)),
       .otherwise = {{Ask::registry_package, kBadResponse},
                     {Ask::git_fetch, kBadResponse},
                     {Ask::git_program_fetch, kBadResponse}},
       .not_for = {{Ask::registry_discovery, kNoDigest},
                   {Ask::registry_versions, kNoDigest},
                   {Ask::registry_location, kNoDigest},
                   {Ask::oci_token, kNoDigest},
                   {Ask::oci_tags, kNoDigest},
                   {Ask::archive_location, kNoDigest},
                   {Ask::git_listing, kNoDigest},
                   {Ask::git_program_listing, kNoDigest},
                   {Ask::external_listing, kNoDigest}}},
  };
}

}  // namespace

const std::vector<FaultRow>& fault_rows() {
  static const std::vector<FaultRow> rows = [] {
    std::vector<FaultRow> all;
    for (auto part : {places(), broken_answers(), refusals(), redirects(), wrong_contents()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return rows;
}

}  // namespace modlock::test
