#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "plugin/bundle/bundle.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> in_the_way(const fs::path& path, std::string_view why) {
  return fail(Code::invalid_params, fmt::format("\"{}\" {}", path.string(), why), "name another path, or remove it");
}

// Makes directories below `base`, without following links.
Result<void> make_directories_below(const fs::path& base, const fs::path& relative) {
  MODLOCK_TRY(make_directories(base));
  fs::path directory = base;
  for (const fs::path& part : relative) {
    directory /= part;
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(directory, error))) {
      return in_the_way(directory, "is a link");
    }
    MODLOCK_TRY(make_directories(directory));
  }
  return {};
}

// Copies an archive to a file of the mirror. A file with the same content stays.
Result<void> place_archive(const fs::path& archive, const std::string& digest, const fs::path& target) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(target, error))) {
    const auto found = fs::is_regular_file(target, error) ? sha256_file(target) : fail(Error{});
    return found && "sha256:" + hex(*found) == digest ? Result<void>() : in_the_way(target, "has other content");
  }
  MODLOCK_TRY(const auto file, MappedFile::open(archive));
  return write_file_atomically(target, file.content());
}

// Returns a CLI configuration in which all providers come from a directory. Errors: INVALID_PARAMS (a control character
// in its path).
Result<std::string> configuration_of(const fs::path& mirror) {
  const std::string path = mirror.string();
  if (std::ranges::any_of(path, [](unsigned char character) { return character < ' '; })) {
    return in_the_way(mirror, "has a control character");
  }
  return fmt::format(
      "# Written by tofu-modlock bundle unpack.\n"
      "provider_installation {{\n  filesystem_mirror {{\n    path = {}\n  }}\n}}\n",
      in_quotes(path));
}

Result<void> place_configuration(const fs::path& file, const std::string& text) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(file, error))) {
    const auto present = read_file(file);
    return present && *present == text ? Result<void>() : in_the_way(file, "has other content");
  }
  MODLOCK_TRY(make_directories(file.parent_path()));
  return write_file_atomically(file, text);
}

}  // namespace

Result<void> unpack_providers(Bundle& bundle, const UnpackOptions& options, const remote::ClosureSink& sink,
                              const Context& context) {
  MODLOCK_TRY(const auto text, configuration_of(options.provider_mirror));
  std::vector<remote::NamedClosure> closures;  // without their packages, which may need much memory
  const auto add = [&](const remote::NamedClosure& one) {
    closures.push_back({one.tag, {.packages = {}, .providers = one.closure.providers}});
  };
  MODLOCK_TRY(read_closures(bundle, Verify::no, {}, add, context));
  MODLOCK_TRY(const auto providers, remote::providers_of(closures));
  if (providers.empty()) {
    return fail(Code::invalid_params, fmt::format("the bundle \"{}\" has no providers", options.bundle.string()),
                "create it with --providers");
  }
  for (const remote::BundledProvider& provider : providers) {
    MODLOCK_TRY(make_directories_below(options.provider_mirror, provider.address));
    const std::string type = provider.address.substr(provider.address.rfind('/') + 1);
    for (const auto& [platform, archive] : provider.archives) {
      MODLOCK_TRY(context.check());
      MODLOCK_TRY(const auto file, bundle.find(archive.layer, provider.address, {}));
      MODLOCK_TRY(place_archive(file, archive.layer.digest,
                                options.provider_mirror / provider.address /
                                    fmt::format("terraform-provider-{}_{}_{}.zip", type, provider.version, platform)));
    }
  }
  MODLOCK_TRY(place_configuration(options.cli_configuration, text));
  std::ranges::for_each(closures, sink);
  return {};
}

}  // namespace modlock
