#include <fmt/format.h>
#include <re2/re2.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>
#include <tl/expected.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/digest.h"
#include "plugin/functions/function_tables.h"
#include "plugin/value/convert.h"
#include "plugin/value/value.h"

namespace modlock::eval {
namespace {

// A YAML timestamp ("2001-12-14", "2001-12-14 21:59:43.1", "2001-12-14t21:59:43-05:00") in RFC 3339, without fractions
// of a second; nullopt for any other text.
std::optional<std::string> yaml_time(std::string_view text) {
  static const re2::RE2 kForm(
      R"((\d{4})-(\d{1,2})-(\d{1,2})(?:(?: |[Tt])(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?(Z|[+-](\d{2}):(\d{2}))?)?)");
  std::array<re2::StringPiece, 10> parts;
  if (!kForm.Match({text.data(), text.size()}, 0, text.size(), re2::RE2::ANCHOR_BOTH, parts.data(), parts.size())) {
    return std::nullopt;
  }
  std::array<int, 10> numbers{};  // 0 for what is not there
  for (std::size_t i = 1; i < parts.size(); ++i) {
    std::from_chars(parts[i].begin(), parts[i].end(), numbers[i]);
  }
  const auto [all, year, month, day, hour, minute, second, zone, ahead, past] = numbers;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  const bool is_zoned = !parts[4].empty() && text.find(' ') == std::string_view::npos;
  if (!date.ok() || hour > 23 || minute > 59 || second > 59 || is_zoned == parts[7].empty() || ahead > 24 ||
      past > 60) {
    return std::nullopt;
  }
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}", year, month, day, hour, minute, second,
                     ahead == 0 && past == 0 ? "Z" : fmt::format("{}{:02}:{:02}", parts[7][0], ahead, past));
}

constexpr std::string_view kPrefix = "tag:yaml.org,2002:";

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

bool is_infinite(std::string_view text) {
  text.remove_prefix(text.starts_with('+') || text.starts_with('-') ? 1 : 0);
  return is_one_of(text, {".inf", ".Inf", ".INF"});
}

// Whole numbers of the forms "0x1f" and "0o17".
std::optional<Value> based_number(std::string_view text) {
  const int base = text.starts_with("0x") ? 16 : text.starts_with("0o") ? 8 : 0;
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  if (base == 0 || text.size() < 3 || text[2] == '-') {
    return std::nullopt;
  }
  const auto read = std::from_chars(text.data() + 2, end, number, base);
  if (read.ec != std::errc() || read.ptr != end) {
    return std::nullopt;
  }
  return Value::number(number);
}

std::optional<Value> number(std::string_view text) {
  // tonumber() accepts an exponent of two, YAML does not.
  if (text.find_first_of("pP") != std::string_view::npos) {
    return std::nullopt;
  }
  if (const auto parsed = Number::parse(text)) {
    return Value::number(*parsed);
  }
  return based_number(text);
}

