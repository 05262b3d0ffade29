#include "backends/providers/local_providers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backends/address/source.h"
#include "backends/address/source_text.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

struct Name {
  std::string text;
  fs::file_type type;  // of the entry itself, be it a link
};

// The entries of a directory by name, as Go's filepath.Walk meets them.
Result<std::vector<Name>> names_in(const fs::path& directory) {
  std::vector<Name> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    names.push_back({entry->path().filename().string(), entry->symlink_status(ignored).type()});
  }
  if (error) {
    return fail(Code::io_error, fmt::format("cannot search {}: {}", directory.string(), error.message()),
                "name a directory that holds provider packages and can be read");
  }
  std::sort(names.begin(), names.end(), [](const Name& left, const Name& right) { return left.text < right.text; });
  return names;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

std::optional<LocalProvider> package(std::string_view version, std::string_view platform, fs::path path, bool packed) {
  auto read_version = ProviderVersion::parse(version);
  auto read_platform = Platform::parse(platform);
  if (!read_version || !read_platform) {
    return std::nullopt;
  }
  return LocalProvider{std::move(*read_version), std::move(*read_platform), std::move(path), packed};
}

std::optional<LocalProvider> archive(const fs::path& path, const std::string& type) {
  const std::string name = lower(path.filename().string());
  const std::string prefix = fmt::format("terraform-provider-{}_", type);
  constexpr std::string_view kSuffix = ".zip";
  if (name.size() < prefix.size() + kSuffix.size() || !name.starts_with(prefix) || !name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  const auto parts =
      split(std::string_view(name).substr(prefix.size(), name.size() - prefix.size() - kSuffix.size()), '_');
  return parts.size() < 3 ? std::nullopt : package(parts[0], fmt::format("{}_{}", parts[1], parts[2]), path, true);
}

class Finder {
 public:
  Result<LocalProviders> run(const fs::path& directory) {
    MODLOCK_TRY(const auto hosts, names_in(directory));
    for (const Name& host : hosts) {
      MODLOCK_TRY(enter(directory, host, [&](const fs::path& path) { return read_host(path, host.text); }));
    }
    return std::move(found_);
  }

 private:
  template <typename Read>
  static Result<void> enter(const fs::path& parent, const Name& name, Read read) {
    return name.type == fs::file_type::directory ? read(parent / name.text) : Result<void>();
  }

  Result<void> read_host(const fs::path& directory, const std::string& host) {
    MODLOCK_TRY(const auto namespaces, names_in(directory));
    for (const Name& name_space : namespaces) {
      auto ok = enter(directory, name_space, [&](const fs::path& path) -> Result<void> {
        MODLOCK_TRY(const auto types, names_in(path));
        for (const Name& type : types) {
          const auto provider =
              ProviderAddress::parse(fmt::format("{}/{}/{}", host, name_space.text, type.text), kOpenTofuRegistry);
          if (!provider) {
            continue;
          }
          if (auto read = enter(path, type, [&](const fs::path& at) { return read_type(at, *provider); }); !read) {
            return read;
          }
        }
        return {};
      });
      if (!ok) {
        return ok;
      }
    }
    return {};
  }

  Result<void> read_type(const fs::path& directory, const ProviderAddress& provider) {
    MODLOCK_TRY(const auto names, names_in(directory));
    for (const Name& name : names) {
      const fs::path path = directory / name.text;
      std::error_code ignored;
      if (name.type == fs::file_type::directory) {
        if (auto ok = read_version(path, provider); !ok) {
          return ok;
        }
      } else if (const auto status = fs::status(path, ignored);
                 fs::exists(status) && status.type() != fs::file_type::directory) {
        add(provider, archive(path, provider.type()));
      }
    }
    return {};
  }

  Result<void> read_version(const fs::path& directory, const ProviderAddress& provider) {
    MODLOCK_TRY(const auto names, names_in(directory));
    for (const Name& name : names) {
      std::error_code ignored;
      const fs::path path = directory / name.text;
      if (fs::is_directory(path, ignored)) {
        add(provider, package(directory.filename().string(), name.text, path, false));
      }
    }
    return {};
  }

  void add(const ProviderAddress& provider, std::optional<LocalProvider> local) {
    if (local) {
      found_[provider].push_back(std::move(*local));
    }
  }

  LocalProviders found_;
};

}  // namespace

Result<LocalProviders> find_local_providers(const fs::path& directory) {
  return Finder().run(directory);
}

}  // namespace modlock
