#include "plugin/settings/setting_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "backends/base/ascii.h"
#include "backends/base/build_info.h"
#include "backends/base/text.h"
#include "plugin/constraint/module_constraint.h"
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
    : path_(std::move(path)), parsed_(hcl::parse_native(text, path_)) {
  hcl::name_conflict_markers(parsed_, text);
}

tl::unexpected<Error> SettingsText::reject(const Range& range, std::string message, Hint hint) const {
  return fail(Error{.code = Code::config_parse,
                    .message = std::move(message),
                    .location = Location{path_, range},
                    .hint = std::move(hint)});
}

tl::unexpected<Error> SettingsText::unknown(std::string_view what, std::string_view name, const Range& range,
                                            const Words& known) const {
  std::string hint = did_you_mean(name, known);
  return reject(range, fmt::format("unknown {} {} in {}", what, hcl::quoted_for_message(name), at(range)),
                hint.empty() ? fmt::format("use one of {}", quoted_list(known, ", ")) : std::move(hint));
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
    return reject(inner.header_range, fmt::format("{} \"{}\" must not contain blocks, found \"{}\"", block.type,
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

Result<bool> SettingsText::read_flag(const hcl::Attribute& attribute) const {
  MODLOCK_TRY(const hcl::Value value, hcl::static_value(attribute.value, path_));
  const bool* flag = std::get_if<bool>(&value.data);
  return flag != nullptr ? Result<bool>(*flag)
                         : reject(attribute.value.range, fmt::format("{} must be true or false, found {}",
                                                                     attribute.name, hcl::type_name(value)));
}

Result<bool> SettingsText::forbids_links(const hcl::Body& body) const {
  const hcl::Attribute* attribute = body.find("link");
  if (attribute == nullptr) {
    return false;
  }
  MODLOCK_TRY(const hcl::Value value, hcl::static_value(attribute->value, path_));
  if (const bool* link = std::get_if<bool>(&value.data); link == nullptr || *link) {
    return reject(attribute->value.range,
                  fmt::format("link must be false, found {}", link != nullptr ? "true" : hcl::type_name(value)),
                  "remove it; to link packages, set install = \"link\" in your own configuration");
  }
  return true;
}

Result<std::optional<SourceText>> SettingsText::read_argument(const hcl::Body& body, std::string_view name) const {
  const hcl::Attribute* attribute = body.find(name);
  if (attribute == nullptr) {
    return std::nullopt;
  }
  MODLOCK_TRY(auto written, read_string(*attribute));
  return written;
}

SettingsReader::SettingsReader(std::string_view text, std::string path, SettingsPlace place, Settings& settings)
    : SettingsText(text, std::move(path)), place_(place), settings_(settings) {}

Result<void> SettingsReader::read() {
  for (const Diagnostic& diagnostic : diagnostics()) {
    if (diagnostic.severity == Severity::error) {
      return fail(diagnostic.what);
    }
  }
  MODLOCK_TRY(check_release());
  if (place_ != SettingsPlace::user) {
    MODLOCK_TRY(deny_programs(body()));
  }
  for (const hcl::Attribute& attribute : body().attributes) {
    MODLOCK_TRY(read_setting(attribute));
  }
  for (const hcl::Block& block : body().blocks) {
    MODLOCK_TRY(read_block(block));
  }
  return {};
}

Result<void> SettingsReader::check_release() const {
  MODLOCK_TRY(const auto required, read_argument(body(), "required_version"));
  if (!required) {
    return {};
  }
  const SourceText& written = *required;
  const Result<ModuleConstraint> constraint = ModuleConstraint::parse(written.text);
  if (!constraint) {
    return reject(*written.location.range,
                  fmt::format("required_version must be a version constraint, found \"{}\"", written.text),
                  "write it as \">= 0.1.0\"");
  }
  const Result<Version> version = Version::parse(kVersion);
  if (version && !constraint->allows(*version)) {
    return fail(Error{.code = Code::lock_newer,
                      .message = fmt::format("{} requires tofu-modlock \"{}\", this is {}", at(*written.location.range),
                                             constraint->text(), kVersion),
                      .location = written.location,
                      .hint = fmt::format("install a release of tofu-modlock that \"{}\" allows", constraint->text())});
  }
  return {};
}

Result<void> SettingsReader::deny_programs(const hcl::Body& body) const {
  const auto deny = [this](std::string_view what, const Range& range) {
    return fail(Error{
        .code = Code::source_denied,
        .message =
            fmt::format("{} starts a program, which a file in a repository must not do: found in {}", what, at(range)),
        .location = Location{path(), range},
        .hint = "move it to your own configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl"});
  };
  if (const hcl::Attribute* command = body.find("command")) {
    return deny("the setting \"command\"", command->name_range);
  }
  for (const hcl::Block& block : body.blocks) {
    if (block.type == "backend") {
      return deny("a backend block", block.header_range);
    }
    MODLOCK_TRY(deny_programs(block.body));
  }
  return {};
}

Result<void> SettingsReader::read_setting(const hcl::Attribute& attribute) {
  const std::string_view name = attribute.name;
  if (name == "remote_write" && place_ == SettingsPlace::user) {
    MODLOCK_TRY(const bool is_on, read_flag(attribute));
    settings_.ignored.push_back(
        fmt::format("{} in {} is ignored{}", name, at(attribute.name_range), is_on ? kPushInstead : ": remove it"));
    return {};
  }
  const bool is_local = place_ == SettingsPlace::local;
  const SettingInfo* setting = is_local ? nullptr : find_setting(name);
  if (setting == nullptr) {
    return unknown("setting", name, attribute.name_range, is_local ? Words{"module"} : setting_names(""));
  }
  if (setting->file == SettingInfo::File::user && place_ != SettingsPlace::user) {
    return reject(attribute.name_range,
                  fmt::format("{} is a setting of one machine, found in a file of a repository", name),
                  "move it to your own configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl");
  }
  const auto read = setting->access.read;  // none of required_version, which was checked
  return read == nullptr ? Result<void>() : read(*setting, *this, attribute, settings_);
}

Result<void> SettingsReader::read_block(const hcl::Block& block) {
  const auto twice = std::find_if(read_blocks_.begin(), read_blocks_.end(), [&](const hcl::Block* other) {
    return other->type == block.type && !other->labels.empty() && !block.labels.empty() &&
           other->labels.front().text == block.labels.front().text;
  });
  // Several rules may deny releases of one source, each with its reason.
  if (twice != read_blocks_.end() && block.type != "deny") {
    auto error = reject(
        block.header_range,
        fmt::format("{} \"{}\" is written twice in {}", block.type, block.labels.front().text, path()),
        block.type == "backend" ? "one program serves all hosts of a kind: remove a block" : "merge the two blocks");
    error.value().related.push_back({"the first block is here", {path(), (*twice)->header_range}});
    return error;
  }
  read_blocks_.push_back(&block);
  static const std::map<std::string_view, Result<void> (SettingsReader::*)(const hcl::Block&)> kReaders = {
      {"module", &SettingsReader::read_module},
      {"source", &SettingsReader::read_source},
      {"provider", &SettingsReader::read_provider},
      {"deny", &SettingsReader::read_deny},
      {"backend", &SettingsReader::read_backend}};
  const bool is_known = place_ != SettingsPlace::local || block.type == "module";
  if (const auto reader = kReaders.find(block.type); reader != kReaders.end() && is_known) {
    return (this->*reader->second)(block);
  }
  return unknown("block", block.type, block.header_range,
                 place_ == SettingsPlace::local  ? Words{"module"}
                 : place_ == SettingsPlace::user ? Words{"source", "provider", "deny", "backend"}
                                                 : Words{"module", "source", "provider", "deny"});
}

Result<void> SettingsReader::read_module(const hcl::Block& block) {
  if (place_ == SettingsPlace::user) {
    return reject(
        block.header_range,
        fmt::format("a module block belongs in a {} of the repository, found one in {}", kSettingsFileName,
                    at(block.header_range)),
        fmt::format("move it to the {} of the root that makes the call, or use a source block", kSettingsFileName));
  }
  const bool is_local = place_ == SettingsPlace::local;
  MODLOCK_TRY(check_block(block, "the key of a call", is_local ? Words{"replace"} : setting_names(block.type)));
  MODLOCK_TRY(auto version, read_argument(block.body, "version"));
  MODLOCK_TRY(auto tag_prefix, read_argument(block.body, "tag_prefix"));
  MODLOCK_TRY(const bool is_copied, forbids_links(block.body));
  MODLOCK_TRY(auto replacement, read_replacement(block));
  settings_.modules.emplace(
      block.labels.front().text,
      ModuleRule{std::move(version), std::move(tag_prefix), std::move(replacement),
                 Location{path(), block.header_range}, place_ == SettingsPlace::repository, is_copied});
  return {};
}

Result<void> SettingsReader::read_source(const hcl::Block& block) {
  MODLOCK_TRY(check_block(block, "a glob", setting_names(block.type)));
  MODLOCK_TRY(auto version, read_argument(block.body, "version"));
  MODLOCK_TRY(auto tag_prefix, read_argument(block.body, "tag_prefix"));
  MODLOCK_TRY(auto age, read_age(block.body));
  MODLOCK_TRY(const bool is_copied, forbids_links(block.body));
  MODLOCK_TRY(auto signature, read_signature(block));
  MODLOCK_TRY(auto replacement, read_replacement(block));
  settings_.sources.push_back({block.labels.front().text, std::move(version), std::move(tag_prefix), std::move(age),
                               std::move(signature), std::move(replacement), Location{path(), block.header_range},
                               place_ == SettingsPlace::user, is_copied});
  return {};
}

Result<std::optional<SourceText>> SettingsReader::read_replacement(const hcl::Block& block) const {
  MODLOCK_TRY(auto directory, read_argument(block.body, "replace"));
  if (directory && place_ != SettingsPlace::user && place_ != SettingsPlace::local) {
    return reject(*directory->location.range, "replace is a setting of one machine, found in a file of a repository",
                  fmt::format("write module \"KEY\" {{ replace = \"…\" }} into {}, which git must not track",
                              kLocalSettingsFileName));
  }
  return directory;
}

Result<std::optional<SourceText>> SettingsReader::read_age(const hcl::Body& body) const {
  MODLOCK_TRY(auto age, read_argument(body, "minimum_release_age"));
  if (age && !parse_duration(age->text)) {
    return reject(*age->location.range, fmt::format("minimum_release_age must be a duration, found \"{}\"", age->text),
                  "write it in days, hours, minutes and seconds: \"3d\", \"72h\" or \"1h30m\"");
  }
  return age;
}

Result<SourcePattern> SettingsReader::read_pattern(const hcl::Block& block) const {
  MODLOCK_TRY(check_block(block, "a glob of sources", setting_names(block.type)));
  auto pattern = SourcePattern::parse(block.labels.front().text);
  return pattern ? std::move(pattern)
                 : reject(block.header_range, std::move(pattern.error().message), std::move(pattern.error().hint));
}

Result<void> SettingsReader::read_provider(const hcl::Block& block) {
  MODLOCK_TRY(auto pattern, read_pattern(block));
  MODLOCK_TRY(auto age, read_age(block.body));
  settings_.providers.push_back({std::move(pattern), std::move(age), place_ == SettingsPlace::user});
  return {};
}

Result<std::optional<SignatureRule>> SettingsReader::read_signature(const hcl::Block& block) const {
  MODLOCK_TRY(auto ssh, read_argument(block.body, "signed_by_ssh"));
  MODLOCK_TRY(auto openpgp, read_argument(block.body, "signed_by_openpgp"));
  const hcl::Attribute* object = block.body.find("signed_object");
  SignatureRule rule{.is_openpgp = openpgp.has_value(), .of_commit = false, .file = {}, .path = {}};
  if (object != nullptr) {
    MODLOCK_TRY(const auto choice, read_choice(*object, {"tag", "commit"}));
    rule.of_commit = choice == 1;
  }
  if (ssh && openpgp) {
    return reject(*openpgp->location.range, "signed_by_ssh and signed_by_openpgp exclude each other",
                  "keep the one that your module authors sign with");
  }
  if (!ssh && !openpgp) {
    return object == nullptr ? Result<std::optional<SignatureRule>>(std::nullopt)
                             : reject(object->name_range, "signed_object needs signed_by_ssh or signed_by_openpgp",
                                      "add the file of the keys that may sign");
  }
  rule.file = std::move(ssh ? *ssh : *openpgp);
  return rule;
}

Result<void> SettingsReader::read_deny(const hcl::Block& block) {
  MODLOCK_TRY(auto source, read_pattern(block));
  DenyRule rule{.releases = {.source = std::move(source)}, .reason = {}, .location = {path(), block.header_range}};
  MODLOCK_TRY(const auto versions, read_argument(block.body, "versions"));
  MODLOCK_TRY(const auto reason, read_argument(block.body, "reason"));
  rule.reason = reason ? reason->text : "";
  if (versions) {
    auto parsed = ReleaseVersions::parse(versions->text);
    if (!parsed) {
      return reject(*versions->location.range, std::move(parsed.error().message),
                    "write it as a version constraint: \"= 2.1.0\" or \">= 2.1.0, < 2.1.3\"");
    }
    rule.releases.versions = std::move(*parsed);
  }
  for (const auto& [name, is_valid, example] :
       {std::tuple{"commits", &is_commit_prefix, "\"8f2c0d0b6c1f\", at least 7 digits"},
        std::tuple{"digests", &is_content_digest, "\"sha256:\" and 64 digits, or a hash of a lock file"}}) {
    const hcl::Attribute* attribute = block.body.find(name);
    if (attribute == nullptr) {
      continue;
    }
    MODLOCK_TRY(const auto ids, read_strings(*attribute));
    for (const SourceText& id : ids) {
      if (!is_valid(id.text)) {
        return reject(*id.location.range, fmt::format("{} must not contain \"{}\"", name, id.text),
                      fmt::format("write it as {}", example));
      }
      rule.releases.ids.push_back(id.text.starts_with("h1:") ? id.text : ascii::lower(id.text));
    }
  }
  if (!rule.releases.versions && rule.releases.ids.empty()) {
    return reject(block.header_range, fmt::format("deny \"{}\" names no releases", block.labels.front().text),
                  "add versions, commits or digests; to deny the whole source, use deny_sources");
  }
  settings_.deny_rules.push_back(std::move(rule));
  return {};
}

Result<void> SettingsReader::read_backend(const hcl::Block& block) {
  MODLOCK_TRY(check_block(block, "a scheme", setting_names(block.type)));
  const hcl::Attribute* attribute = block.body.find("command");
  if (attribute == nullptr) {
    return reject(block.header_range,
                  fmt::format("backend \"{}\" lacks the argument \"command\"", block.labels[0].text),
                  "write it as command = [\"program\", \"argument\"]");
  }
  MODLOCK_TRY(const auto command, read_strings(*attribute));
  if (command.empty() || command.front().text.empty()) {
    return reject(attribute->value.range, "command must name a program, found none",
                  "write it as command = [\"program\", \"argument\"]");
  }
  BackendSetting backend{
      .scheme = block.labels[0].text, .command = {}, .hosts = {}, .location = {path(), block.header_range}};
  std::ranges::transform(command, std::back_inserter(backend.command), &SourceText::text);
  if (const hcl::Attribute* named = block.body.find("hosts")) {
    MODLOCK_TRY(const auto hosts, read_strings(*named));
    std::ranges::transform(hosts, std::back_inserter(backend.hosts), &SourceText::text);
  }
  settings_.backends.push_back(std::move(backend));
  return {};
}

}  // namespace modlock