// A plain scalar without a tag, or with a tag that lets the form decide.
tl::expected<Value, std::string> implicit_value(std::string_view text, bool may_be_time) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) {
    return Value();
  }
  const bool is_true = is_one_of(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"});
  if (is_true || is_one_of(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
    return Value::boolean(is_true);
  }
  if (is_infinite(text)) {
    return tl::unexpected(std::string("infinite numbers are not supported"));
  }
  if (is_one_of(text, {".nan", ".NaN", ".NAN"})) {
    return tl::unexpected(std::string("floating point NaN is not supported"));
  }
  if (std::string_view("+-.0123456789").find(text.front()) != std::string_view::npos) {
    if (const auto time = may_be_time ? yaml_time(text) : std::nullopt) {
      return Value::string(*time);
    }
    if (const auto value = number(text)) {
      return *value;
    }
  }
  return Value::string(std::string(text));
}

tl::unexpected<std::string> not_of_tag(std::string_view text, std::string_view tag) {
  return tl::unexpected(fmt::format("cannot parse {} as {}", go_quoted(text), tag));
}

// The value of a scalar. `tag` is empty or the long form ("tag:yaml.org,2002:int"); quoted text is a string unless it
// has a tag. The error contains no position.
tl::expected<Value, std::string> yaml_scalar(std::string_view tag, std::string_view text, bool is_quoted) {
  if (tag.empty()) {
    return is_quoted ? Value::string(std::string(text)) : implicit_value(text, true);
  }
  const std::string_view kind = tag.starts_with(kPrefix) ? tag.substr(kPrefix.size()) : std::string_view();
  if (kind == "str") {
    return Value::string(std::string(text));
  }
  if (kind == "binary") {
    return decode_base64(text)
               ? tl::expected<Value, std::string>(Value::string(std::string(text)))
               : tl::unexpected(fmt::format("cannot parse {} as {}: not valid base64", go_quoted(text), tag));
  }
  if (!is_one_of(kind, {"bool", "int", "float", "null", "timestamp"})) {
    return tl::unexpected(fmt::format("unsupported tag {}", go_quoted(tag)));
  }
  auto value = implicit_value(text, kind == "timestamp");
  if (!value) {
    return value;
  }
  if (kind == "null") {
    return Value();
  }
  const Type::Kind wanted = kind == "bool"        ? Type::Kind::boolean
                            : kind == "timestamp" ? Type::Kind::string
                                                  : Type::Kind::number;
  const bool is_time = kind != "timestamp" || yaml_time(text).has_value();
  return value->is(wanted) && is_time ? value : not_of_tag(text, tag);
}

using Kind = Type::Kind;

// A mapping or sequence that is being read.
struct Open {
  bool is_mapping = false;
  bool merges = false;  // the next value is that of "<<"
  YAML::anchor_t anchor = 0;
  YAML::Mark mark;
  std::optional<std::string> key = {};
  Value::Items items = {};
  Value::Members members = {};
};

// Builds the value of one document from the events of the parser. Keeps the first error.
class Builder : public YAML::EventHandler {
 public:
  FunctionResult finish() && {
    if (error_) {
      return tl::unexpected(*error_);
    }
    return result_ ? *result_ : Value();
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { take_scalar(mark, "", anchor, "", false); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchored_.find(anchor);
    if (known == anchored_.end()) {
      fail_at(mark, "cannot refer to an anchor from inside its own definition");
    } else if (is_key_next()) {
      fail_at(mark, "only strings are allowed as mapping keys");
    } else {
      // Counts everything inside it: otherwise aliases of aliases would grow without bounds.
      count_ += known->second.size;
      accept(mark, known->second.value);
    }
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    const bool is_plain = tag == "?" || tag.empty();
    take_scalar(mark, is_plain || tag == "!" ? "" : tag, anchor, text, tag == "!");
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, false);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, true);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Anchored {
    Value value;
    std::size_t size = 0;
  };

  void fail_at(const YAML::Mark& mark, std::string_view what) {
    if (!error_) {
      error_ = FunctionError{.message = fmt::format("on line {}, column {}: {}", mark.line + 1, mark.column + 1, what)};
    }
  }

  bool is_key_next() const {
    return !open_.empty() && open_.back().is_mapping && !open_.back().key && !open_.back().merges;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, bool is_mapping) {
    const std::string_view expected = is_mapping ? "tag:yaml.org,2002:map" : "tag:yaml.org,2002:seq";
    if (tag != "?" && !tag.empty() && tag != expected) {
      fail_at(mark, fmt::format("can't interpret {} as {}", is_mapping ? "mapping" : "sequence", tag));
    }
    if (is_key_next()) {
      fail_at(mark, "only strings are allowed as mapping keys");
    }
    if (!error_) {
      open_.push_back({.is_mapping = is_mapping, .anchor = anchor, .mark = mark});
      starts_.push_back(count_);
    }
  }

  void close() {
    if (error_) {
      return;
    }
    Open done = std::move(open_.back());
    open_.pop_back();
    const Value value = done.is_mapping ? Value::object(std::move(done.members)) : Value::tuple(std::move(done.items));
    remember(done.anchor, value, count_ - starts_.back());
    starts_.pop_back();
    accept(done.mark, value);
  }

  void remember(YAML::anchor_t anchor, const Value& value, std::size_t size) {
    if (anchor != 0) {
      anchored_.insert_or_assign(anchor, Anchored{.value = value, .size = size});
    }
  }

  void take_scalar(const YAML::Mark& mark, std::string_view tag, YAML::anchor_t anchor, const std::string& text,
                   bool is_quoted) {
    if (error_) {
      return;
    }
    if (is_key_next() && ((tag.empty() && text == "<<") || tag == "tag:yaml.org,2002:merge")) {
      open_.back().merges = true;
      return;
    }
    const auto value = yaml_scalar(tag, text, is_quoted);
    if (!value) {
      fail_at(mark, value.error());
    } else if (is_key_next()) {
      take_key(mark, *value);
    } else {
      remember(anchor, *value, 0);
      accept(mark, *value);
    }
  }

  void take_key(const YAML::Mark& mark, const Value& value) {
    const auto key = convert(value, Type::string());
    if (!key || key->is_null()) {
      fail_at(mark, key ? "mapping key cannot be null" : "only strings are allowed as mapping keys");
      return;
    }
    open_.back().key = key->as_string();
  }

  // Adds a complete value to the collection that contains it.
  void accept(const YAML::Mark& mark, const Value& value) {
    if (++count_ > kMaxElements && !error_) {
      error_ = too_many_elements().value();
    }
    if (error_) {
      return;
    }
    if (open_.empty()) {
      result_ = value;
      return;
    }
    Open& holder = open_.back();
    if (!holder.is_mapping) {
      holder.items.push_back(value);
    } else if (holder.merges) {
      holder.merges = false;
      merge(mark, value, holder.members);
    } else {
      holder.members.insert_or_assign(*std::exchange(holder.key, std::nullopt), value);
    }
  }

  void merge(const YAML::Mark& mark, const Value& value, Value::Members& members) {
    if (value.is(Kind::object)) {
      merge_members(value, members);
    } else if (value.is(Kind::tuple)) {
      for (const Value& item : value.items()) {
        if (!item.is(Kind::object)) {
          fail_at(mark, fmt::format("cannot merge {} (from sequence) into mapping", item.type().friendly_name()));
          return;
        }
        merge_members(item, members);
      }
    } else {
      fail_at(mark, fmt::format("cannot merge {} into mapping", value.type().friendly_name()));
    }
  }

  static void merge_members(const Value& from, Value::Members& members) {
    for (const auto& [name, member] : from.members()) {
      members.insert_or_assign(name, member);
    }
  }

  std::vector<Open> open_;
  std::vector<std::size_t> starts_;  // the count when each of them was opened
  std::map<YAML::anchor_t, Anchored> anchored_;
  std::size_t count_ = 0;
  std::optional<Value> result_;
  std::optional<FunctionError> error_;
};

}  // namespace

FunctionResult decode_yaml(std::string_view text) {
  // yaml-cpp throws an exception if the text is not YAML.
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder;
    if (!parser.HandleNextDocument(builder)) {
      return refuse("on line 1, column 1: missing start of document");
    }
    Builder rest;
    auto value = std::move(builder).finish();
    if (value && parser.HandleNextDocument(rest)) {
      return refuse("only a single document is allowed");
    }
    return value;
  } catch (const YAML::Exception& exception) {
    if (exception.mark.is_null()) {
      return refuse(exception.msg);
    }
    return refuse(
        fmt::format("on line {}, column {}: {}", exception.mark.line + 1, exception.mark.column + 1, exception.msg));
  }
}

}  // namespace modlock::eval
