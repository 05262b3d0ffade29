#include "plugin/resolve/release_age.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/resolve/module_node.h"

namespace modlock {
namespace {

using std::chrono::seconds;

bool is_newly_locked(Action action) {
  switch (action) {
    case Action::added:
    case Action::adopted:
    case Action::updated:
    case Action::moved:
    case Action::source_changed:
      return true;
    case Action::removed:
    case Action::restored:
    case Action::renamed:
    case Action::hashes_added:
    case Action::constraints_changed:
    case Action::reordered:
    case Action::merged:
      break;
  }
  return false;
}

seconds ruled_age(const SourceRule* rule) {
  return rule == nullptr ? seconds(0) : parse_duration(rule->minimum_release_age->text).value_or(seconds(0));
}

// Returns the age that the settings require, even if the request allows newer versions.
seconds wanted_age(const PlanRequest& request, const ModuleNode& node) {
  return std::max(minimum_age(request.walk.settings, node.address.source),
                  request.minimum_release_age.value_or(seconds(0)));
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

const SourceRule* age_rule(const Settings& settings, const Source& source) {
  const std::string identity = source.identity();
  const SourceRule* longest = nullptr;
  // A rule that only matches_source() finds can make the age longer, not shorter.
  for (const auto& kind :
       {std::pair{false, &matches_glob}, {false, &matches_source}, {true, &matches_glob}, {true, &matches_source}}) {
    const auto found = std::find_if(settings.sources.begin(), settings.sources.end(), [&](const SourceRule& rule) {
      return rule.of_user == kind.first && rule.minimum_release_age && kind.second(rule.glob, identity);
    });
    if (found != settings.sources.end() && (longest == nullptr || ruled_age(&*found) > ruled_age(longest))) {
      longest = &*found;
    }
  }
  return longest;
}

seconds minimum_age(const Settings& settings, const Source& source) {
  return ruled_age(age_rule(settings, source));
}

seconds minimum_age(const PlanRequest& request, const ModuleNode& node) {
  return request.minimum_release_age.value_or(minimum_age(request.walk.settings, node.address.source));
}

bool names_one_version(std::span<const ConstraintUse> uses) {
  return std::any_of(uses.begin(), uses.end(), [](const ConstraintUse& use) {
    return std::any_of(use.constraint.items().begin(), use.constraint.items().end(),
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

std::optional<std::string> age_exception(const PlanRequest& request, const ModuleNode& node, SourceFetcher::Time since,
                                         std::optional<SourceFetcher::Time> claimed, SourceFetcher::Time now) {
  const seconds wanted = wanted_age(request, node);
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

void name_young_releases(const PlanRequest& request, Plan& plan, const SourceFetcher& fetcher) {
  for (Change& change : plan.changes) {
    const std::string key = change.subject.substr(change.subject.find('.') + 1);
    const auto resolved = plan.resolved.find(key);
    if (!is_newly_locked(change.action) || resolved == plan.resolved.end()) {
      continue;
    }
    const ModuleNode& node = plan.tree.nodes.find(key)->second;
    const SourceRule* rule = age_rule(request.walk.settings, node.address.source);
    // The content of a listing was recorded.
    if (wanted_age(request, node).count() == 0 && chooses_version(node) && !node.commit) {
      continue;
    }
    const auto since = fetcher.note(node.address.source, resolved->second.ref, resolved->second.id);
    const auto claimed = fetcher.claimed(node.address.source, resolved->second.ref, resolved->second.id);
    const auto seen = age_exception(request, node, since, claimed, fetcher.now());
    if (!seen) {
      continue;
    }
    change.reason += fmt::format("; an exception from minimum_release_age: {}, but {}", *seen, why_taken(change, node));
    plan.diagnostics.push_back(
        {Severity::warning,
         Error{.code = Code::setting_unserved,
               .message = fmt::format(
                   "the locked version of module \"{}\" is newer than minimum_release_age allows: {}", key, *seen),
               .subject = change.subject,
               .location = rule == nullptr ? node.call.source.location : rule->minimum_release_age->location,
               .notes = {fmt::format("it is used because {}", why_taken(change, node))},
               .hint = "review it before committing the lock"}});
  }
}

}  // namespace modlock
