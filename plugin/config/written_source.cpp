#include <algorithm>
#include <array>

#include "backends/address/source_text.h"
#include "plugin/config/module_call.h"
#include "plugin/eval/constant_value.h"
#include "plugin/hcl/value.h"

namespace modlock {
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
  constexpr std::array<std::string_view, 7> kPlain = {"ref", "rev", "tag", "digest", "archive", "checksum", "depth"};
  const std::string_view argument = rest.substr(0, rest.find_first_of("&\" \n"));
  const std::string_view name = argument.substr(0, argument.find('='));
  if (name == "checksum" && !is_plain_checksum(argument.substr(std::min(name.size() + 1, argument.size())))) {
    return false;
  }
  return name.empty() ? !rest.starts_with('=') : std::find(kPlain.begin(), kPlain.end(), name) != kPlain.end();
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
