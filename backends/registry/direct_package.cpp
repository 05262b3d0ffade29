#include "backends/registry/direct_package.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>

#include "backends/crypto/digest.h"
#include "backends/files/files.h"
#include "backends/files/system_error.h"
#include "backends/package/unpack.h"

namespace modlock::registry {
namespace {

// As much of the content as tells its format.
constexpr std::size_t kHeadSize = 512;

// Writes a file, and hashes what goes into it.
class ArchiveSink final : public BodySink {
 public:
  explicit ArchiveSink(std::filesystem::path path) : path_(std::move(path)) {}

  Result<void> begin(std::optional<std::uint64_t> /*length*/) override {
    hash_ = Sha256();
    head_.clear();
    file_.close();
    file_.clear();
    file_.open(path_, std::ios::binary | std::ios::trunc);
    return written();
  }

  Result<void> write(std::string_view bytes) override {
    hash_.update(bytes);
    head_ += bytes.substr(0, kHeadSize - head_.size());
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return written();
  }

  // Ends the file; its SHA-256 in hexadecimal digits.
  Result<std::string> finish() {
    file_.close();
    if (auto ok = written(); !ok) {
      return fail(std::move(ok.error()));
    }
    const auto digest = hash_.finish();
    return hex(digest.data(), digest.size());
  }

  const std::string& head() const { return head_; }

 private:
  Result<void> written() const { return file_.fail() ? system_failure("write", path_, errno) : Result<void>(); }

  std::filesystem::path path_;
  std::ofstream file_;
  Sha256 hash_;
  std::string head_;
};

// Removes a file when it goes.
class Leftover {
 public:
  explicit Leftover(const std::filesystem::path& path) : path_(path) {}
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;
  ~Leftover() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

 private:
  const std::filesystem::path& path_;
};

}  // namespace

Result<FetchedTree> fetch_direct(const RegistryHttp& http, HttpRequest request, std::string_view host,
                                 const std::filesystem::path& parent, const Context& context) {
  const std::filesystem::path archive = parent / fmt::format("archive-{}", random_hex(8));
  const Leftover leftover(archive);
  ArchiveSink sink(archive);
  const std::string display = printable_url(request.url.reveal());
  const std::string purpose = request.purpose;
  request.sink = &sink;
  request.body_limit = UnpackLimits{}.total_bytes;
  request.timeouts.total.reset();
  request.headers.push_back({"Accept", "application/zip, application/x-tar; *;q=0.1"});
  if (auto response = http.send(std::move(request), host, context); !response) {
    return fail(std::move(response.error()));
  }
  const auto digest = sink.finish();
  if (!digest) {
    return fail(digest.error());
  }
  const auto format = archive_format_of_content(sink.head());
  if (!format) {
    return fail(Code::bad_response,
                fmt::format("could not {}: {}: the package is neither a zip archive nor a tar archive compressed with "
                            "gzip, xz or bzip2",
                            purpose, display));
  }
  FetchedTree tree{.id = "zh:" + *digest, .directory = parent / fmt::format("tree-{}", random_hex(8)), .warnings = {}};
  if (auto ok = make_directories(tree.directory); !ok) {
    return fail(std::move(ok.error()));
  }
  if (auto ok = unpack_archive(archive, *format, tree.directory, display, context); !ok) {
    return fail(std::move(ok.error()));
  }
  return tree;
}

}  // namespace modlock::registry
