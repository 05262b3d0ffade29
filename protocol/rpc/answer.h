#pragma once

#include <json/value.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/messages/write_text.h"

namespace modlock {

// The result of a method: a tree, or a message, of which a tree is built where somebody asks for one.
class Answer {
 public:
  Answer() = default;  // null
  Answer(Json::Value tree) : content_(std::move(tree)) {}
  // Of a message with `fields` that may be large; of others, messages::encode() makes a tree.
  template <typename Message>
  static Answer of(Message message) {
    Answer answer;
    answer.content_ = std::make_shared<const MessageOf<Message>>(std::move(message));
    return answer;
  }

  bool is_null() const;

  // Adds `_meta.unknownParams` to an object; what is none stays as it is.
  void add_unknown_params(const std::vector<std::string>& names);

  std::string text() const;  // compact JSON, as write_json() has it
  Json::Value& tree();       // what is changed in it is in the text too

 private:
  struct Serialized {
    virtual ~Serialized() = default;
    virtual std::string text() const = 0;
    virtual Json::Value tree() const = 0;
  };
  template <typename Message>
  struct MessageOf : Serialized {
    explicit MessageOf(Message content) : message(std::move(content)) {}
    std::string text() const override { return WriteText::text_of(message); }
    Json::Value tree() const override { return Encode::to_value(message); }

    Message message;
  };

  std::variant<Json::Value, std::shared_ptr<const Serialized>> content_;
  std::vector<std::string> unknown_params_;  // of a message
};

}  // namespace modlock
