#include "backends/credentials/netrc_credential_finder.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/base/files.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSpaces = " \t\n\v\f\r";

struct Word {
  std::string_view text;          // empty at the end
  bool after_empty_line = false;  // whether an empty line precedes it
};

class NetrcReader {
 public:
  NetrcReader(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  Result<std::vector<NetrcMachine>> read() {
    for (Word word = next(); !word.text.empty(); word = next()) {
      MODLOCK_TRY(read_word(word));
    }
    finish_machine();
    return std::move(machines_);
  }

 private:
  Word next() {
    const std::size_t start = std::min(rest_.find_first_not_of(kSpaces), rest_.size());
    const std::string_view spaces = rest_.substr(0, start);
    line_ += static_cast<std::size_t>(std::ranges::count(spaces, '\n'));
    Word word{.text = {}, .after_empty_line = spaces.find("\n\n") != std::string_view::npos};
    rest_.remove_prefix(start);
    word.text = rest_.substr(0, rest_.starts_with('#') ? rest_.find('\n') : rest_.find_first_of(kSpaces));
    rest_.remove_prefix(word.text.size());
    return word;
  }

  std::string value() {
    const std::string_view text = next().text;
    return std::string(text.substr(0, text.find_last_not_of(kSpaces) + 1));
  }

  tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(Code::config_parse, fmt::format("{}:{}: {}", name_, line_, what),
                "write entries as: machine example.com login NAME password SECRET");
  }

  Result<void> read_word(const Word& word) {
    const bool is_comment = word.text.starts_with('#');
    const bool is_keyword = is_comment || word.text == "machine" || word.text == "default" || word.text == "login" ||
                            word.text == "password" || word.text == "account" || word.text == "macdef";
    if (!is_keyword) {
      return in_macro_ ? Result<void>() : wrong("expected a keyword (machine, default, login, password, account)");
    }
    in_macro_ = in_macro_ && !word.after_empty_line;
    if (word.text == "macdef") {
      value();
      in_macro_ = true;
    } else if (word.text == "machine" || word.text == "default") {
      return start_machine(word.text == "default");
    } else if (!is_comment) {
      return set(word.text);
    }
    return {};
  }

  Result<void> start_machine(bool is_default) {
    if (default_seen_) {
      return wrong(is_default ? "a second default entry" : "a machine after the default entry, which must be the last");
    }
    finish_machine();
    machine_.emplace(NetrcMachine{.name = {}, .login = {}, .password = {}, .line = line_});
    default_seen_ = is_default;
    if (!is_default) {
      machine_->name = value();
    }
    return {};
  }

  Result<void> set(std::string_view keyword) {
    if (!machine_) {
      return wrong(fmt::format("a {} before any machine", keyword));
    }
    SecretText& place = keyword == "login" ? machine_->login : keyword == "password" ? machine_->password : account_;
    if (!place.empty()) {
      return wrong(fmt::format("a second {} for one machine", keyword));
    }
    place = SecretText(value());
    return {};
  }

  void finish_machine() {
    if (machine_) {
      machines_.push_back(std::move(*machine_));
      machine_.reset();
    }
    account_ = SecretText();
  }

  std::string_view rest_;
  std::string_view name_;
  std::size_t line_ = 1;
  bool in_macro_ = false;
  bool default_seen_ = false;
  std::optional<NetrcMachine> machine_;
  SecretText account_;
  std::vector<NetrcMachine> machines_;
};

}  // namespace

Result<std::vector<NetrcMachine>> parse_netrc(std::string_view text, std::string_view name) {
  return NetrcReader(text, name).read();
}

const NetrcMachine* find_machine(const std::vector<NetrcMachine>& machines, std::string_view host) {
  const NetrcMachine* fallback = nullptr;
  for (const NetrcMachine& machine : machines) {
    if (machine.name == host) {
      return &machine;
    }
    if (machine.name.empty()) {
      fallback = &machine;
    }
  }
  return fallback;
}

CredentialLookup find_in_netrc(const ProcessEnvironment& environment, std::string_view host) {
  CredentialLookup lookup;
  const std::string_view variable = environment.variable("NETRC");
  if (variable.empty() && environment.home.empty()) {
    lookup.add("file ~/.netrc", "no home directory is known");
    return lookup;
  }
  const fs::path path = variable.empty() ? environment.home / ".netrc" : environment.absolute(fs::path(variable));
  const std::string name = environment.display(path);
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    lookup.add("file " + name, "it is a directory");
    return lookup;
  }
  const auto text = read_file(path);
  const auto machines = text ? parse_netrc(*text, name) : fail(text.error());
  if (!text && text.error().code == Code::not_found) {
    lookup.add("file " + name, "not found");
  } else if (!machines) {
    lookup.failure = machines.error();
    lookup.add("file " + name, "not usable: " + lookup.failure->message);
  } else if (const NetrcMachine* machine = find_machine(*machines, host); machine == nullptr) {
    lookup.add("file " + name, fmt::format("no entry for {}", host));
  } else {
    lookup.found = {.secret = BasicCredential{machine->login, machine->password},
                    .from = fmt::format("{} in {}:{}", machine->name.empty() ? "default" : "machine " + machine->name,
                                        name, machine->line)};
    lookup.add(lookup.found.from, "used");
  }
  return lookup;
}

}  // namespace modlock
