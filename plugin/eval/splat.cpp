#include <algorithm>

#include "plugin/eval/evaluator.h"

namespace modlock::eval {
namespace {

using Kind = Type::Kind;

}  // namespace

Outcome Evaluator::value_of(const hcl::SplatItem&, const hcl::Expression&) {
  return splat_items_.back();
}

Outcome Evaluator::each_of(const hcl::Splat& node, const Outcome& item) {
  splat_items_.push_back(item);
  Outcome result = evaluate(*node.each);
  splat_items_.pop_back();
  return result;
}

// What is no sequence counts as one of one item, a null as an empty one.
Outcome Evaluator::value_of(const hcl::Splat& node, const hcl::Expression& at) {
  const Outcome source = evaluate(*node.operand);
  if (!source) return no_value(source);
  const bool collection = source->is(Kind::list) || source->is(Kind::set);
  const bool sequence = collection || source->is(Kind::tuple);
  if (source->is_null()) {
    if (!sequence) return Value::tuple({}).with_marks(source->marks());
    return reject(node.operand->range,
                  {"splat of null value: splat expressions (with the * symbol) cannot be applied to "
                   "null sequences"});
  }
  Value::Items results;
  NoValue reason;
  bool complete = true;
  const auto add = [&](const Value& item) {
    Outcome result = each_of(node, item);
    if (result) return results.push_back(std::move(*result));
    if (complete) reason.error = std::move(result).error().error;
    complete = false;
  };
  if (sequence) {
    std::for_each(source->items().begin(), source->items().end(), add);
  } else {
    add(*source);
  }
  if (!complete) return no_value(std::move(reason));
  Outcome result = collection ? list_splat(node, std::move(results), source->type().element(), at.range)
                              : within_limits(Value::tuple(std::move(results)), at.range);
  if (!result) return result;
  return result->with_marks(source->marks());
}

// The results for the items of a list or set, which must be of one type.
Outcome Evaluator::list_splat(const hcl::Splat& node, Value::Items items, const Type& element, const Range& range) {
  if (items.empty()) {
    const Outcome unknown = each_of(node, no_value(NoValue{{}, element}));
    if (failed(unknown)) return no_value(unknown);
    return Value::list(type_of(unknown), {});
  }
  const auto typed =
      std::find_if(items.begin(), items.end(), [](const Value& item) { return !item.is(Kind::dynamic); });
  const Type type = typed == items.end() ? Type::dynamic() : typed->type();
  for (Value& item : items) {
    if (item.is(Kind::dynamic)) item = Value::null(type).with_marks(item.marks());
    if (item.type() == type) continue;
    return reject(node.each->range, {"invalid nested splat expressions: the second level of splat expression produced "
                                     "elements of different types, which cannot be in one list",
                                     "consider using a for expression instead"});
  }
  return within_limits(Value::list(type, std::move(items)), range);
}

}  // namespace modlock::eval
