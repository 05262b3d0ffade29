#include "plugin/update/lookup.h"

#include <algorithm>
#include <set>

#include "backends/address/git_reference.h"
#include "backends/base/collections.h"
#include "backends/base/parallel.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/module_node.h"
#include "plugin/resolve/provider_selection.h"
#include "plugin/resolve/provider_tree.h"
#include "plugin/resolve/release_age.h"
#include "plugin/resolve/selection.h"
#include "plugin/resolve/subject.h"
#include "plugin/update/text_change.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using messages::AvailableUpdate;
using Dependency = messages::LookedUpDependency;

constexpr std::size_t kWidth = 32;  // providers processed in parallel

// Returns the call in whose package a call is; null: it is in the root module or a local one.
const ModuleNode* package_of(const ModuleTree& tree, const std::string& key) {
  const ModuleNode* package = nullptr;
  for (const std::string& caller : lineage(key)) {
    const ModuleNode* found = find_in(tree.nodes, caller);
    package = caller != key && found != nullptr && !found->is_local() ? found : package;
  }
  return package;
}

std::string datasource_of(const Source& source) {
  return source.is_registry()             ? "terraform-module"
         : source.kind == SourceKind::git ? "git-tags"
         : source.kind == SourceKind::oci ? "docker"
                                          : "";
}

class Modules {
 public:
  Modules(const LookupRequest& request, SourceFetcher& fetcher) : request_(request), fetcher_(fetcher) {}

  void add(const ModuleNode& node) {
    const Location& location = node.call.version ? node.call.version->location : node.call.source.location;
    Dependency dependency{.subject = node.subject(),
                          .dep_type = "module",
                          .dep_name = node.address.source.package_identity(),
                          .datasource = datasource_of(node.address.source),
                          .package_file = location.path,
                          .range = location.range,
                          .ref = node.address.source.named_reference()};
    if (const ModuleLock* lock = find_in(request_.modules, node.key)) {
      dependency.locked_version = lock->version.value_or("");
      dependency.origin = lock->source == node.address.source.identity() ? lock->origin_hash() : "";
    }
    if (node.is_local()) {
      dependency.skip_reason = "local";
    } else if (node.address.source.traits().versions == SourceVersions::none ||
               fetcher_.backend(node.address.source) == nullptr) {
      dependency.skip_reason = "unsupported-datasource";
    } else {
      asked_.push_back({&node, dependencies_.size()});
    }
    dependencies_.push_back(std::move(dependency));
  }

  void look_up(Diagnostics& diagnostics) {
    std::vector<SourceFetcher::ListingRequest> requests;
    std::set<std::string> listed;  // packages
    for (const auto& [node, place] : asked_) {
      if (!names_no_version(*node)) {
        requests.push_back({&node->address, tag_prefix_of(*node)});
        listed.insert(SourceFetcher::package_key(node->address));
      }
    }
    // A package costs one request: its branches are not queried if its tags are listed.
    const auto is_pinned = [&](const ModuleNode& node) {
      return names_no_version(node) && listed.count(SourceFetcher::package_key(node.address)) == 0;
    };
    std::vector<const SourceAddress*> pins;
    for (const auto& [node, place] : asked_) {
      if (is_pinned(*node)) {
        pins.push_back(&node->address);
      }
    }
    fetcher_.list(requests, pins);
    for (const auto& [node, place] : asked_) {
      Dependency& dependency = dependencies_[place];
      if (names_no_version(*node)) {
        const auto pin = is_pinned(*node) ? fetcher_.pinned(node->address.source) : Result<Pin>();
        if (pin) {
          dependency.current_value = node->address.source.named_reference();
          dependency.skip_reason = dependency.current_value.empty() ? "unspecified-version" : "unversioned-reference";
          note_move(*node, pin->ref, pin->id, dependency);
        } else {
          add_failure(*node, pin.error(), diagnostics);
        }
        continue;
      }
      const Result<Listing>& listing = fetcher_.listing(node->address, tag_prefix_of(*node));
      if (listing) {
        complete(*node, *listing, dependency);
        name_ambiguous_update(*node, *listing, dependency, diagnostics);
        if (!request_.subjects.empty()) {
          name_denied_updates(*node, *listing, dependency, diagnostics);
        }
      } else {
        add_failure(*node, listing.error(), diagnostics);
      }
    }
  }

