#include "protocol/json.h"

#include <json/reader.h>
#include <json/writer.h>

#include <exception>
#include <memory>
#include <sstream>

#include "protocol/json_scan.h"
#include "protocol/utf8.h"

namespace modlock {
namespace {

void append_pretty(std::string& out, const Json::Value& value, std::string& indent) {
  const bool is_object = value.isObject();
  if ((!is_object && !value.isArray()) || value.empty()) {
    out += write_json(value);
    return;
  }
  out += is_object ? '{' : '[';
  indent += "  ";
  const char* separator = "\n";
  for (auto it = value.begin(); it != value.end(); ++it) {
    out += separator + indent;
    if (is_object) {
      out += write_json(it.name()) + ": ";
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
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "";
  builder["commentStyle"] = "None";
  builder["emitUTF8"] = true;
  // File names may hold any byte; what we print must not.
  return to_valid_utf8(Json::writeString(builder, value));
}

std::string write_json_pretty(const Json::Value& value) {
  std::string out;
  std::string indent;
  append_pretty(out, value, indent);
  out += '\n';
  return out;
}

}  // namespace modlock
