#include "plugin/client/client_configuration.h"

#include <fmt/format.h>

#include "backends/address/hostname.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "plugin/client/client_configuration_providers.h"
#include "plugin/client/hcl1.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

using hcl1::Case;
using hcl1::Entry;

constexpr std::string_view kHint = "the client ignores it too; fix it";

void warn(ClientConfiguration& configuration, Error error) {
  error.hint = kHint;
  configuration.warnings.push_back({Severity::warning, std::move(error)});
}

// Reads one file. A problem ends the reading of its registry part; the settings read before it are kept, as in
// OpenTofu's own decoder.
class FileReader {
 public:
  FileReader(const hcl1::File& file, std::string name, ClientConfiguration& out)
      : file_(file), name_(std::move(name)), out_(out), entries_(hcl1::entries_of(file.items)) {}

  Result<void> read_registry_part() {
    MODLOCK_TRY(read_type("host", &FileReader::read_hosts));
    MODLOCK_TRY(read_type("credentials", &FileReader::read_tokens));
    return read_type("credentials_helper", &FileReader::read_helpers);
  }

  // Settings for registry requests. In the client the settings of the configuration directory always lose against its
  // own defaults, so only the main file is used.
  Result<void> read_registry_protocols() {
    const std::vector<Entry> blocks = hcl1::select(entries_, "registry_protocols", Case::exact);
    if (blocks.empty()) {
      return {};
    }
    if (blocks.size() > 1) {
      warn(out_, hcl1::wrong(name_, blocks[1].item->at, "a second registry_protocols block").value());
    }
    MODLOCK_TRY(auto body, hcl1::open({blocks.front()}, file_, name_));
    MODLOCK_TRY(const auto count, hcl1::integer_argument(body, "retry_count", name_));
    MODLOCK_TRY(const auto seconds, hcl1::integer_argument(body, "request_timeout_seconds", name_));
    out_.retry_count = count;
    if (seconds) {
      out_.request_timeout = std::chrono::seconds(*seconds);
    }
    return {};
  }

 private:
  std::string from(const Entry& entry) const { return fmt::format("{}:{}", name_, entry.item->at.line); }

  // The content of one label.
  struct Labelled {
    std::string label;
    std::vector<Entry> entries;
  };

  static std::vector<Labelled> by_label(const std::vector<Entry>& entries) {
    std::vector<Labelled> blocks;
    std::map<std::string_view, std::size_t> index;
    for (const Entry& entry : entries) {
      const std::string& label = entry.keys.front();
      const auto [known, is_new] = index.try_emplace(label, blocks.size());
      if (is_new) {
        blocks.push_back({label, {}});
      }
      blocks[known->second].entries.push_back(
          {.keys = entry.keys.subspan(1), .value = entry.value, .item = entry.item});
    }
    return blocks;
  }

  // Reads the blocks of a type: those with a label first, as the client does, then the content of those without.
  Result<void> read_type(std::string_view type, Result<void> (FileReader::*read)(const std::vector<Labelled>& blocks)) {
    std::vector<Entry> with_label;
    std::vector<Entry> without;
    for (const Entry& entry : hcl1::select(entries_, type, Case::folded)) {
      (entry.keys.empty() ? without : with_label).push_back(entry);
    }
    auto ok = (this->*read)(by_label(with_label));
    for (const Entry& entry : without) {
      const auto opened = ok ? hcl1::open({entry}, file_, name_) : fail(ok.error());
      ok = opened ? (this->*read)(by_label(*opened)) : fail(opened.error());
    }
    return ok;
  }

  std::optional<std::string> host_of(const Labelled& block, std::string_view type) {
    const auto host = parse_service_host(block.label);
    if (!host) {
      const hcl1::Place at = block.entries.front().item->at;
      warn(out_, hcl1::wrong(name_, at, fmt::format("{} \"{}\" names no host", type, block.label)).value());
      return std::nullopt;
    }
    return host->ascii;
  }

  Result<void> read_hosts(const std::vector<Labelled>& blocks) {
    std::map<std::string, ClientConfiguration::Host> hosts;
    for (const Labelled& block : blocks) {
      auto body = hcl1::open(block.entries, file_, name_);
      MODLOCK_TRY(auto services, body ? hcl1::open(hcl1::select(*body, "services", Case::folded), file_, name_) : body);
      ClientConfiguration::Host host{.services = {}, .from = from(block.entries.front())};
      for (const Entry& service : services) {
        if (service.keys.size() == 1 && service.value->kind == hcl1::Value::Kind::string) {
          host.services[service.keys.front()] = service.value->text;
        }
      }
      if (const auto name = host_of(block, "host")) {
        hosts.insert_or_assign(*name, std::move(host));
      }
    }
    for (auto& [name, host] : hosts) {
      out_.hosts.insert_or_assign(name, std::move(host));
    }
    return {};
  }