  std::vector<Dependency> take() { return std::move(dependencies_); }

 private:
  static void add_failure(const ModuleNode& node, Error error, Diagnostics& diagnostics) {
    error.location = error.location ? error.location : node.call.source.location;
    diagnostics.push_back(as_warning(placed(std::move(error), node.subject())));
  }

  // Returns whether a call names a branch, HEAD, or a tag that is no version.
  static bool names_no_version(const ModuleNode& node) {
    const Source& source = node.address.source;
    return !node.commit && !chooses_version(node) && source.named_id().empty() &&
           !parse_version_tag(source.named_tag(), tag_prefix_of(node));
  }

  void note_move(const ModuleNode& node, const std::string& ref, const std::string& id, Dependency& dependency) const {
    const std::string now = id.empty() ? "" : fetcher_.backend(node.address.source)->id_hash(id);
    if (!now.empty() && !dependency.origin.empty() && now != dependency.origin) {
      dependency.reference_now = now;
      dependency.is_moved = !is_expected_to_move(node.address.source, ref);
    }
  }

  void complete(const ModuleNode& node, const Listing& listing, Dependency& dependency) const {
    if (node.commit) {
      dependency.current_value = *node.commit;
      dependency.skip_reason = "unversioned-reference";
    } else if (chooses_version(node)) {
      complete_constraint(node, listing, dependency);
    } else {
      complete_reference(node, listing, dependency);
    }
  }

  void complete_constraint(const ModuleNode& node, const Listing& listing, Dependency& dependency) const {
    dependency.current_value = node.constraints_text().value_or("");
    const auto constraint = ModuleConstraint::parse(dependency.current_value);
    const auto locked = Version::parse(dependency.locked_version);
    const ListedVersion* selected = find_where(listing.versions, [&](const ListedVersion& listed) {
      return constraint ? constraint->selects(listed.version) : listed.version.prerelease().empty();
    });
    if (!locked && selected == nullptr) {
      dependency.skip_reason = "unspecified-version";
      return;
    }
    const ListedVersion* tagged = find_where(listing.versions, [&](const auto& listed) {
      return locked && listed.version.to_string() == locked->to_string() && listed.ambiguous_with.empty();
    });
    if (tagged != nullptr) {
      note_move(node, tagged->ref, tagged->id, dependency);
    }
    const Version& current = locked ? *locked : selected->version;
    dependency.current_version = current.to_string();
    const ModuleNode* const package = package_of(request_.tree, node.key);
    dependency.updates = update_options(
        offers(node, listing), current, dependency.current_value,
        [&](const OfferedVersion& offer) -> std::optional<std::string> {
          if (!constraint) {
            return dependency.current_value;
          }
          auto value = let_in(dependency.current_value, offer.version);
          const bool stays = value && *value == dependency.current_value;
          return value && (package == nullptr || stays) ? std::optional(std::move(*value)) : std::nullopt;
        });
    name_pin(package, node, listing, current, dependency);
  }

  // For a tag, adds the version that it names; for a commit or a digest, the version that is tagged there.
  void complete_reference(const ModuleNode& node, const Listing& listing, Dependency& dependency) const {
    const std::string reference = node.address.source.named_reference();
    const std::string tag = node.address.source.named_tag();
    dependency.current_value = reference;
    const ListedVersion* current = find_where(listing.versions, [&](const ListedVersion& listed) {
      return !reference.empty() && (listed.tag == tag || (node.address.source.has_tags() && listed.id == reference));
    });
    if (current != nullptr && current->tag == tag) {
      note_move(node, current->ref, current->id, dependency);
    }
    const auto version = current != nullptr ? std::optional(current->version)
                                            : parse_version_tag(tag, tag_prefix_of(node));  // of a deleted tag
    if (!version) {
      dependency.skip_reason = reference.empty() ? "unspecified-version" : "unversioned-reference";
      return;
    }
    dependency.current_version = version->to_string();
    if (const ModuleNode* const package = package_of(request_.tree, node.key)) {
      name_pin(package, node, listing, *version, dependency);
      return;
    }
    const bool by_id = current != nullptr && current->id == reference;
    dependency.current_digest = by_id ? reference : "";
    dependency.updates = update_options(offers(node, listing), *version, reference,
                                        [&](const OfferedVersion& offer) -> std::optional<std::string> {
                                          return by_id ? offer.id : reference_to_tag(reference, offer.tag);
                                        });
  }

