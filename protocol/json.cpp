#include "protocol/json.h"

#include <json/reader.h>
#include <json/writer.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <sstream>

#include "protocol/json_scan.h"
#include "protocol/utf8.h"

namespace modlock {
namespace {

Json::StreamWriterBuilder one_line() {
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "";
  builder["commentStyle"] = "None";
  builder["emitUTF8"] = true;
  return builder;
}

// A string without anything to escape, which most are, needs no writer.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

void append_string(std::string& out, const Json::Value& value) {
  const char* begin = nullptr;
  const char* end = nullptr;
  value.getString(&begin, &end);
  const std::string_view text(begin, static_cast<std::size_t>(end - begin));
  if (is_plain(text)) {
    out.append(1, '"').append(text).append(1, '"');
  } else {
    out += write_json(value);
  }
}

void append_pretty(std::string& out, const Json::Value& value, std::string& indent) {
  const bool is_object = value.isObject();
  if ((!is_object && !value.isArray()) || value.empty()) {
    if (value.isString()) {
      append_string(out, value);
    } else {
      out += write_json(value);
    }
    return;
  }
  out += is_object ? '{' : '[';
  indent += "  ";
  const char* separator = "\n";
  for (auto it = value.begin(); it != value.end(); ++it) {
    out += separator + indent;
    if (is_object) {
      append_string(out, it.name());
      out += ": ";
    }
    append_pretty(out, *it, indent);
    separator = ",\n";
  }
  indent.resize(indent.size() - 2);
  out += '\n' + indent + (is_object ? '}' : ']');
}

}  // namespace

Result<Json::Value> parse_json(std::string_view text) {
  const Result<JsonScan> scan = scan_json(text);
  if (!scan) {
    return fail(scan.error());
  }
  if (scan->ambiguity) {
    return fail(*scan->ambiguity);
  }
  Json::CharReaderBuilder builder;
  Json::CharReaderBuilder::strictMode(&builder.settings_);
  builder["strictRoot"] = false;
  Json::Value value;
  std::string problem;
  try {
    const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
    if (reader->parse(text.data(), text.data() + text.size(), &value, &problem)) {
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
  // Making a writer takes longer than most values do.
  static const Json::StreamWriterBuilder kBuilder = one_line();
  // File names may hold any byte; what we print must not.
  return to_valid_utf8(Json::writeString(kBuilder, value));
}

std::string write_json_pretty(const Json::Value& value) {
  std::string out;
  std::string indent;
  append_pretty(out, value, indent);
  out += '\n';
  return out;
}

}  // namespace modlock
