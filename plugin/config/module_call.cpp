#include "plugin/config/module_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "plugin/config/module_scope.h"
#include "plugin/config/parsed_module.h"
#include "plugin/eval/dependencies.h"
#include "plugin/eval/evaluate.h"
#include "plugin/hcl/characters.h"
#include "plugin/hcl/value.h"
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

namespace {

constexpr std::size_t kLongestWord = 100;

bool is_of_word(char c) {
  return ascii::is_alnum(c) || c == '_' || c == '-' || !ascii::is_ascii(c);
}

bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

void cut_long_words(std::string& text) {
  if (text.size() <= kLongestWord) {
    return;
  }
  std::string cut;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    std::size_t characters = 0;
    std::size_t keep = 0;
    for (; end < text.size() && is_of_word(text[end]); ++end) {
      if (starts_character(text[end]) && characters++ == kLongestWord) {
        keep = end;
      }
    }
    cut += text.substr(at, (keep == 0 ? end : keep) - at);
    cut += keep == 0 ? "" : "…";
    at = end;
    if (at < text.size()) {
      cut += text[at++];
    }
  }
  text = std::move(cut);
}

}  // namespace

void limit_diagnostics(Diagnostics& diagnostics, std::size_t from) {
  if (diagnostics.size() > from + kMostDiagnostics) {
    const std::size_t left_out = diagnostics.size() - from - kMostDiagnostics;
    const auto first = diagnostics.begin() + static_cast<std::ptrdiff_t>(from + kMostDiagnostics);
    const bool is_error =
        std::any_of(first, diagnostics.end(), [](const Diagnostic& one) { return one.severity == Severity::error; });
    Diagnostic rest{is_error ? Severity::error : Severity::warning,
                    Error{.code = Code::config_parse,
                          .message = fmt::format("{} more problems of this module are not shown", left_out),
                          .location = first->what.location,
                          .hint = "fix the problems shown, then run the command again"}};
    diagnostics.erase(first, diagnostics.end());
    diagnostics.push_back(std::move(rest));
  }
  for (Diagnostic& diagnostic : diagnostics) {
    cut_long_words(diagnostic.what.message);
    for (Related& related : diagnostic.what.related) {
      cut_long_words(related.message);
    }
  }
}

bool is_reported_already(const Error& error) {
  return error.message.empty();
}

namespace {

constexpr std::size_t kLongest = 1000;

bool is_argument(const Argument& argument) {
  if (argument.attribute == nullptr || hcl::static_value(argument.attribute->value, argument.file->path)) {
    return true;
  }
  return !argument.file->json && eval::constant_value(argument.attribute->value, false, argument.file->path);
}

// "git@host" after a quote, a getter, a scheme or a blank.
bool is_git_user(std::string_view text, std::size_t at) {
  constexpr std::string_view kGit = "git";
  return at > kGit.size() && text.substr(at - kGit.size(), kGit.size()) == kGit &&
         std::string_view("\"/: ").find(text[at - kGit.size() - 1]) != std::string_view::npos;
}

// Before a blank a "?" is the operator.
bool is_plain_argument(std::string_view rest) {
  const std::string_view argument = rest.substr(0, rest.find_first_of("&\" \n"));
  const bool has_name = !argument.empty() && argument.front() != '=';
  return has_name ? is_public_argument(argument) : argument.empty();
}

bool may_be_shown(std::string_view text) {
  // An escape may represent any character.
  if (text.size() > kLongest || text.find('#') != std::string_view::npos ||
      text.find("\\u") != std::string_view::npos || text.find("\\U") != std::string_view::npos) {
    return false;
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool may_hide = (text[at] == '@' && !is_git_user(text, at)) ||
                          ((text[at] == '?' || text[at] == '&') && !is_plain_argument(text.substr(at + 1)));
    if (may_hide) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool is_written_out(const ModuleCallSyntax& call) {
  return is_argument(call.find("source")) && is_argument(call.find("version"));
}

std::optional<std::string> written_source(const ModuleCallSyntax& call) {
  const Argument source = call.find("source");
  if (source.attribute == nullptr) {
    return std::nullopt;
  }
  const Range& range = source.attribute->value.range;
  const std::string_view text(source.file->text);
  const std::string_view written = text.substr(range.start.byte, range.end.byte - range.start.byte);
  return may_be_shown(written) ? std::optional<std::string>(written) : std::nullopt;
}

}  // namespace modlock