  void name_pin(const ModuleNode* package, const ModuleNode& node, const Listing& listing, const Version& current,
                Dependency& dependency) const {
    if (package != nullptr && dependency.updates.empty() && !update_options(offers(node, listing), current).empty()) {
      dependency.pinned_by = package->subject();
    }
  }

  // Names the newer versions that would be offered if no rule denied them.
  void name_denied_updates(const ModuleNode& node, const Listing& listing, const Dependency& dependency,
                           Diagnostics& diagnostics) const {
    const auto current = Version::parse(dependency.current_version);
    if (!current) {
      return;
    }
    for (const AvailableUpdate& denied : update_options(offers(node, listing, true), *current)) {
      const auto version = Version::parse(denied.new_version);
      const bool is_exceeded = std::ranges::any_of(dependency.updates, [&](const AvailableUpdate& update) {
        return update.is_breaking == denied.is_breaking && *Version::parse(update.new_version) > *version;
      });
      const DenyRule* rule = denial_of(node, *version, denied.new_digest);
      if (rule != nullptr && !is_exceeded) {
        Error error =
            denied_release(*rule, denied.new_version, node.address.source.package_identity(), dependency.subject, "");
        error.hint = {};
        diagnostics.push_back({Severity::info, std::move(error)});
      }
    }
  }

  // Names a version that is newer than those that are offered, if several tags have it.
  static void name_ambiguous_update(const ModuleNode& node, const Listing& listing, const Dependency& dependency,
                                    Diagnostics& diagnostics) {
    const auto current =
        Version::parse(dependency.updates.empty() ? dependency.current_version : dependency.updates.back().new_version);
    for (const ListedVersion& listed : listing.versions) {
      if (!current || listed.version <= *current || !dependency.pinned_by.empty()) {
        return;
      }
      const std::string other = find_other_tag(listing, listed);
      if (!other.empty() && may_follow(listed.version, *current) && !offered_tag(node, listing, listed)) {
        diagnostics.push_back(
            {Severity::info,
             placed(check_unambiguous(listed, {}, node.address.source.package_identity(), other).error(),
                    dependency.subject)});
        return;
      }
    }
  }

  // Of several tags of a version, that which is written as the current one. nullopt: it is ambiguous.
  static std::optional<ListedVersion> offered_tag(const ModuleNode& node, const Listing& listing,
                                                  const ListedVersion& listed) {
    const std::string tag = chooses_version(node) ? "" : node.address.source.named_tag();
    return find_other_tag(listing, listed).empty() ? listed
           : tag.empty()                           ? std::nullopt
                                                   : find_spelled(listing, listed.version, tag_prefix_of(node), tag);
  }

  const DenyRule* denial_of(const ModuleNode& node, const Version& version, const std::string& id) const {
    const std::string hash = fetcher_.backend(node.address.source)->id_hash(id);
    return find_denial(std::span(request_.settings.deny_rules), node.address.source, std::optional(version),
                       {&hash, 1});
  }

  // Returns the versions that no rule denies, or those that one denies.
  std::vector<OfferedVersion> offers(const ModuleNode& node, const Listing& listing, bool are_denied = false) const {
    const auto minimum = age_limit(request_.settings, node.address.source).minimum();
    const std::vector<SourceFetcher::Time>& known_since = fetcher_.known_since(node.address, tag_prefix_of(node));
    std::vector<OfferedVersion> offered;
    for (std::size_t i = 0; i < listing.versions.size(); ++i) {
      const ListedVersion& listed = listing.versions[i];
      const bool is_old_enough = minimum.count() == 0 || fetcher_.now() - known_since[i] >= minimum;
      const bool is_denied = denial_of(node, listed.version, listed.id) != nullptr;
      const auto tag = offered_tag(node, listing, listed);
      if (tag && !listed.deprecated && is_old_enough && is_denied == are_denied) {
        offered.push_back({tag->version, tag->id, tag->tag});
      }
    }
    return offered;
  }

