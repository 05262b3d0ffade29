#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace modlock::test {

// A file of a zip archive, in any of the forms that writers give it, and with lies about it.
struct ZipMember {
  // How sizes and checksum are told that stand behind the content; the local header then has none.
  enum class Descriptor { none, plain, unmarked, large, large_unmarked };

  std::string name;
  std::string content = {};
  bool is_deflated = true;
  Descriptor descriptor = Descriptor::none;
  std::uint32_t attributes = 0100644U << 16U;
  int system = 3;           // who made it: 3 is Unix, 0 FAT
  int method = -1;          // as both headers say; -1: the true one
  int flags = 0;            // beside that of the descriptor
  std::string before = {};  // bytes in front of the local header
  bool is_large = false;    // its numbers in the directory stand in a field of 64 bits
  std::string extra = {};   // more fields in the directory

  // In place of the true ones: in the local header, and in the directory.
  std::optional<std::string> local_name = {};
  std::optional<std::uint64_t> local_packed = {};
  std::optional<std::string> listed_name = {};
  std::optional<std::uint64_t> listed_packed = {};
  std::optional<std::uint64_t> listed_size = {};
  std::optional<std::uint32_t> listed_crc = {};
  std::optional<std::uint64_t> listed_offset = {};
  bool is_listed = true;
};

struct ZipShape {
  std::string prefix = {};               // in front of everything
  bool counts_prefix = true;             // the numbers in the directory know of it
  std::string gap = {};                  // in front of the directory
  std::string comment = {};              // at the end, with its length
  std::string behind = {};               // at the end, without
  bool is_large = false;                 // the end is told with 64 bits
  std::optional<unsigned> entries = {};  // how many there are said to be
};

// Needs gzip for what is deflated.
std::string build_zip(const std::vector<ZipMember>& members, const ZipShape& shape = {});

// Content that deflates to about a hundredth of it, and content that does not.
std::string dull_bytes(std::size_t size);
std::string noisy_bytes(std::size_t size);

}  // namespace modlock::test
