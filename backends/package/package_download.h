#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "backends/backend.h"
#include "backends/base/digest.h"
#include "backends/http/http_client.h"
#include "backends/package/streamed_file.h"
#include "backends/package/unpack.h"

namespace modlock {

struct ArchiveDigests {
  std::string sha256 = {};  // hexadecimal digits
  std::string also = {};    // those of PackageDownload::Archive::also
};

// The one way in which an archive becomes a tree: a temporary file, hashed as it arrives, and where it is a tar
// unpacked meanwhile on a thread of its own. What that comes to is told by unpack() alone, so that nobody sees a tree
// before the archive itself was found to be the right one. Goes with everything it made, but for a tree that was handed
// over.
class PackageDownload final : public BodySink {
 public:
  struct Archive {
    std::string display = {};                  // its name in messages
    std::optional<ArchiveFormat> format = {};  // none: its first bytes tell
    std::optional<Hash> also = {};             // a hash that is wanted beside SHA-256
  };
  // Everything lands below `parent`. The context outlives the object.
  PackageDownload(const std::filesystem::path& parent, Archive archive, const Context& context);
  ~PackageDownload() override;
  PackageDownload(const PackageDownload&) = delete;
  PackageDownload& operator=(const PackageDownload&) = delete;

  // Errors: IO_ERROR.
  Result<void> begin(std::optional<std::uint64_t> length) override;
  Result<void> write(std::string_view bytes) override;

  // Once everything has arrived. Errors: IO_ERROR.
  Result<ArchiveDigests> finish();

  // Then: none where the first bytes tell no format.
  std::optional<ArchiveFormat> format() const { return archive_.format; }
  // The tree, with its digests, in a new directory; there has to be a format. Errors: those of unpack_archive().
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
  Result<FileDigests> unpacked_;  // the thread's, while there is one
  std::jthread unpacking_;
};

}  // namespace modlock
