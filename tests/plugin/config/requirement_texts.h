#pragma once

#include <boost/test/unit_test.hpp>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/config/provider_requirement.h"
#include "tests/plugin/config/config_texts.h"

namespace modlock::test {

// One line for each: "address local-name origin by place `what stands there`", then the constraint as read and as
// written.
inline std::string describe(const std::vector<ProviderRequirement>& requirements,
                            const std::vector<ConfigText>& files) {
  constexpr std::string_view kOrigins[] = {"required",  "block",  "resource", "data",
                                           "ephemeral", "action", "import",   "state"};
  std::string lines;
  for (const ProviderRequirement& requirement : requirements) {
    lines += fmt::format("{}{} {} {}{}{} {} `{}`", lines.empty() ? "" : "\n", requirement.address.to_string(),
                         requirement.local_name, kOrigins[static_cast<std::size_t>(requirement.origin)],
                         requirement.by.empty() ? "" : " ", requirement.by, to_string(requirement.location),
                         sliced(files, requirement.location));
    if (requirement.constraint) {
      lines += fmt::format(" {} `{}`", requirement.constraint->text, sliced(files, requirement.constraint->location));
    }
  }
  return lines;
}

struct RequirementRow {
  const char* name;
  Texts files;
  std::string_view requirements;
  std::string_view diagnostics;
};

template <std::size_t kCount>
void check_requirements(const RequirementRow (&rows)[kCount], ClientKind tool = ClientKind::opentofu) {
  for (const RequirementRow& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto files = read_texts(row.files, tool);
      Diagnostics diagnostics;
      BOOST_TEST(describe(provider_requirements(files, tool, diagnostics), files) == row.requirements);
      BOOST_TEST(describe(diagnostics, files) == row.diagnostics);
    }
  }
}

}  // namespace modlock::test
