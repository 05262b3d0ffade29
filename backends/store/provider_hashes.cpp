#include "backends/store/provider_hashes.h"

#include <fmt/ranges.h>
#include <json/value.h>

#include <algorithm>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "protocol/base/json.h"
#include "protocol/messages/fields.h"

namespace modlock {
namespace {

constexpr std::string_view kScheme = "zh:";

// Returns the digest in a hash text, for use as a file name; empty if the text is invalid.
std::string_view digest_of(std::string_view zh) {
  return ProviderHashes::is_digest(zh) ? zh.substr(kScheme.size()) : std::string_view();
}

}  // namespace

template <typename Form>
void fields(Form& form, In<Form, ProviderArchiveHashes> archive) {
  form.member("zh", archive.zh);
  form.member("size", archive.size);
  form.member("h1", archive.h1);
  form.member("archive_h1", archive.archive_h1);
  form.member("plain", archive.is_plain);
  form.member("programs", archive.programs);
}

bool ProviderHashes::is_digest(std::string_view zh) {
  return zh.size() == kScheme.size() + 64 && zh.starts_with(kScheme) &&
         zh.find_first_not_of("0123456789abcdef", kScheme.size()) == std::string_view::npos;
}

std::optional<ProviderArchiveHashes> ProviderHashes::find(std::string_view zh) const {
  const std::string_view digest = digest_of(zh);
  if (digest.empty()) {
    return std::nullopt;
  }
  std::vector<std::string> unknown;
  const auto archive =
      read_file(store_.hash_directory() / digest)
          .and_then([](const std::string& bytes) { return parse_json(bytes); })
          .and_then([&](const Json::Value& record) { return decode_params<ProviderArchiveHashes>(record, unknown); });
  return archive && archive->zh == zh ? std::optional(*archive) : std::nullopt;
}

void ProviderHashes::note(std::string_view zh, const ProviderArchiveHashes& archive) const {
  const std::string_view digest = digest_of(zh);
  if (digest.empty() || !store_.make(store_.hash_directory())) {
    return;
  }
  ProviderArchiveHashes record = archive;
  record.zh = zh;
  // If this fails, the archive is read again.
  (void)write_file_atomically(store_.hash_directory() / digest, write_json(messages::encode(record)) + "\n",
                              Durable::no);
}

Result<FileLock> ProviderHashes::hold(std::string_view zh, const Context& context) const {
  const std::string_view digest = digest_of(zh);
  if (digest.empty()) {
    return fail(Code::internal,
                fmt::format("a provider archive cannot be locked by a text of {} characters", zh.size()));
  }
  return store_.hold(digest, context);
}

std::filesystem::path ReleaseHashes::path_of(const ProviderAddress& provider, const ProviderVersion& version,
                                             std::span<const Platform> platforms) const {
  std::string key = fmt::format("{}\n{}\n{}", rules_, provider.to_string(), version.to_string());
  for (const Platform& platform : platforms) {
    key += "\n" + platform.to_string();
  }
  return store_.hash_directory() / ("release-" + sha256_hex(key));
}

std::optional<std::vector<std::string>> ReleaseHashes::find(const ProviderAddress& provider,
                                                            const ProviderVersion& version,
                                                            std::span<const Platform> platforms) const {
  const auto text = read_file(path_of(provider, version, platforms));
  if (!text || text->empty() || text->back() != '\n') {
    return std::nullopt;
  }
  std::vector<std::string> hashes;
  for (const std::string& line : lines_of(*text)) {
    if (line.find(':') == std::string_view::npos) {
      return std::nullopt;
    }
    hashes.emplace_back(line);
  }
  return hashes;
}

void ReleaseHashes::note(const ProviderAddress& provider, const ProviderVersion& version,
                         std::span<const Platform> platforms, const std::vector<std::string>& hashes) const {
  const bool is_plain = std::ranges::none_of(
      hashes, [](const std::string& hash) { return hash.find_first_of("\r\n") != std::string::npos; });
  if (hashes.empty() || !is_plain || !store_.make(store_.hash_directory())) {
    return;
  }
  // If this fails, the registry is queried again.
  (void)write_file_atomically(path_of(provider, version, platforms), fmt::format("{}\n", fmt::join(hashes, "\n")),
                              Durable::no);
}

}  // namespace modlock
