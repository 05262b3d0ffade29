#include "plugin/resolve/locked_tags.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/git_reference.h"
#include "backends/address/source_text.h"
#include "plugin/lock/locked_text.h"

namespace modlock {
namespace {

// Returns the tags that an entry may have been locked from, with the package: a version is tagged with "v" or without
// it. None for a branch and a partial tag.
std::vector<std::string> tags_of(const ModuleLock& entry, const Settings& settings) {
  const auto source = parse_identity(entry.source);
  if (!source) {
    return {};
  }
  const std::string package = source->package_identity() + "\n";
  if (entry.version) {
    const std::string prefix = source->is_registry() ? "" : settings_tag_prefix(settings, entry.key, *source);
    return {package + prefix + *entry.version, package + prefix + "v" + *entry.version};
  }
  const std::string tag = source->named_id().empty() ? source->named_tag() : "";
  const bool moves = is_expected_to_move(*source, source->has_commits() ? std::string(kGitTags) + tag : tag);
  return tag.empty() || moves ? std::vector<std::string>() : std::vector{package + tag};
}

// An archive that was packed again is the same content.
bool have_other_content(const ModuleLock& a, const ModuleLock& b) {
  const std::string left = a.origin_hash();
  const std::string right = b.origin_hash();
  const bool is_repacked = left.starts_with("zh:") && a.hash_value("h1") == b.hash_value("h1");
  return !left.empty() && !right.empty() && left != right && !is_repacked;
}

}  // namespace

std::optional<Diagnostic> check_new_tag(const PlanRequest& request, const ModuleNode& node,
                                        const ResolvedModule& resolved, const ModuleLock& entry,
                                        const SourceFetcher& fetcher, const PlanFiles& files) {
  const Source& source = node.address.source;
  if (resolved.ref.empty() || resolved.id.empty() || (!resolved.version && is_expected_to_move(source, resolved.ref))) {
    return std::nullopt;
  }
  if (!resolved.version) {  // a listing is noted
    fetcher.note(source, resolved.ref, resolved.id);
  }
  const std::vector<std::string> tags = tags_of(entry, request.walk.settings);
  std::optional<ModuleLock> other;  // has another commit
  bool is_accepted = request.accepts_moved(node.subject());
  const auto look_at = [&](const ModuleLock& known) {
    const std::vector<std::string> its = tags_of(known, request.walk.settings);
    if (std::find_first_of(its.begin(), its.end(), tags.begin(), tags.end()) != its.end()) {
      other = have_other_content(known, entry) ? known : other;
      is_accepted = is_accepted || known.origin_hash() == entry.origin_hash();
    }
  };
  for (const auto& [key, known] : request.lock.modules) {
    look_at(known);
  }
  if (!other) {
    std::ranges::for_each(files.earlier_entries(), look_at);
  }
  const Backend& backend = *fetcher.backend(source);
  const std::string seen = fetcher.other_id(source, resolved.ref, resolved.id);
  if (!other && seen.empty()) {
    return std::nullopt;
  }
  const std::string tag = resolved.ref.starts_with(kGitTags) ? resolved.ref.substr(kGitTags.size()) : resolved.ref;
  const bool is_error = other && !is_accepted;
  const Hint accept = request.former_calls.empty() ? "run: " + tofu_modlock("upgrade", "--target", node.subject())
                                                   : Hint("add --accept-moved");
  return Diagnostic{is_error ? Severity::error : Severity::warning,
                    node.error(is_error ? Code::hash_mismatch : Code::tag_moved,
                               fmt::format("the tag \"{}\" of \"{}\" was moved: {} {}, and {} {} locked",
                                           escape_controls(tag), source.package_identity(),
                                           other ? "module." + other->key + " has" : "this cache has seen it point to",
                                           other ? other->origin_hash() : backend.id_hash(seen),
                                           backend.id_hash(resolved.id), is_error ? "would be" : "is"),
                               is_error ? "find out why it moved; to accept it, " + accept
                                        : "review the difference before you commit the lock file: " +
                                              tofu_modlock("diff", "--lock-rev", "HEAD"))};
}

Diagnostics warn_of_split_tags(const ModuleLocks& modules, const Settings& settings) {
  std::map<std::string, const ModuleLock*> first;  // by tag
  Diagnostics warnings;
  for (const auto& [key, entry] : modules) {
    for (const std::string& tag : tags_of(entry, settings)) {
      const ModuleLock& one = *first.emplace(tag, &entry).first->second;
      const bool may_be_branch = !entry.version && tag_prefix_of(tag.substr(tag.find('\n') + 1)) != "";
      if (!may_be_branch && have_other_content(one, entry)) {
        warnings.push_back(as_warning(
            {.code = Code::tag_moved,
             .message =
                 fmt::format("module.{} and module.{} have one tag of \"{}\" locked to different content: "
                             "{} and {}",
                             one.key, key, tag.substr(0, tag.find('\n')), one.origin_hash(), entry.origin_hash()),
             .subject = "module." + key,
             .hint = "find out which is right; to lock what the tag points to now in both, run: tofu-modlock "
                     "lock --accept-moved"}));
        break;
      }
    }
  }
  return warnings;
}

}  // namespace modlock
