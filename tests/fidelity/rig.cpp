#include "tests/fidelity/rig.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace modlock::fidelity {
namespace {

namespace fs = std::filesystem;

constexpr std::array kInstallations = {Installation::registry, Installation::mirror, Installation::mirror_for_acme};

std::string file_of(Installation installation) {
  return fmt::format("client-{}.rc", static_cast<int>(installation));
}

}  // namespace

Rig::Rig(Reader reader) : reader_(reader), offers_(publish_offers(registry_)) {
  fill_mirror(registry_, offers_, path("mirror"), {reader.default_host(), kPrivateHost});
  fs::create_directories(path("home"));
  for (const Installation installation : kInstallations) {
    test::write_text(path(file_of(installation)), configuration(installation));
  }
}

std::string Rig::configuration(Installation installation) const {
  std::string text = "disable_checkpoint = true\n";
  for (const std::string& host : {reader_.default_host(), reader_.other_host(), std::string(kPrivateHost)}) {
    text += registry_.host_block(host);
  }
  text += fmt::format("host \"{}\" {{\n  services = {{}}\n}}\n", kEmptyHost);
  const std::string mirror = path("mirror").string();
  const std::string acme = reader_.default_host() + "/acme/*";
  switch (installation) {
    case Installation::mirror:
      text += fmt::format("provider_installation {{\n  filesystem_mirror {{\n    path = \"{}\"\n  }}\n}}\n", mirror);
      break;
    case Installation::mirror_for_acme:
      text += fmt::format(
          "provider_installation {{\n  filesystem_mirror {{\n    path    = \"{}\"\n    include = [\"{}\"]\n  }}\n"
          "  direct {{\n    exclude = [\"{}\"]\n  }}\n}}\n",
          mirror, acme, acme);
      break;
    case Installation::registry:
      break;
  }
  return text;
}

fs::path Rig::write(const Case& of, const std::string& name) const {
  const fs::path directory = path("cases") / name;
  for (const auto& [file, text] : of.files) {
    test::write_text(directory / file, text);
  }
  return directory;
}

std::map<std::string, std::string> Rig::environment(const Case& of) const {
  std::map<std::string, std::string> environment = of.environment;
  environment["HOME"] = path("home").string();
  environment["LANG"] = "C.UTF-8";
  environment["CHECKPOINT_DISABLE"] = "1";
  environment["TF_CLI_CONFIG_FILE"] = path(file_of(of.installation)).string();
  return environment;
}

}  // namespace modlock::fidelity
