#include "plugin/functions/csv_decode.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "plugin/functions/function_tables.h"
#include "plugin/functions/go_quote.h"
#include "plugin/value/limits.h"

namespace modlock::eval {
namespace {

using Row = std::vector<std::string>;

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  // The next row that is not empty; an empty one at the end.
  tl::expected<Row, FunctionError> read() {
    std::string line;
    do {
      if (at_ >= text_.size()) {
        return Row{};
      }
      line = take_line();
    } while (line == "\n");
    row_line_ = line_;
    Row row;
    for (std::size_t at = 0;;) {
      auto field = line.compare(at, 1, "\"") == 0 ? quoted_field(line, at) : plain_field(line, at);
      if (!field) {
        return tl::unexpected(field.error());
      }
      row.push_back(*std::move(field));
      if (at >= line.size() || line[at] != ',') {
        return row;
      }
      ++at;
    }
  }

  // The number of the line that the last row started in.
  std::size_t row_line() const { return row_line_; }

 private:
  // The next line with an end of LF, whatever end it has; without one at the end of the text.
  std::string take_line() {
    const std::size_t end = text_.find('\n', at_);
    std::string line(text_.substr(at_, end == std::string_view::npos ? end : end - at_));
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    if (end != std::string_view::npos) {
      line += '\n';
    }
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    ++line_;
    return line;
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

  // May go on over further lines, which replace `line`.
  tl::expected<std::string, FunctionError> quoted_field(std::string& line, std::size_t& at) {
    constexpr std::string_view kBadQuote = "extraneous or missing \" in quoted-field";
    std::string field;
    ++at;
    for (;;) {
      const std::size_t quote = line.find('"', at);
      if (quote == std::string::npos) {
        field += line.substr(at);
        if (at_ >= text_.size()) {
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
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::size_t row_line_ = 0;
};

}  // namespace

FunctionResult decode_csv(std::string_view text) {
  CsvReader reader(text);
  const auto names = reader.read();
  if (!names) {
    return tl::unexpected(names.error());
  }
  if (names->empty()) {
    return refuse("missing header line");
  }
  std::map<std::string, Type> attributes;
  for (const std::string& name : *names) {
    if (!attributes.emplace(name, Type::string()).second) {
      return refuse(fmt::format("duplicate column name {}", go_quoted(name)));
    }
  }
  Value::Items rows;
  for (;;) {
    auto row = reader.read();
    if (!row) {
      return tl::unexpected(row.error());
    }
    if (row->empty()) {
      return Value::list(Type::object(std::move(attributes)), std::move(rows));
    }
    if (row->size() != names->size()) {
      return refuse(fmt::format("CSV parse error on line {}: wrong number of fields", reader.row_line()));
    }
    if ((rows.size() + 1) * names->size() > kMaxElements) {
      return too_many_elements();
    }
    Value::Members members;
    for (std::size_t i = 0; i < row->size(); ++i) {
      members.emplace((*names)[i], Value::string(std::move((*row)[i])));
    }
    rows.push_back(Value::object(std::move(members)));
  }
}

}  // namespace modlock::eval
