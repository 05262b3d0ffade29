#include "plugin/client/hcl1.h"

#include <fmt/format.h>

#include <set>

#include "plugin/client/hcl1_scanner.h"
#include "protocol/base/result.h"
#include "protocol/base/utf8.h"

namespace modlock::hcl1 {
namespace {

constexpr std::size_t kDeepest = 100;

class Parser {
 public:
  Parser(std::string_view text, std::string_view name, bool is_json, Duplicates duplicates)
      : scanner_(text, name, is_json), is_json_(is_json), duplicates_(duplicates) {}

  Result<File> parse() {
    File file{.items = {}, .is_json = is_json_};
    MODLOCK_TRY(advance());
    if (is_json_) {
      MODLOCK_TRY(auto root, read_value());
      file.items = std::move(root.items);
      if (token_.kind != Token::Kind::end) {
        return scanner_.wrong(token_.at, "text behind the JSON object");
      }
      return file;
    }
    MODLOCK_TRY(read_items(file.items, false));
    return file;
  }

 private:
  Result<void> advance() {
    MODLOCK_TRY(auto token, scanner_.next());
    token_ = std::move(token);
    return {};
  }

  // The items of an object up to its "}", which is taken, or of the file up to its end.
  Result<void> read_items(std::vector<Item>& items, bool in_braces) {
    std::set<std::string_view> assigned;
    while (!(in_braces ? token_.is('}') : token_.kind == Token::Kind::end)) {
      const Place at = token_.at;
      const std::string_view first_key = token_.raw;
      MODLOCK_TRY(auto item, is_json_ ? read_json_item() : read_item());
      if (item.is_assigned && !assigned.insert(first_key).second && duplicates_ == Duplicates::refused) {
        return scanner_.wrong(at, fmt::format("the argument \"{}\" is set twice", item.keys.front()));
      }
      items.push_back(std::move(item));
      if (token_.is(',')) {
        if (auto ok = advance(); !ok) {
          return ok;
        }
      } else if (is_json_ && !token_.is('}')) {
        return scanner_.wrong(token_.at, "\",\" or \"}\" was expected");
      }
    }
    return in_braces ? advance() : Result<void>();
  }

  Result<Item> read_json_item() {
    Item item{.keys = {}, .is_assigned = false, .value = {}, .at = token_.at};
    if (token_.kind != Token::Kind::string) {
      return scanner_.wrong(token_.at, "a name in quotes was expected");
    }
    item.keys.push_back(std::move(token_.text));
    auto ok = advance();
    if (ok && !token_.is(':')) {
      return scanner_.wrong(token_.at, "\":\" was expected");
    }
    return finish_item(std::move(item), std::move(ok));
  }

  Result<Item> read_item() {
    Item item{.keys = {}, .is_assigned = false, .value = {}, .at = token_.at};
    Result<void> ok;
    while (ok && (token_.kind == Token::Kind::word || (token_.kind == Token::Kind::string && token_.raw[0] == '"'))) {
      item.keys.push_back(std::move(token_.text));
      ok = advance();
    }
    if (ok && token_.is('{') && !item.keys.empty()) {
      MODLOCK_TRY(auto value, read_value());
      item.value = std::move(value);
      return item;
    }
    if (ok && (!token_.is('=') || item.keys.size() != 1)) {
      return scanner_.wrong(token_.at, item.keys.empty() ? "the name of an argument or a block was expected"
                                                         : "\"{\" was expected, or \"=\" behind a single name");
    }
    item.is_assigned = true;
    return finish_item(std::move(item), std::move(ok));
  }

  // The value behind "=" or ":", which is the token.
  Result<Item> finish_item(Item item, Result<void> ok) {
    if (ok) {
      ok = advance();
    }
    if (!ok) {
      return fail(std::move(ok.error()));
    }
    MODLOCK_TRY(auto value, read_value());
    item.value = std::move(value);
    return item;
  }

  Result<Value> read_value() {
    Value value;
    value.at = token_.at;
    if (token_.is('{') || token_.is('[')) {
      if (depth_ == kDeepest) {
        return scanner_.wrong(token_.at, fmt::format("nesting over {}", kDeepest));
      }
      value.kind = token_.is('{') ? Value::Kind::object : Value::Kind::list;
      ++depth_;
      auto ok = advance();
      if (ok) {
        ok = value.kind == Value::Kind::object ? read_items(value.items, true) : read_elements(value.elements);
      }
      --depth_;
      return ok ? Result<Value>(std::move(value)) : fail(std::move(ok.error()));
    }
    switch (token_.kind) {
      case Token::Kind::string:
        value.kind = Value::Kind::string;
        value.text = std::move(token_.text);
        break;
      case Token::Kind::null:
        value.kind = Value::Kind::string;
        break;
      case Token::Kind::number:
      case Token::Kind::boolean:
        value.kind = token_.kind == Token::Kind::number ? Value::Kind::number : Value::Kind::boolean;
        value.text = std::move(token_.text);
        break;
      default:
        return scanner_.wrong(token_.at, "a value was expected");
    }
    auto ok = advance();
    return ok ? Result<Value>(std::move(value)) : fail(std::move(ok.error()));
  }

  Result<void> read_elements(std::vector<Value>& elements) {
    bool needs_comma = false;
    while (!token_.is(']')) {
      if (token_.is(',')) {
        needs_comma = false;
        if (auto ok = advance(); !ok) {
          return ok;
        }
        continue;
      }
      if (needs_comma) {
        return scanner_.wrong(token_.at, "\",\" or \"]\" was expected");
      }
      MODLOCK_TRY(auto value, read_value());
      needs_comma = true;
      const bool is_lost = is_json_ && (value.kind == Value::Kind::boolean || value.kind == Value::Kind::list);
      if (!is_lost) {
        elements.push_back(std::move(value));
      }
    }
    return advance();
  }

  Scanner scanner_;
  bool is_json_;
  Duplicates duplicates_;
  std::size_t depth_ = 0;
  Token token_;
};

// HCL reads lines that end in LF only.
std::string normalised(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!(text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n')) {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

Result<File> parse(std::string_view text, std::string_view name, Duplicates duplicates) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) {
    return fail(Code::config_parse, fmt::format("{}:1:1: a byte order mark, which HCL does not take", name));
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_sequence_length(text.substr(at));
    if (length == 0) {
      return fail(Code::config_parse, fmt::format("{}: the byte {} is no UTF-8", name, at));
    }
    at += length;
  }
  const std::string source = normalised(text);
  const std::size_t start = source.find_first_not_of(" \t\n\v\f\r");
  const bool is_json = start != std::string::npos && source[start] == '{';
  return Parser(source, name, is_json, duplicates).parse();
}

}  // namespace modlock::hcl1
