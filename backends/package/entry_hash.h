#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "backends/base/digest.h"
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

}  // namespace modlock
