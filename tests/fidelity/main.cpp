// Makes up cases by chance and compares the lock files that a stock client and our binary write, byte for byte.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "backends/base/process.h"
#include "tests/fidelity/generator.h"
#include "tests/fidelity/golden.h"

namespace modlock::fidelity {
namespace {

namespace fs = std::filesystem;

constexpr int kUsage = 2;
constexpr int kSkipped = 77;
constexpr const char* kHelp = R"(usage: fidelity [OPTION...]

Makes up provider configurations with prior locks, mirrors and faults, lets a stock client and tofu-modlock lock each,
and compares whether they accept it and what they write, byte for byte. Where it is `init` that they run, the client
runs once more after our lock without --hashes, and must find nothing to write. Nothing leaves the loopback.

  --modlock PATH    the binary to judge
  --client PATH     a tofu or terraform to compare with (default: terraform on PATH, and the one that
                    MODLOCK_TEST_TOFU names)
  --goldens DIR     compare with what clients once wrote instead, one file for each client
  --absent          of these, only with those of programs that are not here to be compared with
  --write DIR       run the client alone and write such a file
  --seed N          of the cases (default 6)
  --count N         how many (default: enough for each kind)
  --only N          only the case of this number, with all that was said about it
  --keep DIR        write cases that differ, and both lock files, below DIR
  --jobs N          how many at once (default 4)
  --verbose         name every case and what became of it

Ends with "fidelity: N cases, N differences" for each client. Exit: 0 no difference, 1 some, 2 usage, 77 no client.
)";

struct Options {
  std::string modlock;
  std::string client;
  std::string goldens;
  std::string write;
  std::string keep;
  std::uint64_t seed = 6;
  std::size_t count = kUsualCount;
  std::optional<std::size_t> only;
  std::size_t jobs = 4;
  bool only_absent = false;
  bool is_verbose = false;
};

std::optional<Options> parse(const std::vector<std::string>& arguments) {
  Options options;
  std::map<std::string, std::string*> texts = {{"--modlock", &options.modlock},
                                               {"--client", &options.client},
                                               {"--goldens", &options.goldens},
                                               {"--write", &options.write},
                                               {"--keep", &options.keep}};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name == "--verbose" || name == "--absent") {
      (name == "--verbose" ? options.is_verbose : options.only_absent) = true;
      continue;
    }
    if (++i == arguments.size()) {
      return std::nullopt;
    }
    const std::string& value = arguments[i];
    if (const auto text = texts.find(name); text != texts.end()) {
      *text->second = value;
    } else if (name == "--seed") {
      options.seed = std::stoull(value);
    } else if (name == "--count") {
      options.count = std::stoul(value);
    } else if (name == "--only") {
      options.only = std::stoul(value);
    } else if (name == "--jobs") {
      options.jobs = std::stoul(value);
    } else {
      return std::nullopt;
    }
  }
  return options.modlock.empty() && options.write.empty() ? std::nullopt : std::optional(options);
}

// Lines of `left` that `right` lacks.
std::string only_in(const std::string& left, const std::string& right, const std::string& prefix) {
  std::istringstream lines(right);
  std::multiset<std::string> known;
  for (std::string line; std::getline(lines, line);) {
    known.insert(line);
  }
  std::string out;
  lines = std::istringstream(left);
  for (std::string line; std::getline(lines, line);) {
    if (const auto found = known.find(line); found != known.end()) {
      known.erase(found);
    } else {
      out += prefix + line + "\n";
    }
  }
  return out;
}

// Every case of one client.
class Comparison {
 public:
  Comparison(const Options& options, Client client, const Golden* golden)
      : options_(options), client_(std::move(client)), golden_(golden), rig_(client_.reader) {}

