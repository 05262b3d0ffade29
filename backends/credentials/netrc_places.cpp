#include "backends/credentials/netrc_places.h"

#include <fmt/format.h>

#include "backends/files/files.h"

namespace modlock {

namespace fs = std::filesystem;

NetrcPlaces::File NetrcPlaces::read() const {
  const std::string_view variable = surroundings_.variable("NETRC");
  if (variable.empty() && surroundings_.home.empty()) {
    return {.name = "~/.netrc", .absent = "no home directory is known"};
  }
  const fs::path path = variable.empty() ? surroundings_.home / ".netrc" : surroundings_.absolute(fs::path(variable));
  File file{.name = surroundings_.display(path)};
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

Lookup NetrcPlaces::look(std::string_view host) {
  std::call_once(read_, [this]() { file_ = read(); });
  Lookup lookup;
  lookup.failure = file_.failure;
  const NetrcMachine* machine = find_machine(file_.machines, host);
  if (file_.failure) {
    lookup.add("file " + file_.name, "not usable: " + file_.failure->message);
  } else if (!file_.absent.empty()) {
    lookup.add("file " + file_.name, file_.absent);
  } else if (machine == nullptr) {
    lookup.add("file " + file_.name, fmt::format("no entry for {}", host));
  } else {
    lookup.found = {.secret = BasicCredential{machine->login, machine->password},
                    .from = fmt::format("{} in {}:{}", machine->name.empty() ? "default" : "machine " + machine->name,
                                        file_.name, machine->line)};
    lookup.add(lookup.found.from, "used");
  }
  return lookup;
}

}  // namespace modlock