  const LookupRequest& request_;
  SourceFetcher& fetcher_;
  std::vector<Dependency> dependencies_;
  std::vector<std::pair<const ModuleNode*, std::size_t>> asked_;  // and the place in dependencies_
};

// A provider of the tree: constraints that can be edited, and those of packages.
struct NeededProvider {
  ProviderAddress address;
  Dependency dependency = {};
  std::vector<std::string> fixed = {};  // constraints of packages
};

NeededProvider use_of(const ProviderAddress& address, const std::vector<RequiredBy>& uses,
                      const LookupRequest& request) {
  NeededProvider out{.address = address};
  Dependency& dependency = out.dependency;
  dependency.subject = "provider." + address.to_string();
  dependency.dep_type = "required_provider";
  dependency.dep_name = address.for_display(request.default_host);
  dependency.datasource = "terraform-provider";
  const SourceText* named = nullptr;
  for (const RequiredBy& use : uses) {
    const auto& constraint = use.requirement.constraint;
    const ModuleNode* node = find_in(request.tree.nodes, use.module);
    const bool is_fixed = node != nullptr && (!node->is_local() || package_of(request.tree, use.module) != nullptr);
    if (constraint && is_fixed) {
      out.fixed.push_back(constraint->text);
    } else if (constraint && named == nullptr) {
      named = &*constraint;
      dependency.current_value = constraint->text;
    }
  }
  const Location& location = named != nullptr ? named->location : uses.front().requirement.location;
  dependency.package_file = location.path;
  dependency.range = location.range;
  if (const ProviderLock* lock = find_in(request.providers, address)) {
    dependency.locked_version = lock->version.to_string();
  }
  return out;
}

void complete(NeededProvider& use, const ProviderListing& listing, const LookupRequest& request,
              SourceFetcher::Time now) {
  Dependency& dependency = use.dependency;
  std::vector<OfferedVersion> offered;
  const auto age = age_limit(request.settings, use.address).minimum();
  const ReleaseGate gate{.minimum = age, .now = now, .known_since = listing.known_since};
  for (std::size_t i = 0; i < listing.versions.size(); ++i) {
    const ProviderVersion& version = listing.versions[i];
    const auto parsed = Version::parse(version.to_string());
    if (parsed && gate.is_old_enough(i) &&
        find_denial(std::span(request.settings.deny_rules), use.address, version, {}) == nullptr) {
      offered.push_back({*parsed});
    }
  }
  const auto is_allowed = [&](const Version& version) {
    return std::ranges::all_of(use.fixed, [&](const std::string& constraint) {
      return lets_in(constraint, version, ConstraintDialect::provider);
    });
  };
  const std::string& value = dependency.current_value;
  auto current = Version::parse(dependency.locked_version);
  if (!current) {
    const OfferedVersion* newest = find_where(offered, [&](const OfferedVersion& offer) {
      return is_allowed(offer.version) && (value.empty() ? offer.version.prerelease().empty()
                                                         : lets_in(value, offer.version, ConstraintDialect::provider));
    });
    if (newest == nullptr) {
      dependency.skip_reason = "unspecified-version";
      return;
    }
    current = newest->version;
  }
  dependency.current_version = current->to_string();
  dependency.updates =
      update_options(offered, *current, value, [&](const OfferedVersion& offer) -> std::optional<std::string> {
        const auto text = value.empty() ? value : let_in(value, offer.version, ConstraintDialect::provider);
        return text && is_allowed(offer.version) ? std::optional(*text) : std::nullopt;
      });
}

void look_up_providers(const LookupRequest& request, const std::function<bool(const std::string&)>& is_wanted,
                       ProviderSource& providers, SourceFetcher::Time now, const Context& context,
                       messages::UpdateLookupResult& found) {
  std::vector<NeededProvider> uses;
  for (const auto& [address, required] : required_providers(request.tree, false)) {
    if (!address.is_builtin(request.default_host) && is_wanted("provider." + address.to_string())) {
      uses.push_back(use_of(address, required, request));
    }
  }
  std::vector<Result<ProviderListing>> listings(uses.size());
  parallel_for(uses.size(), kWidth,
               [&](std::size_t i) { listings[i] = providers.list_versions(uses[i].address, context); });
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (listings[i]) {
      complete(uses[i], *listings[i], request, now);
    } else {
      found.diagnostics.push_back(
          as_warning(placed(std::move(listings[i].error()), uses[i].dependency.subject,
                            Location{uses[i].dependency.package_file, uses[i].dependency.range})));
    }
    found.dependencies.push_back(std::move(uses[i].dependency));
  }
}

