#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/package/pack.h"
#include "backends/package/provider_archive.h"
#include "backends/remote/closure.h"
#include "protocol/base/result.h"

namespace modlock::remote {

class Layout;

// Writes an OCI image layout (OCI image specification 1.1, image-layout.md) with closures, their packages and their
// providers. Blobs may be added by several threads.
class LayoutWriter {
 public:
  // `work` is an empty directory of the caller, who removes it.
  explicit LayoutWriter(std::filesystem::path work) : work_(std::move(work)) {}

  // Adds a blob. Errors: IO_ERROR.
  Result<Blob> add(std::string_view bytes);
  // Adds the blob that `write` sends to a sink. Errors: those of `write`; IO_ERROR.
  using Write = std::function<Result<void>(const ByteSink&)>;
  Result<Blob> add(const Write& write);
  // The same for a sink that receives attempts.
  Result<Blob> receive(const std::function<Result<void>(FileSink&)>& send);
  // The same for a blob that is not written before Layout::find() of layout() needs it. `write` sends the same bytes in
  // each call, and may be called from any thread. finish() does not write the blob.
  Result<Blob> add_on_demand(Write write);
  // Returns the file of a blob that was added.
  std::filesystem::path file(const Blob& blob) const;
  bool has(const Blob& blob);
  // Adds the index of a closure whose layers were added, and the manifests of its packages. What was added with the
  // same tag stays. Only the index is kept in memory. Errors: LIMIT_EXCEEDED (the index is larger than 4 MiB);
  // IO_ERROR.
  Result<void> add_closure(NamedClosure closure);
  // Passes the closures on, one at a time. Errors: those of read_closure(); IO_ERROR.
  Result<void> for_each_closure(const ClosureSink& sink) const;
  // Returns what was added, for push(). This object outlives it. Errors: those of providers_of(); IO_ERROR.
  Result<Layout> layout();
  // Adds the manifests of providers. Then it moves the layout to `output`, a directory that must not exist or be empty,
  // or writes it as a tar archive if the name of `output` ends with ".tar"; an existing file is replaced. The same
  // closures have the same bytes. Before it returns, `output` is unchanged. Errors: INVALID_PARAMS (`output` has other
  // content); those of providers_of(); IO_ERROR; cancellation.
  Result<void> finish(const std::filesystem::path& output, const Context& context);

 private:
  struct Listed {
    TaggedClosure index;
    std::vector<BundledProvider> providers;
  };
  Result<Closure> read(const TaggedClosure& one) const;
  Result<void> add_indexes();

  std::filesystem::path work_;
  std::vector<Listed> closures_;
  std::mutex mutex_;
  std::set<std::string> digests_;           // of the blobs
  std::map<std::string, Write> on_demand_;  // by digest
};

// Reads a bundle. Nothing outside of it is read: a blob that is a link, a device or a pipe is an error.
class Layout {
 public:
  // Opens a directory or a tar archive, which is extracted to `work`, an empty directory of the caller. Of the
  // archive, only blobs that its indexes name are written, and no larger than they say. Errors: INVALID_PARAMS (it does
  // not exist); SOURCE_INVALID (not a bundle, or `blobs` is a link); IO_ERROR; LIMIT_EXCEEDED; cancellation.
  static Result<Layout> open(const std::filesystem::path& path, const std::filesystem::path& work,
                             const Context& context);

  // The closures of read_layout_index().
  const std::vector<TaggedClosure>& listed() const { return closures_; }
  // Returns one of them. All of them may need much memory. Errors: those of find() and read_closure().
  Result<Closure> closure(const TaggedClosure& one) const;

  // Returns the file of a blob with the digest and the size. Errors: SOURCE_INVALID (it is missing or not a regular
  // file); HASH_MISMATCH (another size or digest); IO_ERROR.
  Result<std::filesystem::path> find(const Blob& blob) const;
  // Returns the content of a manifest or an index. Errors: those of find(); SOURCE_INVALID (larger than 4 MiB).
  Result<std::string> read(const Blob& blob) const;

 private:
  friend class LayoutWriter;
  Layout(std::filesystem::path path, std::filesystem::path directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}

  std::filesystem::path path_;  // that was opened, for messages
  std::filesystem::path directory_;
  std::vector<TaggedClosure> closures_;
  std::function<Result<void>(const Blob&)> write_missing_ = {};  // LayoutWriter::add_on_demand()
};

}  // namespace modlock::remote
