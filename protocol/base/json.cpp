#include "protocol/base/json.h"

#include <fmt/format.h>
#include <json/reader.h>
#include <json/writer.h>

#include <exception>
#include <iterator>
#include <memory>
#include <utility>

#include "protocol/base/json_scan.h"
#include "protocol/base/json_text.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

void append_value(std::string& out, const Json::Value& value) {
  const char* separator = "";
  switch (value.type()) {
    case Json::stringValue: {
      const char* begin = nullptr;
      const char* end = nullptr;
      value.getString(&begin, &end);
      append_json_string(out, {begin, static_cast<std::size_t>(end - begin)});
      break;
    }
    case Json::arrayValue:
      out += '[';
      for (const Json::Value& item : value) {
        out += std::exchange(separator, ",");
        append_value(out, item);
      }
      out += ']';
      break;
    case Json::objectValue:
      out += '{';
      for (auto member = value.begin(); member != value.end(); ++member) {
        out += std::exchange(separator, ",");
        const char* end = nullptr;
        const char* const name = member.memberName(&end);
        append_json_string(out, {name, static_cast<std::size_t>(end - name)});
        out += ':';
        append_value(out, *member);
      }
      out += '}';
      break;
    case Json::booleanValue:
      out += value.asBool() ? "true" : "false";
      break;
    case Json::intValue:
      fmt::format_to(std::back_inserter(out), "{}", value.asInt64());
      break;
    case Json::uintValue:
      fmt::format_to(std::back_inserter(out), "{}", value.asUInt64());
      break;
    case Json::realValue:
      out += Json::valueToString(value.asDouble());
      break;
    case Json::nullValue:
      out += "null";
      break;
  }
}

// Made once for each thread: its settings cost more than a small text.
Json::CharReader& json_reader() {
  thread_local const std::unique_ptr<Json::CharReader> reader = [] {
    Json::CharReaderBuilder builder;
    Json::CharReaderBuilder::strictMode(&builder.settings_);
    builder["strictRoot"] = false;
    return std::unique_ptr<Json::CharReader>(builder.newCharReader());
  }();
  return *reader;
}

}  // namespace

Result<Json::Value> parse_json(std::string_view text) {
  MODLOCK_TRY(const JsonScan scan, scan_json(text));
  if (scan.ambiguity) {
    return fail(*scan.ambiguity);
  }
  Json::Value value;
  std::string problem;
  try {
    if (json_reader().parse(text.data(), text.data() + text.size(), &value, &problem)) {
      return value;
    }
  } catch (const std::exception& caught) {
    problem = caught.what();
  }
  // What is left after the scan: numbers beyond the range of a double.
  return fail(Code::parse_error, "the text holds a value that cannot be represented: " + problem,
              "keep numbers within the range of an IEEE 754 double");
}

std::string write_json(const Json::Value& value) {
  std::string out;
  append_value(out, value);
  return out;
}

std::string write_json_pretty(const Json::Value& value) {
  return indent_json(write_json(value));
}

}  // namespace modlock
