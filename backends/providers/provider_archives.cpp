#include "backends/providers/provider_archives.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>
#include <variant>

#include "backends/package/zip_directory.h"

namespace modlock {
namespace {

class StoredArchives final : public ProviderArchives {
 public:
  explicit StoredArchives(const Store& store) : store_(store), known_(store) {}

  Result<ProviderPackage> hashes_of(const Archive& archive, const Send& send, const Context& context) override {
    const auto read = [&]() -> Result<ProviderArchiveHashes> {
      ArrivingArchive arriving(archive.display, store_.work_directory().value_or(store_.temporary_directory()));
      MODLOCK_TRY(send(arriving));
      return arriving.finish(context);
    };
    MODLOCK_TRY(const auto hashes, known_or_read(known_, archive.zh, false, context, read));
    MODLOCK_TRY(expect_provider_program(hashes.programs, archive.type, archive.display));
    return ProviderPackage{.h1 = hashes.h1, .archive_h1 = hashes.archive_h1, .zh = hashes.zh};
  }

 private:
  const Store& store_;
  const ProviderHashes known_;
};

}  // namespace

Result<ProviderArchiveHashes> known_or_read(const ProviderHashes& known, const std::string& zh, bool plain_suffices,
                                            const Context& context,
                                            const std::function<Result<ProviderArchiveHashes>()>& read) {
  const auto remembered = [&] {
    auto found = known.find(zh);
    const bool is_enough = found && (!found->h1.empty() || (plain_suffices && found->is_plain));
    if (is_enough) {
      context.count_cache_hit();
    }
    return is_enough ? std::move(found) : std::nullopt;
  };
  if (auto found = remembered()) {
    return *std::move(found);
  }
  std::optional<FileLock> lock;
  // A mirror may list anything; only a digest identifies an archive.
  if (ProviderHashes::is_digest(zh)) {
    MODLOCK_TRY(lock, known.hold(zh, context));
    if (auto found = remembered()) {
      return *std::move(found);
    }
  }
  auto archive = read();
  if (archive) {
    known.note(archive->zh.empty() ? zh : archive->zh, *archive);
  }
  return archive;
}

std::unique_ptr<ProviderArchives> make_stored_archives(const Store& store) {
  return std::make_unique<StoredArchives>(store);
}

}  // namespace modlock

