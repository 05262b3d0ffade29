#include "protocol/messages/versions_list.h"

#include <utility>

#include "protocol/json.h"

namespace modlock::messages {
namespace {

// What stands between the parts of a result.
struct Layout {
  std::string_view head_end;  // taken off again
  std::string_view versions;
  std::string_view begin;  // of a version
  std::string_view colon;
  std::string_view comma;
  std::string_view end;
  std::string_view versions_end;
};
constexpr Layout kCompact{"}", ",\"versions\":[", "{", ":", ",", "}", "]}"};
constexpr Layout kIndented{"\n}\n",     ",\n  \"versions\": [", "\n    {\n      ", ": ", ",\n      ", "\n    }",
                           "\n  ]\n}\n"};

void append(std::string& out, const OfferedVersion& version, const Layout& layout) {
  std::string_view separator = layout.begin;
  const auto add = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) {
      out.append(std::exchange(separator, layout.comma)).append(name).append(layout.colon);
      append_json_string(out, text);
    }
  };
  add("\"commit\"", version.commit);
  add("\"digest\"", version.digest);
  add("\"tag\"", version.tag);
  add("\"version\"", version.version);
  out += layout.end;
}

// Versions come by the ten thousand, and last in the order of the names.
std::string with_versions(std::string out, const std::vector<OfferedVersion>& versions, const Layout& layout) {
  constexpr std::size_t kUsualVersion = 160;
  out.reserve(out.size() + versions.size() * kUsualVersion);
  out.resize(out.size() - layout.head_end.size());
  out += layout.versions;
  const char* separator = "";
  for (const OfferedVersion& version : versions) {
    out += std::exchange(separator, ",");
    append(out, version, layout);
  }
  out += layout.versions_end;
  return out;
}

std::string write_head(const VersionsListResult& result) {
  Json::Value head(Json::objectValue);
  Encode form(head);
  head_fields(form, result);
  return write_json(head);
}

}  // namespace

JsonText encode(const VersionsListResult& result) {
  return {with_versions(write_head(result), result.versions, kCompact)};
}

std::string encode_indented(const VersionsListResult& result) {
  return result.versions.empty() ? indent_json(encode(result).text)
                                 : with_versions(indent_json(write_head(result)), result.versions, kIndented);
}

}  // namespace modlock::messages
