#include "plugin/resolve/release_age.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/base/collections.h"

namespace modlock {
namespace {

using std::chrono::seconds;

bool is_newly_locked(Action action) {
  return action == Action::added || action == Action::adopted || action == Action::updated || action == Action::moved ||
         action == Action::source_changed;
}

template <typename Rule, typename Matches>
void take_longer(const std::vector<Rule>& rules, bool of_user, const Matches& matches, AgeLimit& limit) {
  const Rule* found = find_where(
      rules, [&](const Rule& rule) { return rule.of_user == of_user && rule.minimum_release_age && matches(rule); });
  const AgeLimit other{found == nullptr ? nullptr : &*found->minimum_release_age};
  limit = other.minimum() > limit.minimum() || limit.rule == nullptr ? other : limit;
}

}  // namespace

std::string why_taken(const Change& change, const ModuleNode& node) {
  if (change.action == Action::adopted) {
    return std::string(kInstalledReason);
  }
  if (!chooses_version(node) || node.commit) {
    return "the configuration names no version to choose";
  }
  if (names_one_version(node.constraints)) {
    return fmt::format("the constraint \"{}\" names it", *node.constraints_text());
  }
  return "it was requested";
}

seconds AgeLimit::minimum() const {
  return requested ? *requested : rule == nullptr ? seconds(0) : parse_duration(rule->text).value_or(seconds(0));
}

seconds AgeLimit::wanted() const {
  return std::max(minimum(), AgeLimit{rule}.minimum());
}

AgeLimit age_limit(const Settings& settings, const Source& source) {
  const std::string identity = source.identity();
  AgeLimit limit;
  for (const bool of_user : {false, true}) {
    // A rule that only matches_source() finds can make the age longer, not shorter.
    for (const auto matches : {&matches_glob, &matches_source}) {
      take_longer(
          settings.sources, of_user, [&](const SourceRule& rule) { return matches(rule.glob, identity); }, limit);
    }
  }
  return {limit.rule, settings.requested_age};
}

AgeLimit age_limit(const Settings& settings, const ProviderAddress& provider) {
  AgeLimit limit;
  for (const bool of_user : {false, true}) {
    take_longer(
        settings.providers, of_user, [&](const ProviderRule& rule) { return rule.provider.matches(provider); }, limit);
  }
  return {limit.rule, settings.requested_age};
}

bool names_one_version(std::span<const ConstraintUse> uses) {
  return std::ranges::any_of(uses, [](const ConstraintUse& use) {
    return std::ranges::any_of(use.constraint.items(),
                               [](const auto& item) { return item.comparator == Comparator::equal; });
  });
}

std::string age_text(seconds age) {
  constexpr int kDay = 86400;
  if (age.count() != 0 && age.count() % kDay == 0) {
    return fmt::format("{}d", age.count() / kDay);
  }
  std::string text;
  for (const auto& [unit, size] : {std::pair{"h", 3600}, std::pair{"m", 60}, std::pair{"s", 1}}) {
    if (const auto count = age.count() / size; count != 0) {
      text += fmt::format("{}{}", count, unit);
    }
    age %= size;
  }
  return text.empty() ? "0s" : text;
}

std::string youth_text(SourceFetcher::Time since, SourceFetcher::Time now) {
  return (since > now ? "its publisher claims a date in the future: " : "first seen at ") + time_text(since);
}

std::optional<std::string> age_exception(const AgeLimit& limit, SourceFetcher::Time since,
                                         std::optional<SourceFetcher::Time> claimed, SourceFetcher::Time now) {
  const seconds wanted = limit.wanted();
  const bool is_claim = claimed && *claimed > since;
  if (wanted.count() == 0 || now - (is_claim ? *claimed : since) >= wanted) {
    return std::nullopt;
  }
  return fmt::format("{} {}; the minimum release age is {}",
                     !is_claim        ? "first seen at"
                     : *claimed > now ? "its publisher claims a date in the future,"
                                      : "its publisher dates it to",
                     time_text(is_claim ? *claimed : since), age_text(wanted));
}

Diagnostic name_exception(Change& change, const std::string& name, const std::string& exception, const std::string& why,
                          const AgeLimit& limit, const std::optional<Location>& where) {
  change.is_exception = true;
  change.reason += fmt::format("; an exception from minimum_release_age: {}, but {}", exception, why);
  return as_warning({.code = Code::setting_unserved,
                     .message = fmt::format("the selected version of {} is newer than minimum_release_age allows: {}",
                                            name, exception),
                     .subject = change.subject,
                     .location = limit.rule == nullptr ? where : limit.rule->location,
                     .notes = {fmt::format("it is used because {}", why)},
                     .hint = "review it before committing the lock"});
}

Result<SourceFetcher::Time> locked_since(const ModuleNode& node, const ModuleLock& entry, SourceFetcher& fetcher) {
  const Source& source = node.address.source;
  const std::string id = fetcher.backend(source)->id_of(entry.hashes);
  std::string ref = entry.version.value_or("");
  auto since =
      id.empty() || fetcher.stored(source, {.id = id}) ? fetcher.note(source, "locked " + ref, id) : fetcher.now();
  since = std::min(since, fetcher.first_seen(source, "", id).value_or(since));
  if (source.traits().versions != SourceVersions::none) {
    fetcher.list(std::array{SourceFetcher::ListingRequest{&node.address, node.tag_prefix}});
    MODLOCK_TRY(const auto listing, fetcher.listing(node.address, node.tag_prefix));
    for (std::size_t i = 0; i < listing.versions.size(); ++i) {
      const ListedVersion& listed = listing.versions[i];
      const bool is_same = listed.id == id || (listed.id.empty() && listed.tag == source.named_tag());
      if (entry.version ? listed.version == entry.parsed_version() && (is_same || listed.id.empty()) : is_same) {
        const auto known = fetcher.known_since(node.address, node.tag_prefix)[i];
        since = listed.published || id.empty() ? known : std::min(since, known);
        ref = listed.ref;
      }
    }
  }
  return std::max(since, fetcher.claimed(source, ref, id).value_or(since));
}

void warn_about_young_releases(const PlanRequest& request, Plan& plan, const SourceFetcher& fetcher) {
  for (Change& change : plan.changes) {
    const std::string key = change.subject.substr(change.subject.find('.') + 1);
    const ResolvedModule* resolved = find_in(plan.resolved, key);
    if (!is_newly_locked(change.action) || resolved == nullptr) {
      continue;
    }
    const ModuleNode& node = plan.tree.nodes.find(key)->second;
    const AgeLimit limit = age_limit(request.walk.settings, node.address.source);
    // The content of a listing was recorded.
    if (limit.wanted().count() == 0 && chooses_version(node) && !node.commit) {
      continue;
    }
    const auto since = fetcher.note(node.address.source, resolved->ref, resolved->id);
    const auto claimed = fetcher.claimed(node.address.source, resolved->ref, resolved->id);
    if (const auto seen = age_exception(limit, since, claimed, fetcher.now())) {
      plan.diagnostics.push_back(name_exception(change, fmt::format("module \"{}\"", key), *seen,
                                                why_taken(change, node), limit, node.call.source.location));
    }
  }
}

}  // namespace modlock