namespace modlock::provider_registry {
namespace {

constexpr std::size_t kTail = std::size_t{64} << 10U;
constexpr std::uint64_t kLongestTail = std::uint64_t{1} << 20U;

// The byte range of a response: "bytes 100-199/200".
struct Part {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // exclusive
  std::uint64_t total = 0;
};

std::optional<Part> part_of(const HttpResponse& response) {
  const std::string text = response.header("Content-Range").value_or("");
  constexpr std::string_view kUnit = "bytes ";
  if (response.status != 206 || !text.starts_with(kUnit)) {
    return std::nullopt;
  }
  Part part;
  const char* at = text.data() + kUnit.size();
  const char* const end = text.data() + text.size();
  const auto take = [&](std::uint64_t& number, char stop) {
    const auto [rest, error] = std::from_chars(at, end, number);
    const bool fits = error == std::errc{} && (stop == '\0' ? rest == end : rest != end && *rest == stop);
    at = fits && stop != '\0' ? rest + 1 : rest;
    return fits;
  };
  if (!take(part.begin, '-') || !take(part.end, '/') || !take(part.total, '\0') || part.end < part.begin ||
      part.end >= part.total) {
    return std::nullopt;
  }
  ++part.end;
  return part;
}

// Whether a server does not serve ranges of this file. Then the probe has no result, but does not fail.
bool refuses_parts(const Error& error) {
  return error.code == Code::bad_response || error.code == Code::limit_exceeded;
}

std::string purpose_of(const ProviderArchiveRequest& fetch_request) {
  return fmt::format("download {}", fetch_request.display);
}

Result<std::optional<std::string>> fetch_part(const ProviderClient& client, const ProviderArchiveRequest& fetch_request,
                                              std::uint64_t begin, std::uint64_t end, const Context& context) {
  HttpRequest request = client.archive_request(fetch_request.url, purpose_of(fetch_request));
  request.headers.push_back({"Range", fmt::format("bytes={}-{}", begin, end - 1)});
  request.body_limit = static_cast<std::size_t>(end - begin);
  auto response = client.send_anonymously(std::move(request), context);
  if (!response) {
    return refuses_parts(response.error()) ? Result<std::optional<std::string>>(std::nullopt)
                                           : fail(std::move(response.error()));
  }
  const auto part = part_of(*response);
  const bool fits = part && part->begin == begin && part->end == end && response->body.size() == end - begin;
  return fits ? std::optional(std::move(response->body)) : std::nullopt;
}

// Reads the central directory from the tail of an archive, and fetches more of the archive if the tail is too short.
Result<std::optional<ProviderArchiveHashes>> check_tail(const ProviderClient& client,
                                                        const ProviderArchiveRequest& fetch_request, std::string tail,
                                                        std::uint64_t total, const Context& context) {
  std::optional<Error> failure;
  const auto fetch = [&](std::uint64_t at, std::uint64_t size) -> Result<std::string> {
    auto part = fetch_part(client, fetch_request, at, at + size, context);
    failure = part ? std::nullopt : std::optional(part.error());
    return part && *part ? Result<std::string>(std::move(**part)) : fail(Code::bad_response, "");
  };
  const auto entries =
      read_zip_directory(std::move(tail), total, fetch, {.bytes = kLongestTail}, fetch_request.display);
  if (failure) {
    return fail(*std::move(failure));
  }
  auto layout = entries ? zip_layout(*entries, {}, fetch_request.display) : fail(entries.error());
  if (!layout || !layout->is_plain) {
    return std::nullopt;
  }
  return ProviderArchiveHashes{.size = total, .is_plain = true, .programs = std::move(layout->programs)};
}

}  // namespace

Result<void> download_archive(const ProviderClient& client, const ProviderArchiveRequest& fetch_request, BodySink& sink,
                              const Context& context) {
  HttpRequest request = client.archive_request(fetch_request.url, purpose_of(fetch_request));
  request.sink = &sink;
  request.body_limit = UnpackLimits{}.total_bytes;
  request.is_large = true;
  MODLOCK_TRY(client.send_anonymously(std::move(request), context));
  return {};
}

Result<ProviderArchiveHashes> read_archive(const ProviderClient& client, const ProviderArchiveRequest& fetch_request,
                                           const std::filesystem::path& temporary, const Context& context) {
  ArrivingArchive archive(fetch_request.display, temporary);
  MODLOCK_TRY(download_archive(client, fetch_request, archive, context));
  return archive.finish(context, fetch_request.zh);
}

Result<std::optional<ProviderArchiveHashes>> probe_archive(const ProviderClient& client,
                                                           const ProviderArchiveRequest& fetch_request,
                                                           const std::filesystem::path& temporary,
                                                           const Context& context) {
  ArrivingArchive archive(fetch_request.display, temporary);
  HttpRequest request = client.archive_request(fetch_request.url, purpose_of(fetch_request));
  request.headers.push_back({"Range", fmt::format("bytes=-{}", kTail)});
  request.sink = &archive;
  request.body_limit = UnpackLimits{}.total_bytes;
  const auto response = client.send_anonymously(std::move(request), context);
  if (!response) {
    return refuses_parts(response.error()) ? Result<std::optional<ProviderArchiveHashes>>(std::nullopt)
                                           : fail(response.error());
  }
  if (response->status == 200) {
    return archive.finish(context, fetch_request.zh);
  }
  const auto part = part_of(*response);
  if (!part || part->end != part->total || part->end - part->begin != archive.size() || archive.size() > kTail) {
    return std::nullopt;
  }
  MODLOCK_TRY(auto tail, archive.text());
  return check_tail(client, fetch_request, std::move(tail), part->total, context);
}

}  // namespace modlock::provider_registry
