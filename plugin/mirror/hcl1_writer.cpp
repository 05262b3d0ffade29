#include "plugin/mirror/hcl1_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace modlock::hcl1 {
namespace {

bool is_plain(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
}

// Good in both syntaxes. In native syntax "${" would begin an expression, so its "$" is escaped.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i];
    } else if (c < 0x20 || c == 0x7f || (c == '$' && i + 1 < text.size() && text[i + 1] == '{')) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      out += text[i];
    }
  }
  return out + "\"";
}

std::string scalar(const Value& value) {
  return value.kind == Value::Kind::string ? in_quotes(value.text) : value.text;
}

bool holds_objects(const Value& list) {
  return std::any_of(list.elements.begin(), list.elements.end(),
                     [](const Value& element) { return element.kind == Value::Kind::object; });
}

class NativeWriter {
 public:
  std::string text;

  void write(const std::vector<Item>& items) {
    for (const Item& item : items) {
      write(item, item.value);
    }
  }

 private:
  void write(const Item& item, const Value& value) {
    if (value.kind == Value::Kind::list && holds_objects(value)) {
      for (const Value& element : value.elements) {
        write(item, element);
      }
      return;
    }
    text.append(depth_ * 2, ' ');
    for (std::size_t i = 0; i < item.keys.size(); ++i) {
      text += (i == 0 && is_plain(item.keys[i]) ? item.keys[i] : in_quotes(item.keys[i])) + " ";
    }
    if (value.kind == Value::Kind::object) {
      text += item.is_assigned ? "= {\n" : "{\n";
      ++depth_;
      write(value.items);
      --depth_;
      text.append(depth_ * 2, ' ');
      text += "}\n";
      return;
    }
    text += "= ";
    if (value.kind == Value::Kind::list) {
      write_list(value);
    } else {
      text += scalar(value);
    }
    text += "\n";
  }

  void write_list(const Value& list) {
    text += "[";
    for (std::size_t i = 0; i < list.elements.size(); ++i) {
      text += i == 0 ? "" : ", ";
      if (list.elements[i].kind == Value::Kind::list) {
        write_list(list.elements[i]);
      } else {
        text += scalar(list.elements[i]);
      }
    }
    text += "]";
  }

  std::size_t depth_ = 0;
};

}  // namespace

std::string write_items(const std::vector<Item>& items) {
  NativeWriter writer;
  writer.write(items);
  return std::move(writer.text);
}

std::string write_json_members(const std::vector<Item>& items) {
  std::string out;
  for (const Item& item : items) {
    out += out.empty() ? "" : ",";
    for (std::size_t i = 0; i < item.keys.size(); ++i) {
      out += (i == 0 ? "" : "{") + in_quotes(item.keys[i]) + ":";
    }
    out +=
        item.value.kind == Value::Kind::object ? "{" + write_json_members(item.value.items) + "}" : scalar(item.value);
    out.append(item.keys.size() - 1, '}');
  }
  return out;
}

}  // namespace modlock::hcl1
