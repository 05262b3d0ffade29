#include "backends/credentials/netrc_credential_finder.h"

#include <fmt/format.h>

#include "backends/base/files.h"

namespace modlock {

namespace fs = std::filesystem;

namespace {

// Empty where no home directory is known.
std::vector<fs::path> path_of_netrc(const ProcessEnvironment& environment) {
  const std::string_view variable = environment.variable("NETRC");
  if (!variable.empty()) {
    return {environment.absolute(fs::path(variable))};
  }
  return environment.home.empty() ? std::vector<fs::path>{} : std::vector<fs::path>{environment.home / ".netrc"};
}

}  // namespace

NetrcCredentialFinder::NetrcCredentialFinder(const ProcessEnvironment& environment)
    : environment_(environment), file_(path_of_netrc(environment)) {}

NetrcCredentialFinder::File NetrcCredentialFinder::read() const {
  if (file_.paths().empty()) {
    return {.name = "~/.netrc", .absent = "no home directory is known"};
  }
  const fs::path& path = file_.paths().front();
  File file{.name = environment_.display(path)};
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    file.absent = "not there";
    return file;
  }
  if (status.type() == fs::file_type::directory) {
    file.absent = "it is a directory";
    return file;
  }
  const auto text = read_file(path);
  if (!text) {
    file.failure = text.error();
    return file;
  }
  auto machines = parse_netrc(*text, file.name);
  if (!machines) {
    file.failure = std::move(machines.error());
    return file;
  }
  file.machines = std::move(*machines);
  return file;
}

CredentialLookup NetrcCredentialFinder::look(std::string_view host) {
  const std::shared_ptr<const File> file = file_.get([this]() { return read(); });
  CredentialLookup lookup;
  lookup.failure = file->failure;
  const NetrcMachine* machine = find_machine(file->machines, host);
  if (file->failure) {
    lookup.add("file " + file->name, "not usable: " + file->failure->message);
  } else if (!file->absent.empty()) {
    lookup.add("file " + file->name, file->absent);
  } else if (machine == nullptr) {
    lookup.add("file " + file->name, fmt::format("no entry for {}", host));
  } else {
    lookup.found = {.secret = BasicCredential{machine->login, machine->password},
                    .from = fmt::format("{} in {}:{}", machine->name.empty() ? "default" : "machine " + machine->name,
                                        file->name, machine->line)};
    lookup.add(lookup.found.from, "used");
  }
  return lookup;
}

}  // namespace modlock
