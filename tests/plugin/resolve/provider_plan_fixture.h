#pragma once

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "plugin/resolve/provider_plan.h"
#include "tests/support/fake_provider_source.h"

namespace modlock::test {

inline ProviderAddress address_of(std::string_view text) {
  return *ProviderAddress::parse(text, kOpenTofuRegistry);
}

// A need with these constraints, written in the lines of main.tf, by the root and by modules in turn: "~> 1.0" is the
// root's, "vpc: ~> 1.0" that of module "vpc".
inline ProviderNeed need_of(std::string_view address, const std::vector<std::string>& constraints = {}) {
  const auto place = [](std::uint32_t line) { return Location{"main.tf", Range{{line, 1, 0}, {line, 2, 1}}}; };
  ProviderNeed need{.address = address_of(address), .location = place(1)};
  std::vector<ProviderConstraint> all;
  for (const std::string& written : constraints) {
    const std::size_t colon = written.find(": ");
    const std::string text = colon == std::string::npos ? written : written.substr(colon + 2);
    const auto constraint = ProviderConstraint::parse(text);
    BOOST_TEST_REQUIRE(constraint.has_value());
    all.push_back(*constraint);
    need.constraints.push_back({*constraint, text, colon == std::string::npos ? "" : written.substr(0, colon),
                                place(static_cast<std::uint32_t>(need.constraints.size() + 2))});
  }
  need.merged = ProviderConstraint::merge(all);
  return need;
}

// Entries, each as "address version [constraints] hash hash", in one text of lines.
inline ProviderLocks locks_of(const std::string& text) {
  std::istringstream lines(text);
  ProviderLocks locks;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t open = line.find('[');
    const std::size_t close = line.find(']');
    const std::string constraints = open == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
    std::istringstream head(line.substr(0, open));
    std::istringstream tail(open == std::string::npos ? "" : line.substr(close + 1));
    std::string address;
    std::string version;
    head >> address >> version;
    ProviderLock lock{.version = *ProviderVersion::parse(version), .constraints = constraints};
    for (std::istringstream* words : {&head, &tail}) {
      for (std::string hash; *words >> hash;) {
        lock.hashes.push_back(hash);
      }
    }
    locks.emplace(address_of(address), std::move(lock));
  }
  return locks;
}

inline std::string text_of(const ProviderLocks& locks) {
  std::string text;
  for (const auto& [address, lock] : locks) {
    text += address.for_display(kOpenTofuRegistry) + " " + lock.version.to_string();
    text += lock.constraints.empty() ? "" : " [" + lock.constraints + "]";
    for (const std::string& hash : lock.hashes) {
      text += " " + hash;
    }
    text += "\n";
  }
  return text;
}

inline std::string text_of(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    text +=
        fmt::format("{} {} {}->{} [{}] {}\n", change.subject, to_string(change.action),
                    change.from ? change.from->version.value_or("?") : "",
                    change.to ? change.to->version.value_or("?") : "", change.constraints.value_or(""), change.reason);
  }
  return text;
}

inline std::string text_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    text += fmt::format("{} {}\n", to_string(diagnostic.what.code), diagnostic.what.message);
  }
  return text;
}

inline std::vector<Platform> platforms_of(const std::vector<std::string>& texts) {
  std::vector<Platform> platforms;
  for (const std::string& text : texts) {
    platforms.push_back(*Platform::parse(text));
  }
  return platforms;
}

inline const std::vector<std::string> kPlatforms = {"linux_amd64", "darwin_arm64"};

inline ProviderPlanRequest request_of(const std::string& locked, std::vector<ProviderNeed> needs,
                                      const std::vector<std::string>& platforms = {"linux_amd64"}) {
  return {.needs = std::move(needs), .locked = locks_of(locked), .platforms = platforms_of(platforms)};
}

}  // namespace modlock::test
