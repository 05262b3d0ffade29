#include "plugin/functions/yaml_decode.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "plugin/functions/function_tables.h"
#include "plugin/functions/go_quote.h"
#include "plugin/functions/yaml_scalar.h"
#include "plugin/value/convert.h"
#include "plugin/value/limits.h"

namespace modlock::eval {
namespace {

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

// Builds the value of one document from the events of the parser. The first error stays.
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
      // Counted with all that is in it: aliases of aliases grow without bounds otherwise.
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

  // A value that is complete goes into what holds it.
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
  std::vector<std::size_t> starts_;  // what was counted when each of them was opened
  std::map<YAML::anchor_t, Anchored> anchored_;
  std::size_t count_ = 0;
  std::optional<Value> result_;
  std::optional<FunctionError> error_;
};

}  // namespace

FunctionResult decode_yaml(std::string_view text) {
  // yaml-cpp throws at what is no YAML.
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
