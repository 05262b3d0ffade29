#include "plugin/settings/settings_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "plugin/config/did_you_mean.h"
#include "plugin/hcl/characters.h"
#include "plugin/hcl/value.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using Words = SettingsText::Words;

std::string quoted_list(const Words& words, std::string_view separator) {
  std::string result;
  for (const std::string_view word : words) {
    result += fmt::format("{}\"{}\"", result.empty() ? std::string_view{} : separator, word);
  }
  return result;
}

}  // namespace

SettingsText::SettingsText(std::string_view text, std::string path)
    : path_(std::move(path)), parsed_(hcl::parse_native(text, path_)) {}

tl::unexpected<Error> SettingsText::reject(const Range& range, std::string message, std::string hint) const {
  return fail(Error{.code = Code::config_parse,
                    .message = std::move(message),
                    .location = Location{path_, range},
                    .hint = std::move(hint)});
}

tl::unexpected<Error> SettingsText::unknown(std::string_view what, std::string_view name, const Range& range,
                                            const Words& known) const {
  std::string hint = did_you_mean(name, known);
  return reject(range, fmt::format("unknown {} {} in {}", what, hcl::quoted_for_message(name), at(range)),
                hint.empty() ? fmt::format("known here are {}", quoted_list(known, ", ")) : std::move(hint));
}

std::string SettingsText::at(const Range& range) const {
  return fmt::format("{}:{}", path_, range.start.line);
}

Result<void> SettingsText::check_block(const hcl::Block& block, std::string_view label_meaning,
                                       const Words& known) const {
  if (block.labels.size() != 1 || block.labels.front().text.empty()) {
    return reject(block.header_range, fmt::format("a {} block needs one label, {}", block.type, label_meaning),
                  fmt::format("write {} \"…\" {{ … }}", block.type));
  }
  if (!block.body.blocks.empty()) {
    const hcl::Block& inner = block.body.blocks.front();
    return reject(inner.type_range, fmt::format("{} \"{}\" must not hold blocks, found \"{}\"", block.type,
                                                block.labels.front().text, inner.type));
  }
  for (const hcl::Attribute& attribute : block.body.attributes) {
    if (std::find(known.begin(), known.end(), attribute.name) == known.end()) {
      return unknown(fmt::format("setting of {} \"{}\":", block.type, block.labels.front().text), attribute.name,
                     attribute.name_range, known);
    }
  }
  return {};
}

Result<std::size_t> SettingsText::read_choice(const hcl::Attribute& attribute, const Words& words) const {
  MODLOCK_TRY(const auto written, read_string(attribute));
  const auto found = std::find(words.begin(), words.end(), written.text);
  if (found == words.end()) {
    return reject(attribute.value.range,
                  fmt::format("{} must be {}, found \"{}\"", attribute.name, quoted_list(words, " or "), written.text));
  }
  return static_cast<std::size_t>(found - words.begin());
}

Result<std::size_t> SettingsText::read_count(const hcl::Attribute& attribute, std::size_t least,
                                             std::size_t most) const {
  MODLOCK_TRY(const hcl::Value value, hcl::static_value(attribute.value, path_));
  const auto* number = std::get_if<hcl::NumberValue>(&value.data);
  const std::string_view text = number != nullptr ? std::string_view(number->text) : std::string_view();
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (number == nullptr || error != std::errc() || end != text.data() + text.size() || count < least || count > most) {
    return reject(attribute.value.range,
                  fmt::format("{} must be a whole number from {} to {}, found {}", attribute.name, least, most,
                              number != nullptr ? text : hcl::type_name(value)));
  }
  return count;
}

Result<SourceText> SettingsText::read_string(const hcl::Attribute& attribute) const {
  MODLOCK_TRY(auto text, hcl::static_string(attribute.value, path_, attribute.name, Code::config_parse));
  return SourceText{std::move(text), Location{path_, attribute.value.range}};
}

Result<std::vector<SourceText>> SettingsText::read_strings(const hcl::Attribute& attribute) const {
  MODLOCK_TRY(const hcl::Value value, hcl::static_value(attribute.value, path_));
  std::vector<SourceText> strings;
  const hcl::TupleValue* items = value.as_tuple();
  const bool all_strings = items != nullptr && std::all_of(items->begin(), items->end(), [](const hcl::Value& item) {
                             return item.as_string() != nullptr;
                           });
  if (!all_strings) {
    return reject(attribute.value.range, fmt::format("{} must be a list of strings", attribute.name),
                  fmt::format("write it as {} = [\"…\"]", attribute.name));
  }
  for (const hcl::Value& item : *items) {
    strings.push_back({*item.as_string(), Location{path_, item.range}});
  }
  return strings;
}

Result<std::optional<SourceText>> SettingsText::read_argument(const hcl::Body& body, std::string_view name) const {
  const hcl::Attribute* attribute = body.find(name);
  if (attribute == nullptr) {
    return std::nullopt;
  }
  MODLOCK_TRY(auto written, read_string(*attribute));
  return written;
}

}  // namespace modlock
