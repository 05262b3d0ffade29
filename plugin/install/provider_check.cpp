#include "plugin/install/provider_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/base/collections.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "backends/store/tree_memo.h"
#include "plugin/constraint/provider_constraint.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostProviderThreads = 8;

// Merges all valid constraints. An invalid one is an error of the configuration.
ProviderConstraint constraints_of(const std::vector<RequiredBy>& uses) {
  std::vector<ProviderConstraint> all;
  for (const RequiredBy& use : uses) {
    if (use.requirement.constraint) {
      if (auto constraint = ProviderConstraint::parse(use.requirement.constraint->text)) {
        all.push_back(std::move(*constraint));
      }
    }
  }
  return ProviderConstraint::merge(all);
}

class ProviderChecker {
 public:
  ProviderChecker(const ProviderCheck& check, const Store& store, const Context& context)
      : check_(check), store_(store), context_(context) {}

  Result<std::vector<Verdict>> run() {
    auto providers = all_keys(check_.settings.lock.providers, check_.required);
    std::erase_if(providers, [&](const ProviderAddress& provider) {
      return provider.is_builtin(check_.settings.default_host) || check_.settings.dev_overrides.contains(provider);
    });
    const std::vector<ProviderAddress> order(providers.begin(), providers.end());
    std::vector<Verdict> verdicts(order.size());
    const std::size_t threads = std::min(core_count(), kMostProviderThreads);
    memo_.threads = std::max<std::size_t>(threads / std::max<std::size_t>(order.size(), 1), 1);
    parallel_for(order.size(), threads, [&](std::size_t i) {
      verdicts[i] = check(order[i]);
      if (const ProviderLock* locked = find_in(check_.settings.lock.providers, order[i])) {
        verdicts[i].version = locked->version.to_string();
      }
    });
    MODLOCK_TRY(context_.check());
    return verdicts;
  }

 private:
  Verdict check(const ProviderAddress& provider) const {
    Verdict verdict{.subject = "provider." + provider.to_string()};
    const auto* required = find_in(check_.required, provider);
    const ProviderLock* locked = find_in(check_.settings.lock.providers, provider);
    if (locked == nullptr) {
      verdict.location = required->front().requirement.location;
      return judge(verdict, VerdictKind::not_locked,
                   "it is required by the configuration, and the lock file has no version of it");
    }
    if (const Range* block = find_in(check_.settings.lock.provider_ranges, provider)) {
      verdict.location = Location{check_.settings.lock_path, *block};
    }
    const ProviderLock& lock = *locked;
    if (required != nullptr) {
      const ProviderConstraint constraint = constraints_of(*required);
      if (!constraint.allows(lock.version)) {
        return judge(verdict, VerdictKind::not_locked,
                     fmt::format("locked version selection {} doesn't match the version constraints \"{}\"",
                                 lock.version.to_string(), constraint.canonical()));
      }
    }
    check_place(provider, lock, verdict);
    if (const DenyRule* rule = find_denial(std::span(check_.deny_rules), provider, lock.version, lock.hashes)) {
      verdict = merge(std::move(verdict), {.kind = VerdictKind::denied, .detail = rule->text()});
    }
    return verdict;
  }

  void check_place(const ProviderAddress& provider, const ProviderLock& lock, Verdict& verdict) const {
    const fs::path place = check_.directory / provider.host() / provider.name_space() / provider.type() /
                           lock.version.to_string() / check_.platform.to_string();
    if (!path_is_directory(place)) {
      judge(verdict, VerdictKind::missing,
            fmt::format("{} is locked, but there is no package of it for {} in the data directory",
                        lock.version.to_string(), check_.platform.to_string()));
      return;
    }
    auto installed = hash_installed(store_, place, memo_, context_);
    if (!installed) {
      judge(verdict, VerdictKind::tampered, installed.error().message);
      return;
    }
    verdict.actual = std::move(*installed);
    if (contains(lock.hashes, verdict.actual)) {
      verdict.expected = verdict.actual;
      return;
    }
    check_difference(place, lock, verdict);
  }

  // Called if the hash of the directory is not in the lock.
  void check_difference(const fs::path& place, const ProviderLock& lock, Verdict& verdict) const {
    const auto of_scheme = [&](std::string_view scheme) {
      return filtered(lock.hashes, [&](const std::string& hash) { return hash.starts_with(scheme); });
    };
    if (const auto h1s = of_scheme("h1:"); !h1s.empty()) {
      verdict.kind = VerdictKind::tampered;
      verdict.expected = h1s.size() == 1 ? h1s.front() : "";
      verdict.detail = fmt::format(
          "the installed package does not match any of the checksums recorded in the lock file, unless those are of "
          "other platforms than {}{}",
          check_.platform.to_string(), shared_by(place));
    } else if (!of_scheme("zh:").empty()) {
      judge(verdict, VerdictKind::not_locked,
            "the lock file has no h1 hash of it, and hashes of archives do not apply to the installed package");
    } else {
      verdict.detail = "the lock file has no hash of it to compare with";
    }
  }

  // Returns "; it is in the plugin cache …" if the place is a link into it, else "".
  std::string shared_by(const fs::path& place) const {
    std::error_code ignored;
    if (check_.settings.plugin_cache_directory.empty()) {
      return {};
    }
    const fs::path real = fs::canonical(place, ignored);
    const fs::path cache = fs::canonical(check_.settings.plugin_cache_directory, ignored);
    const bool is_below = !cache.empty() && is_inside(real, cache);
    return is_below ? fmt::format("; it is in the plugin cache {}", check_.settings.plugin_cache_directory)
                    : std::string();
  }

  const ProviderCheck& check_;
  const Store& store_;
  const Context& context_;
  MemoOptions memo_{.full = check_.full, .rules = TreeRules::provider_package};
};

}  // namespace

Result<std::vector<Verdict>> check_providers(const ProviderCheck& check, const Store& store, const Context& context) {
  return ProviderChecker(check, store, context).run();
}

}  // namespace modlock
