#include "backends/http/json_body.h"

#include "backends/base/ascii.h"
#include "backends/http/text.h"
#include "protocol/base/json.h"

namespace modlock {

bool is_html(std::string_view body) {
  constexpr std::size_t kLook = 1024;  // an XML declaration or a comment may come first
  const std::size_t start = body.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (start == std::string_view::npos || body[start] != '<') {
    return false;
  }
  const std::string head = ascii::lower(body.substr(start, kLook));
  return head.find("<html") != std::string::npos || head.find("<!doctype html") != std::string::npos;
}

Result<Json::Value> parse_json_body(std::string_view body) {
  auto json = parse_json(body);
  if (json) {
    return json;
  }
  if (is_html(body)) {
    return fail(Code::bad_response, "the server sent an HTML page, not JSON",
                "check the address, and whether a proxy or a login page responds in its place");
  }
  const Code code = json.error().code == Code::limit_exceeded ? Code::limit_exceeded : Code::bad_response;
  return fail(code, std::move(json.error().message));
}

}  // namespace modlock
