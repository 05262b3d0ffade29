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
  // Judges as many more unpacked bytes before they count.
  using Growth = std::function<Result<void>(std::uint64_t bytes)>;

  enum class Method { stored, deflated };

  // Of a stored entry `packed` says when it ends; a deflated one says so itself.
  EntryHash(Method method, std::uint64_t packed, Growth growth);
  ~EntryHash();
  EntryHash(EntryHash&&) noexcept;
  EntryHash& operator=(EntryHash&&) noexcept;

  // Takes what belongs to the entry off the front. Errors: those of Growth; BAD_RESPONSE without a message (damaged).
  Result<void> take(std::string_view& bytes);
  bool is_done() const { return is_done_; }

  // What came so far.
  std::uint64_t packed() const { return packed_; }
  std::uint64_t size() const { return size_; }
  std::uint32_t crc() const { return crc_; }
  // Once, at the end.
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

// Bytes that are kept to be read again: in memory while they are few, then in a temporary file, which goes with the
// object.
class Spool {
 public:
  // The file appears in `directory`, which is made when it is needed.
  explicit Spool(std::filesystem::path directory) : directory_(std::move(directory)) {}
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  // Errors: IO_ERROR.
  Result<void> write(std::string_view bytes);
  std::uint64_t size() const { return size_; }
  // Fewer bytes at the end. Errors: IO_ERROR.
  Result<std::string> read(std::uint64_t at, std::size_t size);

 private:
  Result<void> open();

  std::filesystem::path directory_;
  std::string memory_;
  std::filesystem::path path_;  // empty: in memory
  std::fstream file_;
  std::uint64_t size_ = 0;
};

// What a local header says, and what the bytes behind it came to.
struct ZipRecord {
  std::string name = {};
  std::uint16_t method = 0;
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  std::uint64_t end = 0;    // where its bytes end in the file
  std::string sha256 = {};  // 64 hexadecimal digits
};

// The entries of a zip file, hashed while it arrives, by their local headers. Where those stop to tell how to read on,
// the rest of the file goes into a spool: the central directory at the latest.
class ZipStream {
 public:
  // The references outlive the object. `rules` judges the growth; `rest` is empty.
  ZipStream(unpack::Rules& rules, Spool& rest) : rules_(rules), rest_(rest) {}
  ZipStream(const ZipStream&) = delete;
  ZipStream& operator=(const ZipStream&) = delete;

  // Errors: those of Rules::grow(); BAD_RESPONSE (damaged); IO_ERROR.
  Result<void> write(std::string_view bytes);
  // At the end of the file. Errors: BAD_RESPONSE (cut off); IO_ERROR.
  Result<void> finish();

  // Then: hashes an entry that lies in the rest, as the directory has it. Errors: those of write(); ARCHIVE_UNSAFE
  // (there is no local header of that name).
  Result<void> read_rest(const ZipEntry& entry);

  // By where the local headers lie in the file.
  const std::map<std::uint64_t, ZipRecord>& records() const { return records_; }
  // Where the rest begins in the file.
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
  std::string buffer_;           // of a header or a descriptor that is not whole yet
  bool has_descriptor_ = false;
  ZipRecord record_;
  std::optional<EntryHash> content_;
  std::map<std::uint64_t, ZipRecord> records_;
  std::uint64_t name_bytes_ = 0;
};

}  // namespace modlock
