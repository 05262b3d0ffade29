#include "plugin/resolve/module_node.h"

#include <fmt/ranges.h>

#include "backends/address/git_reference.h"
#include "backends/address/source_remote.h"
#include "backends/backend.h"
#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "plugin/lock/locked_text.h"

namespace modlock {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Returns whether a name is a version with fewer than three numbers: "1", "v1", "v1.2".
bool is_partial_version(std::string_view name) {
  if (name.starts_with('v')) {
    name.remove_prefix(1);
  }
  const std::size_t dot = std::min(name.find('.'), name.size());
  return is_number(name.substr(0, dot)) && (dot == name.size() || is_number(name.substr(dot + 1)));
}

bool is_commit_id(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) && std::ranges::all_of(text, ascii::is_hex);
}

Error at(Code code, const SourceText& written, const ModuleNode& node, std::string message, Hint hint) {
  return placed(node.error(code, std::move(message), std::move(hint)), node.subject(), written.location);
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
  MODLOCK_TRY(check_constrainable(node, written));
  if (node.address.source.has_commits() && is_commit_id(written.text)) {
    node.commit = ascii::lower(written.text);
    return {};
  }
  auto constraint = ModuleConstraint::parse(written.text);
  if (!constraint) {
    return fail(placed(std::move(constraint.error()), node.subject(), written.location));
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

// Returns the nearest matching `source` rule that sets `member`.
template <typename Member>
const SourceText* from_source_rules(const Source& source, const Settings& settings, Member member) {
  const SourceRule* rule = find_where(settings.sources, [&](const SourceRule& each) {
    return each.*member && matches_glob(each.glob, source.identity());
  });
  return rule == nullptr ? nullptr : &*(rule->*member);
}

}  // namespace

bool is_below(std::string_view key, std::string_view ancestor) {
  return key == ancestor || (key.starts_with(ancestor) && key[ancestor.size()] == '.');
}

std::vector<std::string> lineage(const std::string& key) {
  std::vector<std::string> keys;
  for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1)) {
    keys.push_back(key.substr(0, dot));
  }
  keys.push_back(key);
  return keys;
}

std::optional<std::string> ModuleNode::constraints_text() const {
  if (commit) {
    return commit;
  }
  if (constraints.empty()) {
    return std::nullopt;
  }
  const auto texts = mapped(constraints, [](const ConstraintUse& use) { return use.constraint.text(); });
  return fmt::format("{}", fmt::join(texts, ", "));
}

Error ModuleNode::error(Code code, std::string message, Hint hint) const {
  return Error{.code = code,
               .message = std::move(message),
               .subject = subject(),
               .location = call.source.location,
               .hint = std::move(hint)};
}

std::string ModuleNode::subdir() const {
  const std::string& own = address.source.subdir;
  return package_subdir.empty() || own.empty() ? package_subdir + own : package_subdir + "/" + own;
}

bool ModuleNode::is_pinned_by_source() const {
  return std::ranges::any_of(address.source.query, [](const auto& argument) { return names_version(argument.first); });
}

bool chooses_version(const ModuleNode& node) {
  return !node.constraints.empty() || node.address.source.is_registry();
}

std::string tag_prefix_of(const ModuleNode& node) {
  const bool is_known = !node.tag_prefix.empty();
  return is_known ? node.tag_prefix : tag_prefix_of(node.address.source.named_tag()).value_or("");
}

std::string version_group(const ModuleNode& node, Resolution resolution) {
  const bool alone = node.address.source.is_registry() && resolution == Resolution::automatic;
  const bool shares = chooses_version(node) && !alone && resolution != Resolution::per_call;
  return shares ? node.address.source.package_identity() + "\n" + node.tag_prefix : "\n" + node.key;
}

bool may_move(const Source& source, const std::string& ref) {
  const SourceTraits& traits = source.traits();
  if (source.has_commits()) {
    return !ref.starts_with(kGitTags);
  }
  if (source.has_tags()) {
    return ref.empty() || ref == traits.default_reference;
  }
  return traits.content_id != ContentId::checksum && source.query_value(traits.tag_argument).empty();
}

bool is_expected_to_move(const Source& source, std::string_view ref) {
  const std::string_view name = ref.substr(ref.rfind('/') + 1);
  return may_move(source, std::string(ref)) || name == "latest" || is_partial_version(name);
}

