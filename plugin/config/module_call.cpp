#include "plugin/config/module_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plugin/config/diagnostic_limit.h"
#include "plugin/config/module_scope.h"
#include "plugin/config/parsed_module.h"
#include "plugin/eval/constant_value.h"
#include "plugin/eval/dependencies.h"
#include "plugin/hcl/characters.h"
#include "plugin/value/convert.h"

namespace modlock {
namespace {

// Arguments for the call itself; a `_` block cannot contain them.
bool is_meta_argument(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {"source",   "version",    "count",
                                                      "for_each", "depends_on", "providers"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

class CallEvaluator {
 public:
  CallEvaluator(const ModuleCallSyntax& call, ModuleScope& scope, Diagnostics& diagnostics)
      : call_(call), scope_(scope), diagnostics_(diagnostics) {}

  std::optional<ModuleCall> evaluate() {
    ModuleCall result{.name = call_.name,
                      .source = {},
                      .version = std::nullopt,
                      .location = place(*call_.file, call_.block->header_range),
                      .written = &call_};
    const bool version_is_fine = take("version", result.version);
    std::optional<SourceText> source;
    const bool source_is_fine = take("source", source);
    if (source_is_fine && !source) {
      report_no_source(call_.find("source"));
    }
    if (!version_is_fine || !source) {
      return std::nullopt;
    }
    result.source = std::move(*source);
    result.is_static = is_written_out(call_);
    return result;
  }

 private:
  Location place(const ConfigText& file, const Range& range) const {
    return {join_relative(scope_.module_path(), file.path), range};
  }

  // False: an error was reported. An absent or null argument leaves `out` empty.
  bool take(std::string_view name, std::optional<SourceText>& out) {
    const Argument argument = call_.find(name);
    if (argument.attribute == nullptr) {
      return true;
    }
    auto value = call_.literal_only ? eval::constant_value(argument.attribute->value, argument.file->json,
                                                           join_relative(scope_.module_path(), argument.file->path))
                                    : scope_.evaluate_argument(argument, fmt::format("module.{}.{}", call_.name, name));
    if (value) {
      value = as_text(name, argument, *value);
    }
    if (!value) {
      if (!is_reported_already(value.error())) {
        diagnostics_.push_back({Severity::error, std::move(value.error())});
      }
      return false;
    }
    if (!value->is_null()) {
      out = SourceText{value->as_string(), place(*argument.file, argument.attribute->value.range)};
    }
    return true;
  }

  Result<eval::Value> as_text(std::string_view name, const Argument& argument, const eval::Value& value) const {
    const auto reject = [&](Code code, std::string message, std::string hint) {
      return fail(Error{.code = code,
                        .message = std::move(message),
                        .location = place(*argument.file, argument.attribute->value.range),
                        .hint = std::move(hint)});
    };
    if (value.marks().any()) {
      const std::string_view mark = value.marks().sensitive ? "sensitive" : "ephemeral";
      return reject(Code::config_non_static,
                    fmt::format("the {} of {} must not be derived from {} values", name, call_.title, mark),
                    fmt::format("remove {} from the variable, or use another one", mark));
    }
    auto text = eval::convert(value, eval::Type::string());
    if (!text) {
      return reject(
          Code::config_parse,
          fmt::format("the {} of {} must be a string, found {}", name, call_.title, value.type().friendly_name()),
          "put it in quotes");
    }
    return std::move(*text);
  }

  void report_no_source(const Argument& source) {
    const bool is_null = source.attribute != nullptr;
    if (!is_null && has_errors(call_.file->parsed.diagnostics)) {
      return;  // it may be in the unreadable part of the file
    }
    const ConfigText& file = is_null ? *source.file : *call_.file;
    const Range& range = is_null ? source.attribute->value.range : call_.block->header_range;
    diagnostics_.push_back(config_error(file, range,
                                        is_null
                                            ? fmt::format("the source of {} must be a string, found null", call_.title)
                                            : fmt::format("{} lacks the argument \"source\"", call_.title),
                                        "add the source of the module, for example source = \"./modules/network\""));
    diagnostics_.back().what.location = place(file, range);
  }

  const ModuleCallSyntax& call_;
  ModuleScope& scope_;
  Diagnostics& diagnostics_;
};

}  // namespace

Argument ModuleCallSyntax::find(std::string_view argument) const {
  const auto found = arguments.find(argument);
  return found == arguments.end() ? Argument{} : found->second;
}

void merge_arguments(ModuleCallSyntax& call, const hcl::Block& block, const ConfigText& file) {
  for (const hcl::Attribute& attribute : block.body.attributes) {
    call.arguments[attribute.name] = {&attribute, &file};
  }
  for (const hcl::Block& escape : block.body.blocks) {
    for (const hcl::Attribute& attribute : escape.body.attributes) {
      if (escape.type == "_" && !is_meta_argument(attribute.name)) {
        call.arguments.try_emplace(attribute.name, Argument{&attribute, &file});
      }
    }
  }
}

EvaluatedCalls evaluate_calls(const ParsedModule& module, ModuleScope& scope, const Context& context) {
  EvaluatedCalls result;
  for (const ModuleCallSyntax& call : module.calls) {
    if (!context.check()) {
      break;
    }
    if (auto evaluated = CallEvaluator(call, scope, result.diagnostics).evaluate()) {
      result.calls.push_back(std::move(*evaluated));
    } else {
      result.unresolved.push_back(&call);
    }
  }
  limit_diagnostics(result.diagnostics);
  return result;
}

std::vector<std::string> called_functions(const ModuleCallSyntax& call) {
  std::vector<std::string> names;
  for (const Argument& argument : {call.find("source"), call.find("version")}) {
    const auto needs = argument.attribute != nullptr && !call.literal_only
                           ? eval::collect_dependencies(argument.attribute->value, argument.file->path)
                           : Result<eval::Dependencies>();
    for (const std::string_view name : needs ? needs->functions : std::vector<std::string_view>()) {
      names.emplace_back(name.substr(name.starts_with("core::") ? 6 : 0));
    }
  }
  return names;
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
