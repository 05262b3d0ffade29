#include "protocol/base/json.h"

#include <fmt/format.h>
#include <json/reader.h>
#include <json/writer.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>

#include "protocol/base/utf8.h"

namespace modlock {
namespace {

// Whether a byte needs no escape in a JSON string.
bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

// Returns the number of such bytes at the start of `text`. There are usually many, so it checks blocks, without a
// branch per byte.
std::size_t plain_size(std::string_view text) {
  constexpr std::size_t kBlock = 16;
  std::size_t size = 0;
  bool all_plain = true;
  while (all_plain && size + kBlock <= text.size()) {
    for (std::size_t i = 0; i < kBlock; ++i) {
      all_plain &= is_plain(text[size + i]);
    }
    size += all_plain ? kBlock : 0;
  }
  while (size < text.size() && is_plain(text[size])) {
    ++size;
  }
  return size;
}

// Appends a quoted string with only the escapes that JSON requires, and U+FFFD for each byte that is not UTF-8.
void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (true) {
    const std::size_t plain = plain_size(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) {
      break;
    }
    const std::size_t length = utf8_sequence_length(text);
    if (length > 1) {
      out += text.substr(0, length);
    } else if (length == 1) {
      append_json_escape(out, text[0]);
    } else {
      out += "\xEF\xBF\xBD";
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  out += '"';
}

// Prints a value, compact or with an indentation of two spaces.
class Printer {
 public:
  explicit Printer(bool is_indented) : is_indented_(is_indented) {}

  std::string print(const Json::Value& value) && {
    append(value);
    return std::move(out_);
  }

 private:
  void append(const Json::Value& value) {
    switch (value.type()) {
      case Json::stringValue: {
        const char* begin = nullptr;
        const char* end = nullptr;
        value.getString(&begin, &end);
        append_json_string(out_, {begin, static_cast<std::size_t>(end - begin)});
        break;
      }
      case Json::arrayValue:
        append_items('[', ']', value, [this](auto item) { append(*item); });
        break;
      case Json::objectValue:
        append_items('{', '}', value, [this](auto member) {
          const char* end = nullptr;
          const char* const name = member.memberName(&end);
          append_json_string(out_, {name, static_cast<std::size_t>(end - name)});
          out_ += is_indented_ ? ": " : ":";
          append(*member);
        });
        break;
      case Json::booleanValue:
        out_ += value.asBool() ? "true" : "false";
        break;
      case Json::intValue:
        fmt::format_to(std::back_inserter(out_), "{}", value.asInt64());
        break;
      case Json::uintValue:
        fmt::format_to(std::back_inserter(out_), "{}", value.asUInt64());
        break;
      case Json::realValue:
        out_ += Json::valueToString(value.asDouble());
        break;
      case Json::nullValue:
        out_ += "null";
        break;
    }
  }

  template <typename Append>
  void append_items(char open, char close, const Json::Value& value, const Append& append_item) {
    out_ += open;
    line_start_ += "  ";
    for (auto item = value.begin(); item != value.end(); ++item) {
      out_ += item == value.begin() ? "" : ",";
      start_line();
      append_item(item);
    }
    line_start_.resize(line_start_.size() - 2);
    if (!value.empty()) {
      start_line();
    }
    out_ += close;
  }

  void start_line() {
    if (is_indented_) {
      out_ += line_start_;
    }
  }

  const bool is_indented_;
  std::string out_;
  std::string line_start_ = "\n";
};

// One per thread: its setup costs more than reading a small text.
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

void append_json_escape(std::string& out, char c) {
  constexpr std::string_view kShort = "\"\"\\\\\bb\ff\nn\rr\tt";
  for (std::size_t at = 0; at < kShort.size(); at += 2) {
    if (kShort[at] == c) {
      out.append(1, '\\').append(1, kShort[at + 1]);
      return;
    }
  }
  out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
}

Result<Json::Value> parse_json(std::string_view text) {
  MODLOCK_TRY(const JsonScan scan, scan_json(text));
  if (scan.rejection) {
    return fail(*scan.rejection);
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
  return fail(Code::parse_error, "the text contains a value that cannot be represented: " + problem);
}

std::optional<std::string> string_member(const Json::Value& object, const char* name) {
  const Json::Value* member = object.isObject() ? object.find(name, name + std::string_view(name).size()) : nullptr;
  return member != nullptr && member->isString() ? std::optional(member->asString()) : std::nullopt;
}

std::string write_json(const Json::Value& value) {
  return Printer(false).print(value);
}

std::string write_json_pretty(const Json::Value& value) {
  return Printer(true).print(value) + '\n';
}

}  // namespace modlock
