#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/json.h"
#include "protocol/base/json_text.h"
#include "protocol/messages/fields.h"

namespace modlock {

// The form of `fields` (protocol/messages/fields.h) that writes the members of an object as text, without a tree: the
// same text as write_json() makes of what Encode builds, for results that are large.
class WriteText : public WritingForm<WriteText> {
 public:
  // Of any value that a message may hold.
  template <typename Value>
  static std::string text_of(const Value& value) {
    Sink sink;
    append(sink, value);
    return std::move(sink.text);
  }

  template <typename Value>
  void member(const char* name, const Value& value, std::string_view = {}, Choices = {}) {
    write(name, [&] { append(sink_, value); });
  }
  template <typename Value>
  void nullable(const char* name, const std::optional<Value>& value, std::string_view = {}) {
    write(name, [&] { value ? append(sink_, *value) : void(sink_.text += "null"); });
  }
  template <typename Fill>
  void group(const char* name, std::string_view, Fill fill) {
    write(name, [&] { append_object(sink_, fill); });
  }

 private:
  struct Member {
    std::string_view name;
    std::size_t start = 0;  // in the text
  };
  struct Sink {
    std::string text;
    std::vector<Member> members;  // of all objects that are open, outer ones first; each in the order of their names
  };

  // The members go to the end of the text, behind the brace that stands there.
  explicit WriteText(Sink& sink) : sink_(sink), first_(sink.members.size()) {}

  template <typename Value>
  static void append(Sink& sink, const Value& value) {
    std::string& out = sink.text;
    if constexpr (requires { json_of(value); }) {
      out += write_json(json_of(value));
    } else if constexpr (std::is_same_v<Value, bool>) {
      out += value ? "true" : "false";
    } else if constexpr (std::is_integral_v<Value>) {
      out += std::to_string(value);
    } else if constexpr (kIsText<Value>) {
      append_json_string(out, value);
    } else if constexpr (Maybe<Value>::value) {
      append(sink, *value);
    } else if constexpr (Items<Value>::value) {
      out += '[';
      for (const auto& item : value) {
        const std::size_t start = out.size();
        append(sink, item);
        out += ',';
        if (&item == &value.front()) {
          constexpr std::size_t kMostAhead = 1 << 20;
          out.reserve(out.size() + std::min(kMostAhead, value.size() * (out.size() - start)));  // most are alike
        }
      }
      value.empty() ? void(out += ']') : void(out.back() = ']');
    } else {
      append_object(sink, [&](WriteText& form) { fields(form, value); });
    }
  }
  template <typename Fill>
  static void append_object(Sink& sink, const Fill& fill) {
    sink.text += '{';
    WriteText form(sink);
    fill(form);
    sink.members.resize(form.first_);
    sink.text += '}';
  }

  template <typename Append>
  void write(std::string_view name, const Append& append_value) {
    begin(name);
    append_value();
    put_last_in_order();
  }
  void begin(std::string_view name);
  void put_last_in_order();

  Sink& sink_;
  const std::size_t first_;  // of the members of this object
};

}  // namespace modlock
