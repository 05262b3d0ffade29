#include "backends/git/http_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "backends/address/scrub.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/process.h"
#include "backends/base/text.h"
#include "backends/git/git_command.h"
#include "backends/git/git_configuration.h"
#include "backends/git/remote_address.h"
#include "backends/http/url.h"
#include "protocol/base/result.h"

namespace modlock::git {
namespace {

// A user name and a password from git's credential helpers.
struct StoredCredential {
  SecretText username;
  SecretText password;
};

// Makes the description that git's helpers read (git-credential(1)). A line ending in a value would start a new line.
std::string describe(const RemoteAddress& remote, const SecretText& username) {
  const std::size_t host = remote.url.find("://");
  const std::size_t path = host == std::string::npos ? std::string::npos : remote.url.find('/', host + 3);
  std::string text = fmt::format("protocol={}\nhost={}\n", remote.scheme, remote.host);
  if (path != std::string::npos && path + 1 < remote.url.size()) {
    text += fmt::format("path={}\n", remote.url.substr(path + 1));
  }
  if (!username.empty()) {
    text += fmt::format("username={}\n", username.reveal());
  }
  return text;
}

std::string value_of(std::string_view output, std::string_view name) {
  for (const std::string& line : lines_of(output)) {
    if (line.starts_with(name) && line.substr(name.size()).starts_with('=')) {
      return std::string(line.substr(name.size() + 1));
    }
  }
  return {};
}

Command credential_command(const RemoteAddress& remote, std::string_view action, std::string input,
                           const Context& context) {
  const auto users = GitConfiguration::of(remote, lookup_environment, context);
  Command command =
      network_command(remote, {"credential", std::string(action)}, lookup_environment, users ? &*users : nullptr);
  command.input = std::move(input);
  return command;
}

// Runs `git credential fill` for the address, without a prompt. Returns nullopt if no helper has a credential or git is
// not installed. Errors: REQUEST_CANCELLED, DEADLINE_EXCEEDED.
Result<std::optional<StoredCredential>> fill_credential(const RemoteAddress& remote, const Context& context) {
  const auto asked =
      run_command(credential_command(remote, "fill", describe(remote, remote.username) + "\n", context), context);
  MODLOCK_TRY(context.check());
  if (!asked || asked->exit_code != 0) {
    return std::nullopt;
  }
  StoredCredential found{SecretText(value_of(asked->output, "username")),
                         SecretText(value_of(asked->output, "password"))};
  return found.password.empty() ? std::optional<StoredCredential>() : std::optional(std::move(found));
}

// Reports to the helpers whether the server accepted the credential. `verdict` is "approve" or "reject".
void report_credential(const RemoteAddress& remote, const StoredCredential& credential, std::string_view verdict,
                       const Context& context) {
  std::string input =
      describe(remote, credential.username) + fmt::format("password={}\n\n", credential.password.reveal());
  // A failure of a helper does not affect the listing.
  (void)run_command(credential_command(remote, verdict, std::move(input), context), context);
}

constexpr std::string_view kPath = "/info/refs";
constexpr std::string_view kAdvertisement = "application/x-git-upload-pack-advertisement";
constexpr std::string_view kRequest = "application/x-git-upload-pack-request";
constexpr std::string_view kResult = "application/x-git-upload-pack-result";
constexpr int kUnauthorized = 401;
constexpr std::size_t kLargestAdvertisement = std::size_t{64} << 20U;
constexpr std::size_t kLargestFirst = std::size_t{256} << 10U;  // the rest would take longer than the requests of v2

// The server may need a while to make a pack, so the other limits are those of a git child, too.
HttpTimeouts pack_times(const ChildLimits& limits) {
  HttpTimeouts times = HttpTimeouts::of_silence(limits.idle);
  times.least_rate = 1;
  times.total = limits.total;
  return times;
}

SecretText basic(const SecretText& username, const SecretText& password) {
  return SecretText("Basic " + base64(username.reveal() + ":" + password.reveal()));
}

// Whether a challenge offers only Basic. git itself selects the strongest scheme that it supports.
bool asks_for_basic_alone(const HttpResponse& response) {
  bool found = false;
  for (const HttpHeader& header : response.headers) {
    if (ascii::equals_ignoring_case(header.name, "www-authenticate")) {
      if (!ascii::lower(header.value).starts_with("basic")) {
        return false;
      }
      found = true;
    }
  }
  return found;
}

// Returns the source address that results from a redirect to this URL.
Result<Source> redirected_source(std::string_view url) {
  const std::string_view address = url.substr(0, url.find_first_of("?#"));
  return parse_source("git::" + std::string(address.substr(0, address.rfind(kPath)))).map([](SourceAddress found) {
    return std::move(found.source);
  });
}

bool have_same_origin(std::string_view left, std::string_view right) {
  const auto one = http::split_url(left);
  const auto other = http::split_url(right);
  return one && other && http::origin_of(*one) == http::origin_of(*other);
}

bool is_status_success(int status) {
  return status >= 200 && status <= 299;
}

}  // namespace

Result<Advertised> HttpExchange::advertise(const WantedReferences& wanted, const std::filesystem::path& record) {
  const auto known = recorded(record);
  if (known && !known->base.empty()) {
    auto listed = list(*known, wanted);
    constexpr std::array kMoved = {Code::bad_response, Code::not_found, Code::forbidden, Code::auth_required,
                                   Code::source_denied};
    if (listed || std::ranges::find(kMoved, listed.error().code) == kMoved.end()) {
      return listed;
    }
  }
  is_large_ = known.has_value();
  MODLOCK_TRY(auto response,
              send_with_credentials([this](const SecretText& authorization) { return get(authorization); }));
  if (!is_status_success(response.status)) {
    return fail(explain_status(std::move(response)));
  }
  MODLOCK_TRY(check_advertisement(response));
  MODLOCK_TRY(auto advertisement, finish_advertisement());
  const std::string& found_at = response.url.reveal();
  RepositoryEndpoint found = endpoint(found_at.substr(0, found_at.size() - tail().size()),
                                      std::move(advertisement.capabilities), advertisement.is_v2);
  if (known || found.is_v2) {
    keep(found, record);
  }
  return found.is_v2 ? list(std::move(found), wanted)
                     : Advertised{std::move(advertisement.references), std::move(found), {}};
}

RepositoryEndpoint HttpExchange::endpoint(std::string base, std::string capabilities, bool is_v2) const {
  RepositoryEndpoint found{plan_, SecretText(std::move(base)), {}, std::move(capabilities), is_v2};
  if (have_same_origin(found.base.reveal(), remote_.url)) {
    found.authorization = remote_.password ? basic(remote_.username, *remote_.password) : authorization_;
  } else {
    found.plan.secret_headers.clear();
  }
  return found;
}

// Returns the endpoint of a large repository. Its base is empty if a redirect to it is old.
std::optional<RepositoryEndpoint> HttpExchange::recorded(const std::filesystem::path& record) const {
  const std::vector<std::string> lines = lines_of(read_file(record).value_or(""));
  if (lines.size() != 3 || lines[0] != remote_.url) {
    return std::nullopt;
  }
  std::error_code error;
  const auto written = std::filesystem::last_write_time(record, error);
  const bool is_old = error || std::filesystem::file_time_type::clock::now() - written > std::chrono::hours(24);
  return endpoint(lines[1] != base() && is_old ? "" : lines[1], lines[2], true);
}

// Keeps nothing that may contain a secret.
void HttpExchange::keep(const RepositoryEndpoint& found, const std::filesystem::path& record) const {
  const std::string addresses = remote_.url + "\n" + found.base.reveal() + "\n";
  const std::string text = addresses + found.capabilities + "\n";
  if (!found.is_v2 || addresses.find_first_of("?@") != std::string::npos || text.size() > kLargestFirst) {
    (void)remove_tree(record);
  } else if (make_directories(record.parent_path())) {
    (void)write_file_atomically(record, text, Durable::no);
  }
}

Result<Advertised> HttpExchange::list(RepositoryEndpoint found, const WantedReferences& wanted) {
  advertisement_ = AdvertisementReader(true);
  const auto send = [&](const SecretText& authorization) -> Result<HttpResponse> {
    found.authorization = authorization;
    MODLOCK_TRY(auto request, post(found, list_request(wanted, found.capabilities), advertisement_));
    request.body_limit = kLargestAdvertisement;
    auto response = http_.send(request, context_);
    return response ? std::move(response) : fail(explain_failure(std::move(response.error())));
  };
  const bool is_settled = !found.authorization.empty() || found.base.reveal() != base();
  MODLOCK_TRY(auto response, is_settled ? send(found.authorization) : send_with_credentials(send));
  if (!is_status_success(response.status)) {
    return fail(explain_status(std::move(response)));
  }
  if (!offers(found.capabilities, "ls-refs") || response.header("content-type").value_or("") != kResult) {
    return failure(GitFailure::broken_response);
  }
  MODLOCK_TRY(auto listed, finish_advertisement());
  return Advertised{std::move(listed.references), std::move(found), wanted};
}

Result<Advertisement> HttpExchange::finish_advertisement() {
  auto advertisement = advertisement_.finish();
  if (!advertisement) {
    const std::string_view message = advertisement.error().message;
    return fail(explain_content(advertisement.error(),
                                message.starts_with(kServerSaid) ? message.substr(kServerSaid.size()) : ""));
  }
  return advertisement;
}

Result<void> HttpExchange::check_advertisement(const HttpResponse& response) {
  if (!response.url.reveal().ends_with(tail())) {
    return failure(GitFailure::redirected);
  }
  if (response.header("content-type").value_or("") != kAdvertisement) {
    only_git_ = "the server does not speak git's smart protocol";
    return failure(GitFailure::broken_response);
  }
  return advertisement_.capabilities().find("object-format=sha256") == std::string::npos
             ? Result<void>()
             : failure(GitFailure::object_format);
}

Result<SecretText> HttpExchange::resolve() {
  MODLOCK_TRY(const auto response, get(remote_.password ? basic(remote_.username, *remote_.password) : SecretText()));
  const std::string& led_to = response.url.reveal();
  if (led_to == url() || !led_to.ends_with(tail())) {
    return SecretText();
  }
  return SecretText(led_to.substr(0, led_to.size() - tail().size()));
}

bool HttpExchange::can_fetch(const RepositoryEndpoint& found) {
  return offers(found.capabilities, "shallow") && offers(found.capabilities, found.is_v2 ? "fetch" : "side-band-64k");
}

Result<HttpRequest> HttpExchange::post(const RepositoryEndpoint& found, std::string body, BodySink& sink) const {
  if (found.base.reveal() != base()) {
    // The check may be another one than when the redirect was followed.
    const std::string& to = found.base.reveal();
    MODLOCK_TRY(check_redirect_allowed(base(), to, redirected_source(to), context_));
  }
  HttpRequest post = request(found.plan, SecretText(found.base.reveal() + "/git-upload-pack"), found.authorization);
  post.method = HttpRequest::Method::post;
  post.headers.push_back({"Content-Type", std::string(kRequest)});
  post.headers.push_back({"Accept", std::string(kResult)});
  if (found.is_v2) {
    post.headers.push_back({"Git-Protocol", "version=2"});
  }
  post.body = std::move(body);
  post.sink = &sink;
  post.timeouts = HttpTimeouts::of_silence(context_.children.idle);
  post.redirects = 0;  // already followed
  return post;
}

Result<bool> HttpExchange::fetch(const RepositoryEndpoint& found, const std::vector<std::string>& ids,
                                 PackResponse& answer) {
  MODLOCK_TRY(auto request, post(found, pack_request(ids, found.capabilities, found.is_v2), answer));
  request.body_limit = context_.children.file_size;
  request.timeouts = pack_times(context_.children);
  auto response = http_.send(request, context_);
  if (!response && !answer.refusal().empty()) {
    const GitFailure said = classify(answer.refusal());
    return said == GitFailure::unknown_commit || said == GitFailure::refused_commit
               ? Result<bool>(false)
               : fail(explain_content(response.error(), answer.refusal()));
  }
  if (!response) {
    return fail(explain_failure(std::move(response.error())));
  }
  if (!is_status_success(response->status)) {
    if (response->status == kUnauthorized) {
      only_git_ = "the server requires authentication, which git may provide in another way";
    }
    return fail(explain_status(std::move(*response)));
  }
  auto finished = answer.finish();
  if (!finished && finished.error().code == Code::io_error) {
    return fail(std::move(finished.error()));
  }
  return finished ? Result<bool>(true) : fail(explain_content(finished.error(), {}));
}

// git appends to the whole address, including its query.
std::string HttpExchange::base() const {
  const std::string& whole = remote_.hides_query() ? remote_.full_url.reveal() : remote_.url;
  return whole.substr(0, whole.find_last_not_of('/') + 1);
}

std::string HttpExchange::tail() const {
  return fmt::format("{}{}service=git-upload-pack", kPath, remote_.hides_query() ? '&' : '?');
}

std::string HttpExchange::url() const {
  return base() + tail();
}

HttpRequest HttpExchange::request(const HttpPlan& plan, SecretText url, const SecretText& authorization) const {
  HttpRequest request;
  request.url = std::move(url);
  request.purpose = fmt::format("{} \"{}\"", doing_, remote_.display);
  request.headers = {{"User-Agent", plan.user_agent}};
  request.secret_headers = plan.secret_headers;
  request.is_of_git = true;
  if (!authorization.empty()) {
    request.secret_headers.emplace_back("Authorization", authorization);
  }
  return request;
}

Result<HttpResponse> HttpExchange::get(const SecretText& authorization) {
  authorization_ = authorization;
  advertisement_ = AdvertisementReader();
  HttpRequest get = request(plan_, SecretText(url()), authorization);
  if (is_large_) {
    get.headers.push_back({"Git-Protocol", "version=2"});
  }
  get.body_limit = is_large_ ? kLargestAdvertisement : kLargestFirst;
  get.sink = &advertisement_;
  get.timeouts = HttpTimeouts::of_silence(context_.children.idle);
  get.redirected_source = redirected_source;
  auto response = http_.send(get, context_);
  if (!response && response.error().code == Code::limit_exceeded && !std::exchange(is_large_, true)) {
    return this->get(authorization);
  }
  return response ? std::move(response) : fail(explain_failure(std::move(response.error())));
}

Result<HttpResponse> HttpExchange::send_with_credentials(
    const std::function<Result<HttpResponse>(const SecretText&)>& send) {
  if (remote_.password) {
    auto response = send(basic(remote_.username, *remote_.password));
    return response && response->status == kUnauthorized ? failure(GitFailure::credentials_refused)
                                                         : std::move(response);
  }
  auto response = send(SecretText());
  if (!response || response->status != kUnauthorized) {
    return response;
  }
  const auto& headers = plan_.secret_headers;
  const bool has_own = std::ranges::any_of(
      headers, [](const auto& header) { return ascii::equals_ignoring_case(header.first, "authorization"); });
  const bool is_redirected = !response->url.reveal().starts_with(base() + "/");
  if (has_own || !netrc_logins(remote_, lookup_environment).empty() || !asks_for_basic_alone(*response) ||
      is_redirected) {
    only_git_ = "the server requires authentication, which git may provide in another way";
    return failure(has_own ? GitFailure::credentials_refused : GitFailure::credentials_needed);
  }
  MODLOCK_TRY(const auto stored, fill_credential(remote_, context_));
  if (!stored) {
    return failure(GitFailure::credentials_needed);
  }
  response = send(basic(stored->username, stored->password));
  if (response && response->status == kUnauthorized) {
    report_credential(remote_, *stored, "reject", context_);
    return failure(GitFailure::credentials_refused);
  }
  if (response && response->status < 300) {
    report_credential(remote_, *stored, "approve", context_);
  }
  return response;
}

// Uses the text for the failure that git would have had, and adds the text of the client as a note.
Error HttpExchange::explain_failure(Error error) {
  if (error.code != Code::timeout && error.code != Code::unreachable && error.code != Code::bad_response) {
    return with_note(std::move(error), fmt::format("while git was to {} \"{}\"", doing_, remote_.display));
  }
  const GitFailure said = classify(error.message);
  // The pack is written while it arrives.
  const bool is_of_disk = said == GitFailure::disk_full || said == GitFailure::read_only;
  const GitFailure found = error.code == Code::timeout           ? GitFailure::timeout
                           : error.code == Code::bad_response    ? is_of_disk ? said : GitFailure::broken_response
                           : error.reason == Reason::certificate ? GitFailure::certificate
                           : said == GitFailure::proxy_refused   ? said
                                                                 : GitFailure::unreachable;
  Error explained = explain(remote_, doing_, found);
  if (found == GitFailure::certificate) {
    only_git_ = "git may trust other authorities";
    explained.hint = "name a file with your authority's certificates in SSL_CERT_FILE";  // git's own are not read here
  }
  explained.notes = std::move(error.notes);
  explained.notes.insert(explained.notes.begin(), quotable(scrub_urls(error.message)));
  return explained;
}

Error HttpExchange::explain_status(HttpResponse response) const {
  const int status = response.status;
  const GitFailure said = classify(fmt::format("The requested URL returned error: {}", status));  // as git says it
  const GitFailure found = status == kUnauthorized          ? GitFailure::credentials_needed
                           : status == 408 || status == 504 ? GitFailure::timeout
                           : said == GitFailure::other      ? GitFailure::broken_response
                                                            : said;
  Error error = explain(remote_, doing_, found);
  error.notes.push_back(fmt::format("the server answered with status {}", status));
  if (const auto refused = expect_success(std::move(response), HttpRequest{}); !refused) {
    error.retry_after = refused.error().retry_after;
  }
  return error;
}

Error HttpExchange::explain_content(const Error& error, std::string_view said) const {
  const GitFailure found = classify(error.message);
  Error explained = explain(remote_, doing_, found == GitFailure::other ? GitFailure::broken_response : found, said);
  explained.notes.push_back(quotable(scrub_urls(error.message)));
  return explained;
}

tl::unexpected<Error> HttpExchange::failure(GitFailure failure) const {
  return fail(explain(remote_, doing_, failure));
}

}  // namespace modlock::git
