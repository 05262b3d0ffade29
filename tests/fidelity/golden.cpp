#include "tests/fidelity/golden.h"

#include <fmt/format.h>

#include <sstream>
#include <stdexcept>

#include "backends/base/digest.h"
#include "tests/support/temporary_directory.h"

namespace modlock::fidelity {

namespace fs = std::filesystem;

// "017 0123456789ab accepted <sha256>": the second column is of the case itself, the last one is "none" where there is
// no lock file.
std::string Golden::line(const Case& of, const Outcome& outcome) {
  if (!outcome.is_accepted) {
    return fmt::format("{:03} {} refused", of.number, of.digest());
  }
  return fmt::format("{:03} {} accepted {}", of.number, of.digest(),
                     outcome.lock.empty() ? "none" : sha256_hex(outcome.lock));
}

Golden Golden::read(const fs::path& path) {
  std::istringstream lines(test::read_text(path));
  std::string word;
  std::uint64_t seed = 0;
  if (!(lines >> word >> seed) || word != "seed") {
    throw std::runtime_error(path.string() + " does not begin with a seed");
  }
  const std::string name = path.stem().string();
  const std::size_t dash = name.find('-');
  const std::string version = name.substr(dash + 1);
  Golden golden({.program = {}, .version = version, .reader = Reader::of(name.substr(0, dash), version)}, seed);
  std::getline(lines, word);
  for (std::string text; std::getline(lines, text);) {
    golden.lines_[std::stoul(text)] = text;
  }
  return golden;
}

std::string Golden::differs(const Case& of, const Outcome& outcome) const {
  const std::string& expected = lines_.at(of.number);
  const std::string found = line(of, outcome);
  if (expected == found) {
    return {};
  }
  if (expected.substr(0, 16) != found.substr(0, 16)) {
    return "the golden file is of another case: write it anew with a client";
  }
  if (of.is_left_to_client && expected.ends_with(" refused")) {
    return {};
  }
  return fmt::format("{} has \"{}\", this is \"{}\"", client_.title(), expected.substr(17), found.substr(17));
}

void Golden::write(const fs::path& directory) const {
  std::string text = fmt::format("seed {}\n", seed_);
  for (const auto& [number, line] : lines_) {
    text += line + "\n";
  }
  test::write_text(directory / fmt::format("{}-{}.txt", client_.reader.command(), client_.version), text);
}

}  // namespace modlock::fidelity
