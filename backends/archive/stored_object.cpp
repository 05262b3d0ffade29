#include "backends/archive/archive_request.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "backends/address/hostname.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/digest.h"
#include "backends/base/environment.h"
#include "backends/base/text.h"
#include "backends/http/url.h"

namespace modlock::archive {
namespace {

// Returns the text of the first element of that name; nullopt if there is none.
std::optional<std::string> element(std::string_view xml, std::string_view name) {
  const std::string start = "<" + std::string(name) + ">";
  const std::size_t begin = xml.find(start);
  xml.remove_prefix(begin == std::string_view::npos ? xml.size() : begin + start.size());
  const std::string_view text = xml.substr(0, xml.find('<'));
  const bool is_there = xml.substr(text.size()).starts_with("</" + std::string(name) + ">");
  return is_there ? std::optional(unescape_xml(text)) : std::nullopt;
}

}  // namespace

SecretText StoredObject::url(std::string_view of_key, const QueryArguments& query) const {
  std::string arguments = encode_query(query);
  replace_all(arguments, "+", "%20");
  return SecretText(
      fmt::format("{}/{}{}{}", bucket, percent_encoded(of_key, "/"), query.empty() ? "" : "?", arguments));
}

Result<StoredObject> read_s3_object(const GoUrl& url, std::string_view display) {
  const QueryArguments query = parse_query(url.raw_query);
  StoredObject object{.region = first_value(query, "region"), .version = first_value(query, "version")};
  const std::string host = host_in_ascii(ascii::lower(url.host));
  const std::size_t aws = std::min(host.find(".amazonaws.com"), host.size());
  const bool is_aws = host.substr(aws) == ".amazonaws.com" || host.substr(aws) == ".amazonaws.com.cn";
  // The client takes these for AWS, too.
  const bool ends_like_aws = host.ends_with("amazonaws.com") || host.ends_with("amazonaws.com.cn");
  const std::size_t start = is_aws ? host.rfind(".s3", aws - 1) + 1 : 0;
  const bool has_bucket = start != 0;
  const std::string service = host.substr(start, aws - start);  // "s3", "s3-REGION" or "s3.REGION"
  if (is_aws ? service == "s3" : object.region.empty()) {
    object.region = "us-east-1";
  } else if (is_aws) {
    object.region = service.starts_with("s3-") || service.starts_with("s3.") ? service.substr(3) : "";
  }
  const std::size_t slash = has_bucket ? 0 : url.path.find('/', 1);
  if (slash == std::string::npos || slash == 1 || has_dot_dot(url.path) || object.region.empty() ||
      ends_like_aws != is_aws || (is_aws && object.region.find('.') != std::string::npos)) {
    return fail(Code::source_invalid,
                fmt::format("\"{}\" is not an address of S3: expected a region, a bucket and a key", display),
                "write s3::https://s3-REGION.amazonaws.com/BUCKET/KEY, or the host of another server of S3");
  }
  object.bucket =
      fmt::format("{}://{}{}", is_aws ? "https" : url.scheme, host, percent_encoded(url.path.substr(0, slash), "/"));
  object.key = url.path.substr(std::min(slash + 1, url.path.size()));
  return object;
}

Result<StoredObject> read_gcs_object(const GoUrl& url, std::string_view display) {
  const auto parts = split(url.path, '/');
  const bool is_google = url.host.ends_with(".googleapis.com") && std::ranges::count(url.host, '.') == 2;
  if (!is_google || parts.size() < 5 || parts[3].empty() || has_dot_dot(url.path)) {
    return fail(Code::source_invalid,
                fmt::format("\"{}\" is not an address of Google Cloud Storage: expected a bucket and a key", display),
                "write gcs::https://www.googleapis.com/storage/v1/BUCKET/KEY, or with #GENERATION at the end");
  }
  const std::string named = environment_variable("STORAGE_EMULATOR_HOST");
  const std::string emulator = named.find("://") == std::string::npos ? "http://" + named : named;
  const std::string server = named.empty() ? std::string(kGoogleStorage)
                                           : emulator.substr(0, emulator.find('/', emulator.find("://") + 3)) + "/";
  return StoredObject{.bucket = server + percent_encoded(parts[3]),
                      .key = url.path.substr(static_cast<std::size_t>(parts[4].data() - url.path.data())),
                      .version = url.fragment,
                      .is_google = true};
}

void sign_request(HttpRequest& request, const AwsCredential& credential, std::string_view region,
                  std::chrono::system_clock::time_point now) {
  const http::UrlParts parts = http::split_url(request.url.reveal()).value_or(http::UrlParts());
  const std::string time = fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
  const std::string scope = fmt::format("{}/{}/s3/aws4_request", time.substr(0, 8), region);
  const std::string content = sha256_hex("");
  const std::string& token = credential.session_token.reveal();
  const std::string names =
      fmt::format("host;x-amz-content-sha256;x-amz-date{}", token.empty() ? "" : ";x-amz-security-token");
  const std::string canonical =
      fmt::format("GET\n{}\n{}\nhost:{}\nx-amz-content-sha256:{}\nx-amz-date:{}\n{}\n{}\n{}", parts.path,
                  parts.query.substr(parts.query.empty() ? 0 : 1), parts.authority(), content, time,
                  token.empty() ? "" : fmt::format("x-amz-security-token:{}\n", token), names, content);
  std::string key = "AWS4" + credential.secret_key.reveal();
  for (const std::string_view part : split(scope, '/')) {
    key = hmac_sha256(key, part);
  }
  key = hmac_sha256(key, fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, scope, sha256_hex(canonical)));
  request.headers.push_back({"X-Amz-Content-Sha256", content});
  request.headers.push_back({"X-Amz-Date", time});
  request.secret_headers.emplace_back(
      "Authorization", SecretText(fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}",
                                              credential.key_id.reveal(), scope, names,
                                              hex({reinterpret_cast<const std::uint8_t*>(key.data()), key.size()}))));
  if (!token.empty()) {
    request.secret_headers.emplace_back("X-Amz-Security-Token", credential.session_token);
  }
}

