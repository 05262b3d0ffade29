#include <fmt/format.h>

#include "plugin/eval/evaluator.h"
#include "plugin/hcl/characters.h"

namespace modlock::eval {

// Binds the names of a loop to an item.
class Evaluator::Bound {
 public:
  Bound(std::vector<Binding>& bindings, const Loop& loop, Outcome key, Outcome value) : bindings_(bindings) {
    bindings_.push_back({loop.key_variable, std::move(key)});
    bindings_.push_back({loop.value_variable, std::move(value)});
  }
  ~Bound() {
    bindings_.pop_back();
    bindings_.pop_back();
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

 private:
  std::vector<Binding>& bindings_;
};

Outcome Evaluator::value_of(const hcl::For& node, const hcl::Expression& at) {
  const Loop loop{node.key_variable, node.value_variable, *node.collection, node.condition.get()};
  return node.key == nullptr ? tuple_for(node, loop, at.range) : object_for(node, loop, at.range);
}

Outcome Evaluator::iterable(const hcl::Expression& collection) {
  Outcome value = evaluate(collection);
  if (!value) return no_value(value);
  if (value->is_null()) {
    return reject(collection.range, {"iteration over null value: a null value cannot be used as the collection in a "
                                     "'for' expression"});
  }
  if (value->type().is_primitive()) {
    return reject(collection.range, {fmt::format("iteration over non-iterable value: a value of type {} cannot be used "
                                                 "as the collection in a 'for' expression",
                                                 value->type().friendly_name())});
  }
  return value;
}

tl::expected<Marks, NoValue> Evaluator::iterate(const Loop& loop, const Step& step) {
  const Outcome collection = iterable(loop.collection);
  if (!collection) return no_value(collection);
  Marks marks = collection->marks();
  // Whether an item is taken: a bool with the marks of the condition.
  const auto lets_in = [&] {
    return required(*loop.condition, Type::boolean(),
                    {"invalid 'for' condition: the value of the 'if' clause must not be null"},
                    "invalid 'for' condition: the 'if' clause value is invalid");
  };
  if (collection->size() == 0 && loop.condition != nullptr) {
    // An error in the condition that does not depend on the item is reported even if there are no items.
    const Bound bound(bindings_, loop, no_value(NoValue{}), no_value(NoValue{}));
    const Outcome in = lets_in();
    if (failed(in)) return no_value(in);
  }
  const auto run = [&](Value key, const Value& value) -> std::optional<NoValue> {
    const Bound bound(bindings_, loop, std::move(key), value);
    if (loop.condition != nullptr) {
      const Outcome in = lets_in();
      if (!in) return in.error();
      marks = marks | in->marks();
      if (!in->as_bool()) return std::nullopt;
    }
    return step();
  };
  if (collection->is(Type::Kind::map) || collection->is(Type::Kind::object)) {
    for (const auto& [key, value] : collection->members()) {
      if (auto reason = run(Value::string(key), value)) return no_value(std::move(*reason));
    }
    return marks;
  }
  std::int64_t index = 0;
  for (const Value& value : collection->items()) {
    Value key = collection->is(Type::Kind::set) ? value : Value::number(index++);
    if (auto reason = run(std::move(key), value)) return no_value(std::move(*reason));
  }
  return marks;
}

Outcome Evaluator::tuple_for(const hcl::For& node, const Loop& loop, const Range& range) {
  Value::Items items;
  const auto marks = iterate(loop, [&]() -> std::optional<NoValue> {
    Outcome item = evaluate(*node.value);
    if (!item) return item.error();
    items.push_back(std::move(*item));
    return std::nullopt;
  });
  if (!marks) return no_value(NoValue{marks.error().error});
  return within_limits(Value::tuple(std::move(items)).with_marks(*marks), range);
}

Outcome Evaluator::object_for(const hcl::For& node, const Loop& loop, const Range& range) {
  std::map<std::string, Value::Items> groups;
  Marks key_marks;
  const auto marks = iterate(loop, [&]() -> std::optional<NoValue> {
    const Outcome key =
        required(*node.key, Type::string(),
                 {"invalid object key: key expression in 'for' expression must not produce a null value"},
                 "invalid object key: the key expression produced an invalid result");
    if (!key) return key.error();
    key_marks = key_marks | key->marks();
    Outcome item = evaluate(*node.value);
    if (!item) return item.error();
    Value::Items& group = groups[key->as_string()];
    if (!group.empty() && !node.grouping) {
      const std::string name = key->marks().any() ? "same key" : "key " + hcl::quoted_for_message(key->as_string());
      return reject(node.key->range,
                    {fmt::format("duplicate object key: two different items produced the {} in this 'for' expression",
                                 name),
                     "if duplicates are expected, use the ellipsis (...) after the value expression to enable grouping "
                     "by key"})
          .value();
    }
    group.push_back(std::move(*item));
    return std::nullopt;
  });
  if (!marks) return no_value(NoValue{marks.error().error});
  Value::Members members;
  for (auto& [key, items] : groups) {
    members.emplace(key, node.grouping ? Value::tuple(std::move(items)) : std::move(items.front()));
  }
  return within_limits(Value::object(std::move(members)).with_marks(*marks | key_marks), range);
}

}  // namespace modlock::eval