  Result<void> read_tokens(const std::vector<Labelled>& blocks) {
    std::map<std::string, ClientConfiguration::Token> tokens;
    for (const Labelled& block : blocks) {
      MODLOCK_TRY(const auto body, hcl1::open(block.entries, file_, name_));
      ClientConfiguration::Token token{.token = {}, .from = from(block.entries.front())};
      for (const Entry& entry : hcl1::select(body, "token", Case::exact)) {
        if (entry.keys.empty() && entry.value->kind == hcl1::Value::Kind::string) {
          token = {SecretText(entry.value->text), from(entry)};
        }
      }
      if (const auto name = host_of(block, "credentials")) {
        tokens.insert_or_assign(*name, std::move(token));
      }
    }
    for (auto& [name, token] : tokens) {
      out_.tokens.insert_or_assign(name, std::move(token));
    }
    return {};
  }

  Result<void> read_helpers(const std::vector<Labelled>& blocks) {
    for (const Labelled& block : blocks) {
      const auto body = hcl1::open(block.entries, file_, name_);
      MODLOCK_TRY(auto arguments, body ? hcl1::list_argument(*body, "args", name_) : fail(body.error()));
      ClientConfiguration::Helper helper{.name = block.label,
                                         .arguments = arguments.value_or(std::vector<std::string>()),
                                         .directories = {},
                                         .from = from(block.entries.front())};
      if (!out_.helper || out_.helper->name == block.label) {
        out_.helper = std::move(helper);
        continue;
      }
      warn(out_, hcl1::wrong(name_, block.entries.front().item->at,
                             fmt::format("a second credentials_helper, \"{}\", next to \"{}\" in {}", block.label,
                                         out_.helper->name, out_.helper->from))
                     .value());
    }
    return {};
  }

  const hcl1::File& file_;
  std::string name_;
  ClientConfiguration& out_;
  std::vector<Entry> entries_;
};

void read_file_into(ClientConfiguration& configuration, const ClientConfigurationFile& given, ClientKind tool,
                    const ProcessEnvironment& environment) {
  const std::string name = environment.display(given.path);
  const auto text = read_file(given.path);
  if (!text) {
    warn(configuration, text.error());
    return;
  }
  const bool is_opentofu = tool == ClientKind::opentofu;
  const auto file = hcl1::parse(*text, name, is_opentofu ? hcl1::Duplicates::refused : hcl1::Duplicates::last_counts);
  if (!file) {
    warn(configuration, file.error());
    return;
  }
  configuration.files.push_back(name);
  ClientConfiguration before = is_opentofu ? ClientConfiguration{} : configuration;
  FileReader reader(*file, name, configuration);
  if (auto ok = reader.read_registry_part(); !ok) {
    if (!is_opentofu) {
      configuration = std::move(before);  // Terraform keeps nothing of such a file
    }
    warn(configuration, std::move(ok.error()));
    return;
  }
  const auto cache = hcl1::string_argument(hcl1::entries_of(file->items), "plugin_cache_dir", name);
  if (!cache) {
    warn(configuration, cache.error());
  } else if (configuration.plugin_cache_directory.empty()) {
    configuration.plugin_cache_directory = cache->value_or("");
  }
  for (Diagnostic& warning : read_provider_installation(*file, name, tool, configuration)) {
    warn(configuration, std::move(warning.what));
  }
  if (!is_opentofu) {
    return;
  }
  if (auto ok = given.is_main ? reader.read_registry_protocols() : Result<void>(); !ok) {
    warn(configuration, std::move(ok.error()));
  }
  Diagnostics warnings = read_oci_configuration(*file, given.path.parent_path(), name, configuration);
  for (Diagnostic& warning : warnings) {
    warn(configuration, std::move(warning.what));
  }
}

}  // namespace

ClientConfiguration read_client_configuration(ClientKind tool, const ProcessEnvironment& environment,
                                              std::vector<std::string> credential_programs) {
  ClientConfiguration configuration{.credential_programs = std::move(credential_programs)};
  for (const ClientConfigurationFile& file : client_configuration_files(tool, environment, configuration.warnings)) {
    read_file_into(configuration, file, tool, environment);
  }
  configuration.plugin_cache_directory = plugin_cache_directory(configuration.plugin_cache_directory, environment);
  if (const std::string& cache = configuration.plugin_cache_directory; !cache.empty() && !path_exists(cache)) {
    warn(configuration,
         {.code = Code::config_parse,
          .message = fmt::format("the specified plugin cache dir {} cannot be opened", environment.display(cache))});
  }
  if (configuration.helper) {
    configuration.helper->directories = helper_directories(tool, environment);
  }
  return configuration;
}

std::string client_configuration_state(ClientKind tool, const ProcessEnvironment& environment) {
  std::string state;
  Diagnostics ignored;
  for (const ClientConfigurationFile& file : client_configuration_files(tool, environment, ignored)) {
    const auto text = read_file(file.path);
    state += fmt::format("{}\n{}\n", file.path.string(), text ? sha256_hex(*text) : text.error().message);
  }
  return sha256_hex(state);
}

}  // namespace modlock
