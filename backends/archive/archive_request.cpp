#include "backends/archive/archive_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/go_url.h"
#include "backends/address/hostname.h"
#include "protocol/base/result.h"

namespace modlock::archive {
namespace {

std::string first_value(const QueryArguments& query, std::string_view key) {
  const auto found =
      std::find_if(query.begin(), query.end(), [&](const auto& argument) { return argument.first == key; });
  return found == query.end() ? std::string() : found->second;
}

void remove_all(QueryArguments& query, std::string_view key) {
  const auto end =
      std::remove_if(query.begin(), query.end(), [&](const auto& argument) { return argument.first == key; });
  query.erase(end, query.end());
}

// What a connection can be made to.
std::string ascii_host(const std::string& host) {
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.find(':', bracket == std::string::npos ? 0 : bracket);
  const auto forms = lookup_host(host.substr(0, colon));
  return forms ? forms->ascii + (colon == std::string::npos ? std::string() : host.substr(colon)) : host;
}

}  // namespace

Result<ArchiveRequest> read_request(const SourceAddress& address) {
  auto url = GoUrl::parse(address.package_url.reveal());
  if (!url) {
    return fail(Code::source_invalid, fmt::format("\"{}\" has no valid URL", address.source.identity()));
  }
  ArchiveRequest request;
  request.host = address.source.host;
  request.has_user = url->user && !url->user->name.empty();
  QueryArguments query = parse_query(url->raw_query);
  if (const std::string named = first_value(query, "archive"); named.empty()) {
    request.format = archive_format_of_path(url->path);
  } else {
    request.format = archive_format_of_name(named);
    remove_all(query, "archive");
  }
  request.checksum = first_value(query, "checksum");
  remove_all(query, "checksum");
  if (request.format) {
    MODLOCK_TRY(expect_tree_format(*request.format, address.source.identity()));
  } else {
    if (!request.checksum.empty()) {
      return fail(Code::source_invalid,
                  fmt::format("\"{}\" has a checksum, but is no archive by its name or its `archive` argument",
                              address.source.identity()),
                  "where it is an archive, add archive=zip (or tar.gz, tar.xz, tar.bz2) to its query; else remove the "
                  "checksum");
    }
    query.emplace_back("terraform-get", "1");
  }
  url->raw_query = encode_query(std::move(query));
  url->force_query = false;
  url->host = ascii_host(url->host);
  request.url = SecretText(url->to_string());
  return request;
}

}  // namespace modlock::archive
