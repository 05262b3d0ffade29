#include "tests/support/needs.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/make_shared.hpp>
#include <regex>

#include "backends/base/process.h"
#include "tests/support/folding_disk.h"
#include "tests/support/process_group.h"
#include "tests/support/small_disk.h"

namespace modlock::test {
namespace {

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  const std::regex expression(separator);
  return {std::sregex_token_iterator(text.begin(), text.end(), expression, -1), {}};
}

bool is_available(const std::string& program) {
  if (program == "root") {
    return ::geteuid() == 0;
  }
  if (program == kMount) {
    return SmallDisk().mounted();
  }
  if (program == kFuse) {
    const TemporaryDirectory directory;
    return ::geteuid() == 0 && FoldingDisk(directory / "disk").mounted();
  }
  // The programs of OpenSSH refuse a user without a name.
  return !find_server(program).empty() && (!program.starts_with("ssh") || ::getpwuid(::geteuid()) != nullptr);
}

}  // namespace

std::vector<std::string> clients() {
  std::vector<std::string> found;
  for (const char* name : {"tofu", "terraform"}) {
    if (find_program(name)) {
      found.emplace_back(name);
    }
  }
  return found;
}

std::string missing_programs(std::string_view list) {
  std::string missing;
  for (const std::string& entry : split(std::string(list), ", ")) {
    const std::vector<std::string> choice = split(entry, " or ");
    if (std::none_of(choice.begin(), choice.end(), is_available)) {
      missing += (missing.empty() ? "" : ", ") + entry;
    }
  }
  return missing;
}

void Needs::apply(boost::unit_test::test_unit& unit) {
  unit.add_precondition([programs = programs_](boost::unit_test::test_unit_id /*unit*/) {
    const std::string missing = missing_programs(programs);
    boost::test_tools::assertion_result result(missing.empty());
    result.message() << "needs " << missing;
    return result;
  });
  if (std::regex_search(programs_, std::regex("\\b(tofu|terraform|terragrunt)\\b"))) {
    unit.add_label("client");
  }
  if (std::regex_search(programs_, std::regex("\\broot\\b|" + std::string(kMount)))) {
    unit.add_label("root");
  }
}

boost::unit_test::decorator::base_ptr Needs::clone() const {
  return boost::make_shared<Needs>(*this);
}

}  // namespace modlock::test
