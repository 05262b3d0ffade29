#include "plugin/resolve/call_constraints.h"

#include <fmt/format.h>

#include <algorithm>

namespace modlock {
namespace {

bool is_commit_id(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Error at(Code code, const SourceText& written, const ModuleNode& node, std::string message, std::string hint) {
  return Error{.code = code,
               .message = std::move(message),
               .subject = node.subject(),
               .location = written.location,
               .hint = std::move(hint)};
}

Result<void> check_constrainable(const ModuleNode& node, const SourceText& written) {
  if (node.address.source.traits().versions == SourceVersions::none) {
    return fail(
        at(Code::config_parse, written, node,
           fmt::format("module \"{}\" is given a version or a tag prefix, but its source \"{}\" has no versions",
                       node.key, node.address.source.identity()),
           "remove it, or call the module from a git repository or a registry"));
  }
  if (node.is_pinned_by_source()) {
    return fail(
        at(Code::config_parse, written, node,
           fmt::format("module \"{}\" is given a version or a tag prefix, but its source is pinned already: \"{}\"",
                       node.key, node.address.source.identity()),
           "remove it, or the ref, tag or digest from the source"));
  }
  return {};
}

Result<void> add_constraint(ModuleNode& node, const SourceText& written, Diagnostics& warnings) {
  if (auto ok = check_constrainable(node, written); !ok) {
    return ok;
  }
  if (node.address.source.has_commits() && is_commit_id(written.text)) {
    node.commit = written.text;
    return {};
  }
  auto constraint = ModuleConstraint::parse(written.text);
  if (!constraint) {
    Error error = std::move(constraint.error());
    error.subject = node.subject();
    error.location = written.location;
    return fail(std::move(error));
  }
  if (constraint->is_unbounded_pessimistic()) {
    warnings.push_back({Severity::warning,
                        at(Code::constraint_unbounded, written, node,
                           fmt::format("\"{}\" on module \"{}\" has no upper bound: for modules it admits every later "
                                       "major version",
                                       constraint->text(), node.key),
                           "write two numbers to stay below the next major version, for example \"~> 2.0\"")});
  }
  node.constraints.push_back({std::move(*constraint), node.key, written.location});
  return {};
}

// The nearest `source` rule of ours that fits and that says something about `member`.
template <typename Member>
const SourceText* from_source_rules(const ModuleNode& node, const Settings& settings, Member member) {
  for (const SourceRule& rule : settings.sources) {
    if (rule.*member && matches_glob(rule.glob, node.address.source.identity())) {
      return &*(rule.*member);
    }
  }
  return nullptr;
}

}  // namespace

Result<void> apply_constraints(ModuleNode& node, const Settings& settings, Diagnostics& warnings) {
  const auto rule = settings.modules.find(node.key);
  std::vector<const SourceText*> written;
  if (node.call.version) {
    written.push_back(&*node.call.version);
    if (node.address.source.has_tags()) {
      warnings.push_back(
          {Severity::warning,
           at(Code::lock_unenforced, *node.call.version, node,
              fmt::format("module \"{}\" has a version argument on a {} source, which a stock tofu refuses", node.key,
                          to_string(node.address.source.kind)),
              fmt::format("run: tofu-modlock install --overrides; or write it into .tofu-modlock.hcl instead: module "
                          "\"{}\" {{ version = \"{}\" }}",
                          node.key, node.call.version->text))});
    }
  }
  if (rule != settings.modules.end() && rule->second.version) {
    written.push_back(&*rule->second.version);
  } else if (node.address.source.has_tags() && !node.is_pinned_by_source()) {
    if (const SourceText* version = from_source_rules(node, settings, &SourceRule::version)) {
      written.push_back(version);
    }
  }
  for (const SourceText* text : written) {
    if (auto ok = add_constraint(node, *text, warnings); !ok) {
      return ok;
    }
  }
  if (node.commit && !node.constraints.empty()) {
    return fail(
        at(Code::config_parse, *written.back(), node,
           fmt::format("module \"{}\" is pinned to a commit and has another version constraint beside it", node.key),
           "keep one of the two"));
  }
  if (rule != settings.modules.end() && rule->second.tag_prefix) {
    if (auto ok = check_constrainable(node, *rule->second.tag_prefix); !ok) {
      return ok;
    }
    node.tag_prefix = rule->second.tag_prefix->text;
  } else if (const SourceText* prefix = from_source_rules(node, settings, &SourceRule::tag_prefix)) {
    node.tag_prefix = prefix->text;
  }
  return {};
}

}  // namespace modlock
