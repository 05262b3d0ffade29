#include "plugin/config/module_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/hcl/characters.h"
#include "plugin/hcl/value.h"

namespace modlock {
namespace {

// What stands in the text, on one line and not too long, for a message.
std::string excerpt(const ConfigText& file, const Range& range) {
  constexpr std::size_t kLongest = 60;
  std::string text = file.text.substr(range.start.byte, range.end.byte - range.start.byte);
  const std::size_t end = std::min({text.find('\n'), text.find('\r'), kLongest});
  if (end >= text.size()) {
    return text;
  }
  std::size_t cut = end;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) {
    --cut;
  }
  return text.substr(0, cut) + "…";
}

Diagnostic not_written_out(const WrittenCall& call, std::string_view what, const ConfigText& file, Error error) {
  const Range range = error.location && error.location->range ? *error.location->range : Range{};
  error.message = fmt::format("the {} of {} must be a string that is written out, found the expression `{}`", what,
                              call.title, excerpt(file, range));
  error.hint = fmt::format("write the {} out, without references, functions and interpolations", what);
  error.location = Location{file.path, range};
  return {Severity::error, std::move(error)};
}

enum class Outcome { given, absent, broken };

// The string that an argument holds. `broken` is reported.
Outcome evaluate(const WrittenCall& call, std::string_view what, const Argument& argument, Written& written,
                 Diagnostics& diagnostics) {
  if (argument.attribute == nullptr) {
    return Outcome::absent;
  }
  const ConfigText& file = *argument.file;
  const Range& range = argument.attribute->value.range;
  Result<hcl::Value> value = hcl::static_value(argument.attribute->value, file.path);
  if (!value) {
    if (value.error().code == Code::config_non_static) {
      diagnostics.push_back(not_written_out(call, what, file, std::move(value).error()));
    } else {
      diagnostics.push_back({Severity::error, std::move(value).error()});
    }
    return Outcome::broken;
  }
  if (value->is_null()) {
    return Outcome::absent;
  }
  const std::string* text = value->as_string();
  if (text == nullptr) {
    diagnostics.push_back(config_error(
        file, range, fmt::format("the {} of {} must be a string, found {}", what, call.title, hcl::type_name(*value)),
        "put it in quotes"));
    return Outcome::broken;
  }
  written = {*text, Location{file.path, range}};
  return Outcome::given;
}

std::optional<ModuleCall> evaluate_call(const WrittenCall& call, Diagnostics& diagnostics) {
  ModuleCall result{.name = call.name,
                    .source = {},
                    .version = std::nullopt,
                    .location = {call.file->path, call.block->header_range},
                    .repeated = call.repeated};
  Written version;
  const Outcome version_outcome = evaluate(call, "version", call.version, version, diagnostics);
  if (version_outcome == Outcome::given) {
    result.version = std::move(version);
  }
  const Outcome source_outcome = evaluate(call, "source", call.source, result.source, diagnostics);
  if (source_outcome == Outcome::absent) {
    const bool is_null = call.source.attribute != nullptr;
    const ConfigText& file = is_null ? *call.source.file : *call.file;
    const Range& range = is_null ? call.source.attribute->value.range : call.block->header_range;
    diagnostics.push_back(config_error(file, range,
                                       is_null
                                           ? fmt::format("the source of {} must be a string, found null", call.title)
                                           : fmt::format("{} lacks the argument \"source\"", call.title),
                                       "say where the module comes from, for example source = \"./modules/network\""));
  }
  if (source_outcome != Outcome::given || version_outcome == Outcome::broken) {
    return std::nullopt;
  }
  return result;
}

}  // namespace

void merge_arguments(WrittenCall& call, const hcl::Block& block, const ConfigText& file) {
  if (const hcl::Attribute* source = block.body.find("source")) {
    call.source = {source, &file};
  }
  if (const hcl::Attribute* version = block.body.find("version")) {
    call.version = {version, &file};
  }
  call.repeated = call.repeated || block.body.find("count") != nullptr || block.body.find("for_each") != nullptr;
}

void evaluate_calls(const std::vector<WrittenCall>& calls, ModuleConfig& config) {
  for (const WrittenCall& call : calls) {
    if (auto result = evaluate_call(call, config.diagnostics)) {
      config.calls.push_back(std::move(*result));
    }
  }
  std::sort(config.calls.begin(), config.calls.end(),
            [](const ModuleCall& left, const ModuleCall& right) { return left.name < right.name; });
}

Diagnostic config_error(const ConfigText& file, const Range& range, std::string message, std::string hint) {
  return {Severity::error, Error{.code = Code::config_parse,
                                 .message = std::move(message),
                                 .location = Location{file.path, range},
                                 .hint = std::move(hint)}};
}

bool is_identifier(std::string_view text) {
  return !text.empty() && hcl::identifier_size(text, 0) == text.size();
}

}  // namespace modlock
