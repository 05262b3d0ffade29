#include "plugin/config/settings_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "plugin/hcl/value.h"

namespace modlock {
namespace {

using Words = SettingsText::Words;

// Levenshtein distance.
std::size_t distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t substituted = diagonal + (left[i] == right[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

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
  constexpr std::size_t kNear = 2;
  Words near;
  std::copy_if(known.begin(), known.end(), std::back_inserter(near),
               [&](std::string_view word) { return distance(name, word) <= kNear; });
  return reject(range, fmt::format("unknown {} \"{}\" in {}", what, name, at(range)),
                near.empty() ? fmt::format("known here are {}", quoted_list(known, ", "))
                             : fmt::format("did you mean {}?", quoted_list(near, " or ")));
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
  const auto written = read_string(attribute);
  if (!written) {
    return fail(written.error());
  }
  const auto found = std::find(words.begin(), words.end(), written->text);
  if (found == words.end()) {
    return reject(attribute.value.range, fmt::format("{} must be {}, found \"{}\"", attribute.name,
                                                     quoted_list(words, " or "), written->text));
  }
  return static_cast<std::size_t>(found - words.begin());
}

Result<Written> SettingsText::read_string(const hcl::Attribute& attribute) const {
  auto text = hcl::static_string(attribute.value, path_, attribute.name, Code::config_parse);
  if (!text) {
    return fail(std::move(text).error());
  }
  return Written{std::move(*text), Location{path_, attribute.value.range}};
}

Result<std::vector<Written>> SettingsText::read_strings(const hcl::Attribute& attribute) const {
  const Result<hcl::Value> value = hcl::static_value(attribute.value, path_);
  if (!value) {
    return fail(value.error());
  }
  std::vector<Written> strings;
  const hcl::TupleValue* items = value->as_tuple();
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

Result<std::optional<Written>> SettingsText::read_argument(const hcl::Body& body, std::string_view name) const {
  const hcl::Attribute* attribute = body.find(name);
  if (attribute == nullptr) {
    return std::nullopt;
  }
  auto written = read_string(*attribute);
  if (!written) {
    return fail(std::move(written).error());
  }
  return std::move(*written);
}

}  // namespace modlock