  // How many cases differ.
  std::size_t run() {
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < options_.jobs; ++i) {
      workers.emplace_back([this] {
        for (std::size_t at = next_++; at < count(); at = next_++) {
          if (!options_.only || *options_.only == at) {
            examine(at);
          }
        }
      });
    }
    for (std::thread& worker : workers) {
      worker.join();
    }
    if (!options_.write.empty()) {
      written_.write(options_.write);
    }
    fmt::print("fidelity: {} cases, {} differences ({}{}, {} accepted)\n", examined_, differences_, client_.title(),
               golden_ == nullptr ? "" : " as it once was", accepted_);
    return differences_;
  }

 private:
  std::size_t count() const { return golden_ == nullptr ? options_.count : golden_->size(); }

  void examine(std::size_t number) {
    const std::uint64_t seed = golden_ == nullptr ? options_.seed : golden_->seed();
    const Case of = make_case(seed, number, client_.reader, rig_.offers(), rig_.registry());
    const std::optional<Outcome> theirs =
        client_.program.empty() ? std::nullopt : std::optional(run_client(client_, rig_, of));
    const std::optional<Outcome> ours =
        options_.write.empty() ? std::optional(run_modlock(options_.modlock, client_, rig_, of)) : std::nullopt;
    std::string difference = judge(of, theirs, ours);
    Settled settled;
    const bool is_settled = difference.empty() && theirs && ours && of.action == Action::init;
    if (is_settled) {
      settled = run_both(options_.modlock, client_, rig_, of);
      difference = judge_settled(settled, *theirs);
    }

    const std::lock_guard lock(mutex_);
    ++examined_;
    differences_ += difference.empty() ? 0U : 1U;
    accepted_ += (theirs ? *theirs : *ours).is_accepted ? 1U : 0U;
    if (theirs) {
      written_.note(of, *theirs);
    }
    if (is_settled && !difference.empty()) {
      report(of, settled.theirs, settled.ours, difference);
    } else if (!difference.empty() || options_.is_verbose || options_.only) {
      report(of, theirs, ours, difference);
    }
  }

  std::string judge(const Case& of, const std::optional<Outcome>& theirs, const std::optional<Outcome>& ours) const {
    for (const auto& outcome : {theirs, ours}) {
      if (outcome && !outcome->trouble.empty()) {
        return outcome->trouble;
      }
    }
    if (golden_ != nullptr) {
      return golden_->differs(of, *ours);
    }
    if (!theirs || !ours) {
      return {};
    }
    if (of.is_left_to_client && !theirs->is_accepted) {
      return {};
    }
    if (theirs->is_accepted != ours->is_accepted) {
      return ours->is_accepted ? "we accept what the client refuses" : "we refuse what the client accepts";
    }
    return theirs->lock == ours->lock ? std::string() : "the lock files differ";
  }

  // A client has no reason to change what we lock where we are told nothing.
  static std::string judge_settled(const Settled& settled, const Outcome& alone) {
    for (const Outcome* outcome : {&settled.ours, &settled.theirs}) {
      if (!outcome->trouble.empty()) {
        return outcome->trouble;
      }
    }
    if (!settled.ours.is_accepted) {
      return alone.is_accepted ? "we refuse without --hashes what the client accepts" : std::string();
    }
    if (!settled.theirs.is_accepted) {
      return alone.is_accepted ? "the client refuses what we have locked" : std::string();
    }
    return settled.theirs.lock == settled.ours.lock ? std::string() : "the client changes what we have locked";
  }

  void report(const Case& of, const std::optional<Outcome>& theirs, const std::optional<Outcome>& ours,
              const std::string& difference) const {
    const auto verdict = [](const std::optional<Outcome>& outcome) {
      return !outcome ? "-" : outcome->is_accepted ? "accepted" : "refused";
    };
    fmt::print("{}: theirs {}, ours {}{}\n", of.title(), verdict(theirs), verdict(ours),
               difference.empty() ? "" : " !!! " + difference);
    if (theirs && ours) {
      fmt::print("{}{}", only_in(theirs->lock, ours->lock, "  - "), only_in(ours->lock, theirs->lock, "  + "));
    }
    if (options_.only) {
      for (const auto& [name, text] : of.files) {
        fmt::print("==== {}\n{}", name, text);
      }
    }
    for (const auto& outcome : {theirs, ours}) {
      if (outcome && (options_.only || !outcome->is_accepted)) {
        fmt::print("{}\n", options_.only ? outcome->output + "==== lock\n" + outcome->lock : outcome->output);
      }
    }
    if (!options_.keep.empty()) {
      keep(of, theirs, ours);
    }
    std::cout.flush();
  }

  void keep(const Case& of, const std::optional<Outcome>& theirs, const std::optional<Outcome>& ours) const {
    const fs::path directory = fs::path(options_.keep) / fmt::format("{:03}", of.number);
    for (const auto& [name, text] : of.files) {
      test::write_text(directory / name, text);
    }
    if (theirs) {
      test::write_text(directory / "theirs.hcl", theirs->lock);
    }
    if (ours) {
      test::write_text(directory / "ours.hcl", ours->lock);
    }
  }

  const Options& options_;
  Client client_;
  const Golden* golden_;
  Rig rig_;
  Golden written_{client_, options_.seed};
  std::mutex mutex_;
  std::atomic<std::size_t> next_ = 0;
  std::size_t examined_ = 0;
  std::size_t differences_ = 0;
  std::size_t accepted_ = 0;
};

std::vector<Client> clients(const Options& options) {
  std::vector<std::string> programs = {options.client};
  if (options.client.empty()) {
    const char* const tofu = std::getenv("MODLOCK_TEST_TOFU");
    programs = {"terraform", tofu == nullptr ? "" : tofu};
  }
  std::vector<Client> found;
  for (const std::string& program : programs) {
    const auto path = program.empty() ? std::nullopt : find_program(program);
    if (const auto client = path ? identify(path->string()) : std::nullopt) {
      found.push_back(*client);
    }
  }
  return found;
}

int result_of(std::size_t differences) {
  return differences == 0 ? 0 : 1;
}

int compare_with_goldens(const Options& options, const std::vector<Client>& here) {
  std::size_t compared = 0;
  std::size_t differences = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(options.goldens)) {
    const Golden golden = Golden::read(entry.path());
    const std::string command = golden.client().reader.command();
    const bool is_here =
        std::any_of(here.begin(), here.end(), [&](const Client& client) { return client.reader.command() == command; });
    if (!options.only_absent || !is_here) {
      ++compared;
      differences += Comparison(options, golden.client(), &golden).run();
    }
  }
  if (compared == 0) {
    fmt::print("skipped: needs a machine without tofu or terraform\n");
    return kSkipped;
  }
  return result_of(differences);
}

int run(const Options& options) {
  const std::vector<Client> found = clients(options);
  if (!options.goldens.empty()) {
    return compare_with_goldens(options, found);
  }
  if (found.empty()) {
    fmt::print("skipped: needs terraform on PATH, or tofu in MODLOCK_TEST_TOFU\n");
    return kSkipped;
  }
  std::size_t differences = 0;
  for (const Client& client : found) {
    differences += Comparison(options, client, nullptr).run();
  }
  return result_of(differences);
}

}  // namespace
}  // namespace modlock::fidelity

int main(int argc, char** argv) {
  using namespace modlock::fidelity;
  const std::optional<Options> options = parse({argv + 1, argv + argc});
  if (!options) {
    std::cerr << kHelp;
    return kUsage;
  }
  return run(*options);
}
