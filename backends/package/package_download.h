#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "backends/backend.h"
#include "backends/base/digest.h"
#include "backends/http/http_client.h"
#include "backends/package/byte_source.h"
#include "backends/package/unpack.h"

namespace modlock {

struct ArchiveDigests {
  std::string sha256 = {};  // hexadecimal digits
  std::string also = {};    // the digits for PackageDownload::Archive::also
};

// The only way from an archive to a tree: a temporary file that is hashed while it arrives. A tar is unpacked on its
// own thread at the same time. Only unpack() reports its result, so no caller sees a tree before the archive was
// verified. The destructor removes everything except a tree that was handed over.
class PackageDownload final : public BodySink {
 public:
  struct Archive {
    std::string display = {};                  // its name in messages
    std::optional<ArchiveFormat> format = {};  // none: determined by its first bytes
    std::optional<Hash> also = {};             // a hash to compute in addition to SHA-256
  };
  // All files are made below `parent`. The context outlives the object.
  PackageDownload(const std::filesystem::path& parent, Archive archive, const Context& context);
  ~PackageDownload() override;
  PackageDownload(const PackageDownload&) = delete;
  PackageDownload& operator=(const PackageDownload&) = delete;

  // Errors: IO_ERROR.
  Result<void> begin(std::optional<std::uint64_t> length) override;
  Result<void> write(std::string_view bytes) override;

  // Call once everything has arrived. Errors: IO_ERROR.
  Result<ArchiveDigests> finish();

  // Valid after finish(): none if the first bytes match no format.
  std::optional<ArchiveFormat> format() const { return archive_.format; }
  // Returns the tree, with its digests, in a new directory; requires a format. Errors: those of unpack_archive().
  Result<FetchedTree> unpack();

 private:
  Result<FileDigests> unpack_here() const;
  void give_up();

  Archive archive_;
  bool knows_format_;
  std::filesystem::path path_;
  std::filesystem::path directory_;
  const Context& context_;
  std::unique_ptr<StreamedFile> file_;
  std::string head_;  // the first bytes
  RunningHash sha256_{Hash::sha256};
  std::optional<RunningHash> also_;
  Result<FileDigests> unpacked_;  // only for the thread while it runs
  std::jthread unpacking_;
};

}  // namespace modlock