Result<ObjectPage> read_object_page(std::string_view xml, std::string_view display, std::string_view state,
                                    const Context& context) {
  constexpr std::string_view kObject = "<Contents>";
  const std::size_t root = xml.find("<ListBucketResult");
  const bool is_last = element(xml, "IsTruncated") != "true";
  ObjectPage page{.objects = {}, .next = is_last ? "" : element(xml, "NextContinuationToken").value_or("")};
  bool is_read = root != std::string_view::npos && xml.find("<!") == std::string_view::npos &&
                 xml.find("</ListBucketResult>", root) != std::string_view::npos && is_last == page.next.empty();
  for (std::size_t at = xml.find(kObject); is_read && at != std::string_view::npos; at = xml.find(kObject)) {
    MODLOCK_TRY(context.check());
    xml.remove_prefix(at + kObject.size());
    const std::size_t end = xml.find("</Contents>");
    const std::string_view object = xml.substr(0, end);
    auto key = element(object, "Key");
    is_read = key && end != std::string_view::npos && object.find(kObject) == std::string_view::npos;
    page.objects.emplace_back(key.value_or(""), element(object, state).value_or(""));
    xml.remove_prefix(object.size());
  }
  if (!is_read) {
    return fail(Code::bad_response, fmt::format("the list of the objects of \"{}\" is not one of S3", display));
  }
  return page;
}

Error explain_s3_error(Error error, const HttpResponse& response) {
  const std::string code = element(response.body, "Code").value_or("");
  if (!code.empty() && code.size() <= 64 && std::ranges::all_of(code, ascii::is_alpha)) {
    error.notes.push_back("the error code of the server is " + code);
    error.code = code == "ExpiredToken" || code == "InvalidToken" ? Code::auth_required : error.code;
  }
  if (const auto region = response.header("x-amz-bucket-region")) {
    error.notes.push_back("the bucket is in the region " + quotable(*region, 64));
  }
  return error;
}

}  // namespace modlock::archive
