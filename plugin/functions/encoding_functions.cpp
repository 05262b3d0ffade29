#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "backends/address/go_url.h"
#include "backends/base/ascii.h"
#include "backends/base/digest.h"
#include "backends/base/text.h"
#include "plugin/functions/function_tables.h"
#include "plugin/functions/json_text.h"
#include "plugin/value/value.h"
#include "protocol/base/utf8.h"

// Functions that convert values to and from texts of other languages.
namespace modlock::eval {
namespace {

FunctionResult base64encode(const Call& call) {
  return Value::string(base64(call.arguments[0].as_string()));
}

FunctionResult base64decode(const Call& call) {
  const std::string& text = call.arguments[0].as_string();
  auto bytes = decode_base64(text);
  if (!bytes) {
    return refuse(fmt::format("failed to decode base64 data {}", shown(call, text)));
  }
  if (!is_utf8(*bytes)) {
    return refuse("the result of decoding the provided string is not valid UTF-8");
  }
  return Value::string(*std::move(bytes));
}

FunctionResult urlencode(const Call& call) {
  std::string text = percent_encoded(call.arguments[0].as_string(), " ");
  std::ranges::replace(text, ' ', '+');
  TextBuilder encoded;
  encoded.append(text);
  return std::move(encoded).finish();
}

FunctionResult urldecode(const Call& call) {
  const std::string_view text = call.arguments[0].as_string();
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at] == '+' ? ' ' : text[at];
      continue;
    }
    const int high = at + 2 < text.size() ? ascii::hex_value(text[at + 1]) : -1;
    const int low = at + 2 < text.size() ? ascii::hex_value(text[at + 2]) : -1;
    if (high < 0 || low < 0) {
      // OpenTofu shows in the quotes what it has decoded, which is nothing.
      return refuse(fmt::format("failed to decode URL '': invalid URL escape {}", shown(call, text.substr(at, 3))));
    }
    decoded += static_cast<char>(high * 16 + low);
    at += 2;
  }
  if (!is_utf8(decoded)) {
    return refuse("the result of decoding the provided string is not valid UTF-8");
  }
  return Value::string(std::move(decoded));
}

using Row = std::vector<std::string>;

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  // Returns the next row that is not empty; an empty one at the end.
  tl::expected<Row, FunctionError> read() {
    std::string line;
    do {
      if (text_.empty()) {
        return Row{};
      }
      line = take_line();
    } while (line == "\n");
    row_line_ = line_;
    Row row;
    for (std::size_t at = 0;;) {
      MODLOCK_TRY(auto field, line.compare(at, 1, "\"") == 0 ? quoted_field(line, at) : plain_field(line, at));
      row.push_back(std::move(field));
      if (at >= line.size() || line[at] != ',') {
        return row;
      }
      ++at;
    }
  }

  // The number of the line that the last row started in.
  std::size_t row_line() const { return row_line_; }

 private:
  // Returns the next line with LF as its ending, whatever the ending was; without one at the end of the text.
  std::string take_line() {
    const bool is_ended = text_.find('\n') != std::string_view::npos;
    std::string line(modlock::take_line(text_));
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    ++line_;
    return is_ended ? line + '\n' : line;
  }

  tl::unexpected<FunctionError> wrong(std::string_view what) const {
    return refuse(fmt::format("CSV parse error on line {}: {}", line_, what));
  }

  tl::expected<std::string, FunctionError> plain_field(const std::string& line, std::size_t& at) const {
    const std::size_t end = std::min(line.find_first_of(",\n", at), line.size());
    std::string field = line.substr(at, end - at);
    if (field.find('"') != std::string::npos) {
      return wrong("bare \" in non-quoted-field");
    }
    at = end;
    return field;
  }

  // The field may continue on further lines, which replace `line`.
  tl::expected<std::string, FunctionError> quoted_field(std::string& line, std::size_t& at) {
    constexpr std::string_view kBadQuote = "extraneous or missing \" in quoted-field";
    std::string field;
    ++at;
    for (;;) {
      const std::size_t quote = line.find('"', at);
      if (quote == std::string::npos) {
        field += line.substr(at);
        if (text_.empty()) {
          return wrong(kBadQuote);
        }
        line = take_line();
        at = 0;
        continue;
      }
      field += line.substr(at, quote - at);
      at = quote + 1;
      if (at >= line.size() || line[at] == ',' || line[at] == '\n') {
        return field;
      }
      if (line[at] != '"') {
        return wrong(kBadQuote);
      }
      field += '"';
      ++at;
    }
  }

  std::string_view text_;
  std::size_t line_ = 0;
  std::size_t row_line_ = 0;
};

// csvdecode(): RFC 4180 as Go's encoding/csv reads it. The first row has the names; the other rows become objects.
FunctionResult decode_csv(std::string_view text) {
  CsvReader reader(text);
  MODLOCK_TRY(const auto names, reader.read());
  if (names.empty()) {
    return refuse("missing header line");
  }
  std::map<std::string, Type> attributes;
  for (const std::string& name : names) {
    if (!attributes.emplace(name, Type::string()).second) {
      return refuse(fmt::format("duplicate column name {}", go_quoted(name)));
    }
  }
  Value::Items rows;
  for (;;) {
    MODLOCK_TRY(auto row, reader.read());
    if (row.empty()) {
      return Value::list(Type::object(std::move(attributes)), std::move(rows));
    }
    if (row.size() != names.size()) {
      return refuse(fmt::format("CSV parse error on line {}: wrong number of fields", reader.row_line()));
    }
    if ((rows.size() + 1) * names.size() > kMaxElements) {
      return too_many_elements();
    }
    Value::Members members;
    for (std::size_t i = 0; i < row.size(); ++i) {
      members.emplace(names[i], Value::string(std::move(row[i])));
    }
    rows.push_back(Value::object(std::move(members)));
  }
}

template <FunctionResult (*decode)(std::string_view)>
FunctionResult decode_text(const Call& call) {
  auto value = decode(call.arguments[0].as_string());
  if (!value) {
    return shown_error(call, std::move(value.error()), "the text is not what the function reads");
  }
  return value;
}

FunctionResult jsonencode(const Call& call) {
  TextBuilder json;
  append_json(json, call.arguments[0]);
  return std::move(json).finish();
}

}  // namespace

std::vector<Function> encoding_functions() {
  return {
      {"base64decode", {string_parameter("str")}, base64decode},
      {"base64encode", {string_parameter("str")}, base64encode},
      {"csvdecode", {string_parameter("str")}, decode_text<decode_csv>},
      {"jsondecode", {string_parameter("str")}, decode_text<decode_json>},
      {"jsonencode", {nullable_parameter("val")}, jsonencode},
      {"urldecode", {string_parameter("str")}, urldecode},
      {"urlencode", {string_parameter("str")}, urlencode},
      {"yamldecode", {string_parameter("src")}, decode_text<decode_yaml>},
  };
}

}  // namespace modlock::eval
