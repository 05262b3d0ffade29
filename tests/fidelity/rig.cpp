#include "tests/fidelity/rig.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "tests/fidelity/mirrors.h"

namespace modlock::fidelity {
namespace {

namespace fs = std::filesystem;

std::string file_of(Installation installation) {
  return fmt::format("client-{}.rc", static_cast<int>(installation));
}

std::string method(const std::string& name, const std::string& arguments) {
  return fmt::format("  {} {{\n{}  }}\n", name, arguments);
}

std::string argument(const std::string& name, const std::string& value) {
  return fmt::format("    {} = \"{}\"\n", name, value);
}

}  // namespace

Rig::Rig(Reader reader) : reader_(reader), offers_(publish_offers(registry_)) {
  const std::vector<std::string> hosts = {reader.default_host(), kPrivateHost};
  fill_mirror(registry_, offers_, path("mirror"), hosts);
  network_mirror_url_ = serve_mirror(registry_, offers_, network_mirror_, hosts);
  oci_mirror_template_ = push_mirror(registry_, offers_, oci_mirror_, hosts);
  fs::create_directories(path("home"));
  std::vector<Offer> of_acme;
  std::copy_if(offers_.begin(), offers_.end(), std::back_inserter(of_acme),
               [](const Offer& offer) { return offer.name.starts_with("acme/"); });
  fill_mirror(registry_, of_acme, path("home-with-plugins/.terraform.d/plugins"), {reader.default_host()});
  for (int i = 0; i <= static_cast<int>(kLastInstallation); ++i) {
    const auto installation = static_cast<Installation>(i);
    test::write_text(path(file_of(installation)), configuration(installation));
  }
}

std::string Rig::configuration(Installation installation) const {
  std::string text = "disable_checkpoint = true\n";
  for (const std::string& host : {reader_.default_host(), reader_.other_host(), std::string(kPrivateHost)}) {
    text += registry_.host_block(host);
  }
  text += fmt::format("host \"{}\" {{\n  services = {{}}\n}}\n", kEmptyHost);
  const std::string methods = installation_block(installation);
  return methods.empty() ? text : text + fmt::format("provider_installation {{\n{}}}\n", methods);
}

std::string Rig::installation_block(Installation installation) const {
  const std::string path_argument = argument("path", path("mirror").string());
  const std::string url_argument = argument("url", network_mirror_url_);
  const std::string acme = fmt::format(" = [\"{}/acme/*\"]\n", reader_.default_host());
  const std::string the_rest = method("direct", "    exclude" + acme);
  switch (installation) {
    case Installation::mirror:
      return method("filesystem_mirror", path_argument);
    case Installation::mirror_for_acme:
      return method("filesystem_mirror", path_argument + "    include" + acme) + the_rest;
    case Installation::network_mirror:
      return method("network_mirror", url_argument);
    case Installation::network_mirror_for_acme:
      return method("network_mirror", url_argument + "    include" + acme) + the_rest;
    case Installation::trusted_network_mirror:
      return method("network_mirror", url_argument + "    trust_all_hashes = true\n");
    case Installation::oci_mirror:
      return method("oci_mirror", argument("repository_template", oci_mirror_template_));
    case Installation::mirrors_and_registry:
      return method("network_mirror", url_argument) + method("filesystem_mirror", path_argument) + method("direct", "");
    case Installation::overrides_and_registry:
      return method("dev_overrides", fmt::format("    \"hashicorp/alpha\" = \"{}\"\n", path("home").string())) +
             method("direct", "");
    case Installation::implied_directory:
    case Installation::registry:
      break;
  }
  return {};
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
  const bool has_plugins = of.installation == Installation::implied_directory;
  environment["HOME"] = path(has_plugins ? "home-with-plugins" : "home").string();
  environment["LANG"] = "C.UTF-8";
  environment["CHECKPOINT_DISABLE"] = "1";
  environment["SSL_CERT_FILE"] = authority_.certificate().string();
  environment["TF_CLI_CONFIG_FILE"] = path(file_of(of.installation)).string();
  return environment;
}

}  // namespace modlock::fidelity
