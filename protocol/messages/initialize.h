#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/fields.h"

namespace modlock::messages {

inline constexpr std::string_view kProtocolVersion = "1.0";

// A program that serves another kind of sources (docs/backends.md).
struct ExternalBackend {
  std::string scheme;
  std::vector<std::string> command;
  std::vector<std::string> hosts;
};

struct InitializeParams {
  std::vector<std::string> protocol_versions;
  std::optional<std::string> client_name;
  std::optional<std::string> client_version;
  std::optional<std::int64_t> process_id;
  std::optional<bool> progress;
  std::optional<bool> log_message;
  std::optional<std::uint64_t> max_message_bytes;
  std::optional<std::string> log_level;
  std::vector<std::string> workspace_roots;
  std::vector<std::string> edit_forms;  // "fullText", "ranges"; empty: both
  std::optional<std::string> implementation;
  std::optional<std::string> implementation_version;
  std::optional<bool> offline;
  std::optional<std::string> cache_dir;
  std::optional<std::string> config_file;
  std::vector<ExternalBackend> backends;
};

constexpr TypeName name_of(const ExternalBackend*) {
  return {"ExternalBackend", "A program that serves a further kind of sources."};
}
template <typename Form>
void fields(Form& form, In<Form, ExternalBackend> backend) {
  form.member("scheme", backend.scheme,
              "of the sources, `hg`; with hosts, a built-in kind: `git`, `registry`, `oci`, `archive`, `s3`, `gcs`");
  form.member("command", backend.command, "an absolute path and arguments");
  form.optional("hosts", backend.hosts, "it serves only the sources at these hosts, `git.example.com`");
}

template <typename Form>
void fields(Form& form, In<Form, InitializeParams> params) {
  form.member("protocolVersions", params.protocol_versions, "those that the host speaks; must hold `1.0`");
  form.optional_group("clientInfo", "who the host is", [&](auto& client) {
    client.optional("name", params.client_name, "its name");
    client.optional("version", params.client_version, "its version");
  });
  form.optional("processId", params.process_id,
                "when this process ends, so does the session; one that does not exist is a warning in the log");
  form.optional_group("capabilities", "what the host can do", [&](auto& capabilities) {
    capabilities.optional("progress", params.progress, "it understands `$/progress`; a token in a request enables it");
    capabilities.optional("logMessage", params.log_message, "it wants `log/message`");
    capabilities.optional("editForms", params.edit_forms, "the forms of edits that it can apply; absent: both",
                          {"fullText", "ranges"});
  });
  form.optional_group("limits", "what the host can take", [&](auto& limits) {
    limits.optional("maxMessageBytes", params.max_message_bytes,
                    "its longest line; a longer response is replaced by LIMIT_EXCEEDED");
  });
  form.optional("workspaceRoots", params.workspace_roots,
                "absolute directories, or their `file://` URIs, that reads stay inside of");
  form.optional_group("options", "what holds for the whole session", [&](auto& options) {
    options.optional("implementation", params.implementation, "the client that will run", {"opentofu", "terraform"});
    options.optional("implementationVersion", params.implementation_version, "its release, `1.12.6`");
    options.optional("offline", params.offline, "send no request; what the cache lacks is OFFLINE_MISS");
    options.optional("cacheDir", params.cache_dir, "in place of this user's cache");
    options.optional("configFile", params.config_file, "in place of this user's settings");
    options.optional("logLevel", params.log_level, "what is logged; warning at the start",
                     {"error", "warning", "info", "debug"});
    options.optional("backends", params.backends,
                     "further kinds of sources; they go before those of the user's settings");
  });
}

// Errors: INVALID_PARAMS, also if there is no common protocol version.
Result<InitializeParams> decode_initialize(const Json::Value& params, std::vector<std::string>& unknown);

struct InitializeResult {
  std::string server_version;
  std::vector<std::string> methods;
  std::vector<std::string> backends;
  std::size_t max_in_flight = 0;
  std::size_t max_message_bytes = 0;
  std::string implementation;          // "opentofu" or "terraform"
  std::string implementation_version;  // empty: not known
  std::string implementation_from;     // how it was determined
};

template <typename Form>
void fields(Form& form, In<Form, InitializeResult> result) {
  form.member("protocolVersion", kProtocolVersion, "the version that is spoken from now on");
  form.group("serverInfo", "who we are", [&](auto& server) {
    server.member("name", "tofu-modlock", "always `tofu-modlock`");
    server.member("version", result.server_version, "the release");
  });
  form.group("capabilities", "what this build serves", [&](auto& capabilities) {
    capabilities.member("methods", result.methods, "every method, also those of the session");
    capabilities.member("backends", result.backends, "every kind of source");
    capabilities.member("editForms", std::vector<std::string>{"fullText", "ranges"}, "every form of edits",
                        {"fullText", "ranges"});
    capabilities.member("maxInFlight", result.max_in_flight, "how many requests run at once");
  });
  form.group("limits", "the limits of this process",
             [&](auto& limits) { limits.member("maxMessageBytes", result.max_message_bytes, "our longest line"); });
  form.group("implementation", "the client that configurations are read for", [&](auto& implementation) {
    implementation.member("name", result.implementation, "which", {"opentofu", "terraform"});
    implementation.member("version", result.implementation_version, "its release; empty: not known yet");
    implementation.member("from", result.implementation_from, "the evidence for it");
  });
}

}  // namespace modlock::messages
