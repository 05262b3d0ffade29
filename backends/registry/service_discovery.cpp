#include "backends/registry/service_discovery.h"

#include <fmt/format.h>
#include <json/value.h>

#include <algorithm>

#include "backends/address/go_url.h"
#include "backends/address/hostname.h"
#include "backends/address/source_text.h"
#include "backends/http/http_client.h"
#include "backends/http/url.h"
#include "protocol/base/result.h"

namespace modlock::registry {
namespace {

constexpr std::size_t kDocumentLimit = std::size_t{1} << 20U;

std::string document_url(std::string_view host) {
  return fmt::format("https://{}/.well-known/terraform.json", host);
}

}  // namespace

Result<std::string> ServiceDiscovery::find(std::string_view host, std::string_view service, const Context& context) {
  const auto services = configured_or_asked(host, context);
  auto base = services ? service_url(*services, host, service) : fail(services.error());
  if (base && services->configured.empty() && GoUrl::parse(*base)->host != parse_service_host(host)->ascii) {
    if (auto allowed = check_url_allowed(*base, context); !allowed) {
      Error error = std::move(allowed.error());
      error.message =
          fmt::format("the service \"{}\" of \"{}\" is at {}: {}", service, host, printable_url(*base), error.message);
      return fail(std::move(error));
    }
  }
  return base;
}

bool ServiceDiscovery::has_other_version(std::string_view host, std::string_view service, const Context& context) {
  const auto services = configured_or_asked(host, context);
  return services && services->urls.find(service) == services->urls.end() && is_in_another_version(*services, service);
}

Result<std::map<std::string, std::string>> ServiceDiscovery::find_all(std::string_view host, const Context& context) {
  MODLOCK_TRY(const auto services, configured_or_asked(host, context));
  std::map<std::string, std::string> found;
  for (const auto& [service, written] : services.urls) {
    if (auto url = service_url(services, host, service)) {
      found.emplace(service, std::move(*url));
    }
  }
  return found;
}

Result<ServiceDiscovery::Services> ServiceDiscovery::configured_or_asked(std::string_view host,
                                                                         const Context& context) {
  const auto forms = parse_service_host(host);
  if (!forms) {
    return fail(Code::source_invalid, fmt::format("\"{}\" is not a host name that a registry can have", host));
  }
  if (const auto block = client_.hosts.find(forms->ascii); block != client_.hosts.end()) {
    Services services{.url = document_url(forms->ascii), .configured = block->second.from, .urls = {}};
    services.urls.insert(block->second.services.begin(), block->second.services.end());
    return services;
  }
  return services_.get(forms->ascii, context, [&] { return ask(forms->ascii, context); });
}

Result<ServiceDiscovery::Services> ServiceDiscovery::ask(const std::string& host, const Context& context) const {
  HttpRequest request = http_.request(document_url(host), fmt::format("discover the services of \"{}\"", host));
  request.headers.push_back({"Accept", "application/json"});
  request.body_limit = kDocumentLimit;
  request.retries = 0;
  const std::string purpose = request.purpose;
  const auto response = http_.send(std::move(request), host, context);
  if (response) {
    return read_document(*response, purpose);
  }
  if (response.error().code == Code::not_found) {
    return Services{.url = document_url(host), .configured = {}, .urls = {}};
  }
  return fail(response.error());
}

Result<ServiceDiscovery::Services> ServiceDiscovery::read_document(const HttpResponse& response,
                                                                   const std::string& purpose) {
  Services services{.url = response.url.reveal(), .configured = {}, .urls = {}};
  const auto because = [&](Error error) {
    error.message = fmt::format("could not {}: {}: {}", purpose, printable_url(response.url.reveal()), error.message);
    return fail(std::move(error));
  };
  const auto bad = [&](std::string found) {
    return because({.code = Code::bad_response, .message = std::move(found)});
  };
  if (response.status != 200) {
    return bad(fmt::format("expected status 200, got {}", response.status));
  }
  const std::string type = response.header("Content-Type").value_or("");
  if (http::media_type(type) != "application/json" && !is_html(response.body)) {
    return bad(fmt::format("expected the Content-Type \"application/json\", got \"{}\"", quotable(type, 100)));
  }
  const auto document = parse_json_body(response.body);
  if (!document) {
    return because(document.error());
  }
  if (!document->isObject() && !document->isNull()) {
    return bad("the response is JSON, but not an object");
  }
  for (const std::string& name : document->getMemberNames()) {
    const Json::Value& value = (*document)[name];
    services.urls.emplace(name, value.isString() ? std::optional(value.asString()) : std::nullopt);
  }
  return services;
}

bool ServiceDiscovery::is_in_another_version(const Services& services, std::string_view service) {
  const std::string prefix(service.substr(0, service.find('.') + 1));
  return std::any_of(services.urls.begin(), services.urls.end(),
                     [&](const auto& other) { return other.first.starts_with(prefix); });
}

Error ServiceDiscovery::missing_service(const Services& services, std::string_view host, std::string_view service) {
  const std::string name(service.substr(0, service.find('.')));
  const std::string place = services.configured.empty() ? printable_url(services.url)
                                                        : fmt::format("the host block in {}", services.configured);
  return {.code = Code::not_found,
          .message = is_in_another_version(services, service)
                         ? fmt::format("host \"{}\" does not provide the service \"{}\" in this version", host, service)
                         : fmt::format("host \"{}\" does not provide the service \"{}\"", host, name),
          .hint = fmt::format("check the host in the source address; its services are named by {}", place)};
}

Result<std::string> ServiceDiscovery::service_url(const Services& services, std::string_view host,
                                                  std::string_view service) {
  const auto entry = services.urls.find(service);
  if (entry == services.urls.end() || !entry->second) {
    return fail(missing_service(services, host, service));
  }
  const auto absolute = resolve_url(services.url, *entry->second);
  auto url = absolute ? GoUrl::parse(*absolute) : std::nullopt;
  const auto bad = [&](std::string_view reason) {
    return fail(services.configured.empty() ? Code::bad_response : Code::config_parse,
                fmt::format("the URL \"{}\" of the service \"{}\" of \"{}\"{}{} {}", printable_address(*entry->second),
                            service, host, services.configured.empty() ? "" : " in ", services.configured, reason));
  };
  if (!url || url->host.empty()) {
    return bad("cannot be read");
  }
  if (url->scheme != "http" && url->scheme != "https") {
    return bad("is neither http nor https");
  }
  if (url->user) {
    return bad("contains user-info, which is not allowed");
  }
  url->fragment = url->raw_fragment = url->raw_query = {};
  url->force_query = false;
  for (std::string* path : {&url->path, &url->raw_path}) {
    if (path->empty() ? path == &url->path : path->back() != '/') {
      *path += '/';
    }
  }
  return url->to_string();
}

}  // namespace modlock::registry
