#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/digest.h"
#include "backends/package/unpack_rules.h"
#include "backends/package/zip_directory.h"
#include "protocol/base/result.h"

namespace modlock {

// Hashes the content of one entry of a zip file while its packed bytes arrive. Memory does not grow with them.
class EntryHash {
 public:
  // Checks `bytes` more unpacked bytes before they count.
  using Growth = std::function<Result<void>(std::uint64_t bytes)>;

  enum class Method { stored, deflated };

  // The end of a stored entry is determined by `packed`; that of a deflated one by its content.
  EntryHash(Method method, std::uint64_t packed, Growth growth);
  ~EntryHash();
  EntryHash(EntryHash&&) noexcept;
  EntryHash& operator=(EntryHash&&) noexcept;

  // Removes the bytes of the entry from the front. Errors: those of Growth; BAD_RESPONSE without a message (damaged).
  Result<void> take(std::string_view& bytes);
  bool is_done() const { return is_done_; }

  // The totals so far.
  std::uint64_t packed() const { return packed_; }
  std::uint64_t size() const { return size_; }
  std::uint32_t crc() const { return crc_; }
  // Call once, at the end.
  std::array<std::uint8_t, 32> digest() { return hash_.finish(); }

 private:
  struct Inflater;

  Result<void> inflate(std::string_view& bytes);
  Result<void> add(std::string_view content);

  Growth growth_;
  std::unique_ptr<Inflater> inflater_;  // null: stored
  std::uint64_t expected_;
  std::uint64_t packed_ = 0;
  std::uint64_t size_ = 0;
  std::uint32_t crc_ = 0;
  Sha256 hash_;
  bool is_done_;
};

// Bytes that are kept to be read again: small amounts in memory, larger ones in a temporary file, which the destructor
// removes.
class Spool {
 public:
  // The file is made in `directory`, which is created when needed.
  explicit Spool(std::filesystem::path directory) : directory_(std::move(directory)) {}
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  // Errors: IO_ERROR.
  Result<void> write(std::string_view bytes);
  std::uint64_t size() const { return size_; }
  // Returns fewer bytes at the end. Errors: IO_ERROR.
  Result<std::string> read(std::uint64_t at, std::size_t size);

 private:
  Result<void> open();

  std::filesystem::path directory_;
  std::string memory_;
  std::filesystem::path path_;  // empty: in memory
  std::fstream file_;
  std::uint64_t size_ = 0;
};

// The data of a local header, and the result of the bytes after it.
struct ZipRecord {
  std::string name = {};
  std::uint16_t method = 0;
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  std::uint64_t end = 0;    // the end of its bytes in the file
  std::string sha256 = {};  // 64 hexadecimal digits
};

// Hashes the entries of a zip file while it arrives, by their local headers. When those are no longer sufficient to
// read on, the rest of the file goes into a spool; at the latest this is the central directory.
class ZipStream {
 public:
  // The references outlive the object. `rules` checks the growth; `rest` must be empty.
  ZipStream(unpack::Rules& rules, Spool& rest) : rules_(rules), rest_(rest) {}
  ZipStream(const ZipStream&) = delete;
  ZipStream& operator=(const ZipStream&) = delete;

  // Errors: those of Rules::grow(); BAD_RESPONSE (damaged); IO_ERROR.
  Result<void> write(std::string_view bytes);
  // Call at the end of the file. Errors: BAD_RESPONSE (truncated); IO_ERROR.
  Result<void> finish();

  // Call after finish(): hashes an entry in the rest, as described by the directory. Errors: those of write();
  // ARCHIVE_UNSAFE (there is no local header of that name).
  Result<void> read_rest(const ZipEntry& entry);

  // The records by the offset of their local header in the file.
  const std::map<std::uint64_t, ZipRecord>& records() const { return records_; }
  // The offset of the rest in the file.
  std::uint64_t rest_begin() const { return at_; }

 private:
  enum class Step { header, content, descriptor, rest };

  std::size_t wanted() const;
  Result<void> buffer(std::string_view& bytes);
  Result<void> begin_entry();
  Result<void> take_content(std::string_view& bytes);
  Result<void> end_content();
  Result<void> end_descriptor();
  Result<void> keep_rest();
  EntryHash start(std::uint16_t method, std::uint64_t packed, const std::string& name);
  tl::unexpected<Error> explain(Error error, std::string_view name) const;

  unpack::Rules& rules_;
  Spool& rest_;
  Step step_ = Step::header;
  std::uint64_t at_ = 0;         // of the buffer's first byte in the file
  std::uint64_t header_at_ = 0;  // of the entry's local header
  std::string buffer_;           // of an incomplete header or descriptor
  bool has_descriptor_ = false;
  ZipRecord record_;
  std::optional<EntryHash> content_;
  std::map<std::uint64_t, ZipRecord> records_;
  std::uint64_t name_bytes_ = 0;
};

}  // namespace modlock