// Warns of locked releases that are denied.
void name_denied(const LookupRequest& request, const std::function<bool(const std::string&)>& is_wanted,
                 Diagnostics& diagnostics) {
  const std::span rules(request.settings.deny_rules);
  for (const auto& [key, lock] : request.modules) {
    const ModuleNode* node = find_in(request.tree.nodes, key);
    if (rules.empty() || node == nullptr || !is_wanted(node->subject())) {
      continue;
    }
    const Source& source = node->address.source;
    if (const DenyRule* rule = find_denial(rules, source, lock.parsed_version(), lock.hashes)) {
      diagnostics.push_back(
          {Severity::warning, denied_release(*rule, locked_text(lock), source.package_identity(), node->subject(),
                                             reselect_command(lock.source, node->subject()))});
    }
  }
  for (const auto& [address, lock] : request.providers) {
    auto allowed = check_provider_allowed(address, lock.version, lock.hashes, rules);
    if (!allowed && is_wanted(allowed.error().subject)) {
      diagnostics.push_back({Severity::warning, std::move(allowed.error())});
    }
  }
}

// A provider may be named without its host.
Result<std::vector<std::string>> full_subjects(const LookupRequest& request) {
  std::vector<std::string> subjects = request.subjects;
  for (std::string& subject : subjects) {
    MODLOCK_TRY(subject, full_subject(subject, request.tree, request.default_host));
    if (subject.starts_with(kProviderSubject)) {
      const auto address =
          ProviderAddress::parse(std::string_view(subject).substr(kProviderSubject.size()), request.default_host);
      subject = address ? std::string(kProviderSubject) + address->to_string() : subject;
    }
  }
  return subjects;
}

Result<void> check_subjects(const std::vector<std::string>& subjects, const messages::UpdateLookupResult& found,
                            const ModuleTree& tree) {
  for (const std::string& subject : subjects) {
    if (find_by(found.dependencies, subject, &Dependency::subject) == nullptr) {
      std::vector<std::string> known = module_subjects(tree);
      for (const auto& [address, uses] : required_providers(tree, false)) {
        known.push_back("provider." + address.to_string());
      }
      return fail(unknown_subject(subject, known));
    }
  }
  return {};
}

}  // namespace

Result<messages::UpdateLookupResult> look_up(const LookupRequest& request, SourceFetcher& fetcher,
                                             ProviderSource& providers, const Context& context) {
  MODLOCK_TRY(const auto subjects, full_subjects(request));
  const auto is_wanted = [&](const std::string& subject) { return subjects.empty() || contains(subjects, subject); };
  messages::UpdateLookupResult found;
  Modules modules(request, fetcher);
  for (const auto& [key, node] : request.tree.nodes) {
    if (!node.of_tests && is_wanted(node.subject())) {
      modules.add(node);
    }
  }
  modules.look_up(found.diagnostics);
  name_denied(request, is_wanted, found.diagnostics);
  found.dependencies = modules.take();
  append(found.diagnostics, fetcher.redirect_warnings());
  for (const UnresolvedCall& call : request.tree.unresolved) {
    const std::string subject = "module." + call.key;
    if (is_wanted(subject)) {
      const auto& known = request.tree.diagnostics;
      const bool is_invalid = std::ranges::any_of(known, [&](const Diagnostic& diagnostic) {
        return diagnostic.what.subject == subject && diagnostic.what.code != Code::config_non_static;
      });
      found.dependencies.push_back(
          {.subject = subject, .dep_type = "module", .skip_reason = is_invalid ? "" : "contains-variable"});
    }
  }
  look_up_providers(request, is_wanted, providers, fetcher.now(), context, found);
  MODLOCK_TRY(context.check());
  MODLOCK_TRY(check_subjects(subjects, found, request.tree));
  return found;
}

}  // namespace modlock