namespace {

// References that unmodified clients reject, although tofu-modlock finds them.
void warn_about_reference(const ModuleNode& node, Diagnostics& warnings) {
  const Source& source = node.address.source;
  const std::string ref = source.has_commits() ? source.named_reference() : std::string();
  const auto warn = [&](std::string why, std::string hint) {
    warnings.push_back(
        {Severity::warning, at(Code::lock_unenforced, node.call.source, node,
                               fmt::format("module \"{}\" has ref={}: {}", node.key, ref, why), std::move(hint))});
  };
  if (ref.starts_with(kGitBranches)) {
    warn("unmodified clients find it only if it is the default branch",
         fmt::format("write ref={}", ref.substr(kGitBranches.size())));
  } else if (!ref.empty() && is_shallow(node.address) &&
             (!source.named_id().empty() || ref.find_first_of("~^@") != std::string::npos)) {
    warn("unmodified clients cannot clone a commit with depth", "remove depth from the source");
  }
}

void warn_about_version(const ModuleNode& node, Diagnostics& warnings) {
  const SourceText& version = *node.call.version;
  const std::string caller = node.key.substr(0, node.key.rfind('.'));
  warnings.push_back(as_warning(
      at(Code::lock_unenforced, version, node,
         fmt::format("module \"{}\" has a version argument on {} source, which unmodified OpenTofu rejects", node.key,
                     node.address.source.has_commits() ? "a git" : "an OCI"),
         node.address.is_users
             ? "run: " + tofu_modlock("install", "--overrides") +
                   fmt::format("; or write it into .tofu-modlock.hcl instead: module \"{}\" {{ version = \"{}\" }}",
                               node.key, version.text)
             : Hint("a call inside a package cannot be overridden: use a release of module." + caller +
                    " without this argument, or a copy of it"))));
}

}  // namespace

Result<void> apply_constraints(ModuleNode& node, const Settings& settings, Diagnostics& warnings) {
  warn_about_reference(node, warnings);
  const ModuleRule* rule = find_in(settings.modules, node.key);
  std::vector<const SourceText*> written;
  if (node.call.version) {
    written.push_back(&*node.call.version);
    if (node.address.source.has_tags()) {
      warn_about_version(node, warnings);
    }
  }
  if (rule != nullptr && rule->version) {
    written.push_back(&*rule->version);
  } else if (node.address.source.has_tags() && !node.is_pinned_by_source()) {
    if (const SourceText* version = from_source_rules(node.address.source, settings, &SourceRule::version)) {
      written.push_back(version);
    }
  }
  for (const SourceText* text : written) {
    MODLOCK_TRY(add_constraint(node, *text, warnings));
  }
  if (node.commit && !node.constraints.empty()) {
    return fail(at(Code::config_parse, *written.back(), node,
                   fmt::format("module \"{}\" is pinned to a commit and has another version constraint", node.key),
                   "keep one of the two"));
  }
  if (rule != nullptr && rule->tag_prefix) {
    MODLOCK_TRY(check_constrainable(node, *rule->tag_prefix));
  }
  node.tag_prefix = settings_tag_prefix(settings, node.key, node.address.source);
  return {};
}

std::string settings_tag_prefix(const Settings& settings, const std::string& key, const Source& source) {
  const ModuleRule* rule = find_in(settings.modules, key);
  const SourceText* prefix = rule != nullptr && rule->tag_prefix
                                 ? &*rule->tag_prefix
                                 : from_source_rules(source, settings, &SourceRule::tag_prefix);
  return prefix == nullptr ? "" : prefix->text;
}

const SourceText* replacement_of(const ModuleNode& node, const Settings& settings) {
  const ModuleRule* rule = find_in(settings.modules, node.key);
  return rule != nullptr && rule->replace ? &*rule->replace
                                          : from_source_rules(node.address.source, settings, &SourceRule::replace);
}

bool is_always_copied(const ModuleNode& node, const Settings& settings) {
  const ModuleRule* rule = find_in(settings.modules, node.key);
  return (rule != nullptr && rule->is_copied) || std::ranges::any_of(settings.sources, [&](const SourceRule& each) {
           return each.is_copied && matches_glob(each.glob, node.address.source.identity());
         });
}

std::string missing_hash(const ModuleLock& entry, const Source& source, const Backend* backend) {
  if (entry.hash_value("h1").empty()) {
    return "h1";
  }
  if (backend == nullptr || !backend->id_of(entry.hashes).empty()) {
    return "";
  }
  return std::string(source.traits().origin);
}

std::optional<std::string> why_not_answered(const ModuleNode& node, const ModuleLock& entry) {
  if (const std::string identity = node.address.source.identity(); entry.source != identity) {
    return fmt::format("it is locked from {}, and the configuration calls {}", entry.source, identity);
  }
  if (node.commit) {
    const std::string locked = entry.hash_value("git");
    return locked == *node.commit ? std::nullopt
                                  : std::optional(fmt::format("the configuration names commit {}, and {} is locked",
                                                              *node.commit, locked.empty() ? "none" : locked));
  }
  if (node.constraints.empty()) {
    return std::nullopt;
  }
  if (!entry.version) {
    return fmt::format("the constraint \"{}\" requires a version, but the locked commit has none",
                       *node.constraints_text());
  }
  const auto version = Version::parse(*entry.version);
  const bool allowed = version && std::ranges::all_of(node.constraints, [&](const ConstraintUse& use) {
                         return use.constraint.allows(*version);
                       });
  return allowed ? std::nullopt
                 : std::optional(fmt::format("the constraint \"{}\" excludes the locked version {}",
                                             *node.constraints_text(), *entry.version));
}

}  // namespace modlock
