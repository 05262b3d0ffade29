#include "tests/support/zip_builder.h"

#include <cstddef>

#include "tests/support/archive_writer.h"

namespace modlock::test {
namespace {

using Descriptor = ZipMember::Descriptor;

std::string descriptor(const ZipMember& member, std::uint32_t crc, std::size_t packed) {
  const bool is_large = member.descriptor == Descriptor::large || member.descriptor == Descriptor::large_unmarked;
  const bool is_marked = member.descriptor == Descriptor::plain || member.descriptor == Descriptor::large;
  const unsigned width = is_large ? 8 : 4;
  return (is_marked ? "PK\x07\x08" : "") + little_endian(crc, 4) + little_endian(packed, width) +
         little_endian(member.content.size(), width);
}

}  // namespace

std::string build_zip(const std::vector<ZipMember>& members, const ZipShape& shape) {
  std::string bytes = shape.prefix;
  std::string directory;
  std::size_t listed = 0;
  const std::size_t uncounted = shape.counts_prefix ? 0 : shape.prefix.size();
  for (const ZipMember& member : members) {
    const std::string packed = member.is_deflated ? deflated(member.content) : member.content;
    const std::uint32_t crc = crc32_of(member.content);
    const bool has_descriptor = member.descriptor != Descriptor::none;
    const int method = member.method >= 0 ? member.method : member.is_deflated ? 8 : 0;
    const std::string kind = little_endian(static_cast<std::uint64_t>(member.flags | (has_descriptor ? 8 : 0)), 2) +
                             little_endian(static_cast<std::uint64_t>(method), 2) + little_endian(0x00210000, 4);
    bytes += member.before;
    const std::uint64_t offset = member.listed_offset.value_or(bytes.size() - uncounted);
    const std::string local_name = member.local_name.value_or(member.name);
    bytes += "PK\x03\x04" + little_endian(20, 2) + kind + little_endian(has_descriptor ? 0 : crc, 4) +
             little_endian(member.local_packed.value_or(has_descriptor ? 0 : packed.size()), 4) +
             little_endian(has_descriptor ? 0 : member.content.size(), 4) + little_endian(local_name.size(), 2) +
             little_endian(0, 2) + local_name + packed + (has_descriptor ? descriptor(member, crc, packed.size()) : "");
    if (!member.is_listed) {
      continue;
    }
    ++listed;
    const std::uint64_t size = member.listed_size.value_or(member.content.size());
    const std::uint64_t packed_size = member.listed_packed.value_or(packed.size());
    const std::string large = little_endian(1, 2) + little_endian(24, 2) + little_endian(size, 8) +
                              little_endian(packed_size, 8) + little_endian(offset, 8);
    const std::string extra = (member.is_large ? large : "") + member.extra;
    const std::string name = member.listed_name.value_or(member.name);
    directory += "PK\x01\x02" + little_endian(20, 1) + little_endian(static_cast<std::uint64_t>(member.system), 1) +
                 little_endian(20, 2) + kind + little_endian(member.listed_crc.value_or(crc), 4) +
                 little_endian(member.is_large ? 0xFFFFFFFF : packed_size, 4) +
                 little_endian(member.is_large ? 0xFFFFFFFF : size, 4) + little_endian(name.size(), 2) +
                 little_endian(extra.size(), 2) + little_endian(0, 6) + little_endian(member.attributes, 4) +
                 little_endian(member.is_large ? 0xFFFFFFFF : offset, 4) + name + extra;
  }
  bytes += shape.gap;
  const std::uint64_t begin = bytes.size() - uncounted;
  const std::uint64_t count = shape.entries.value_or(static_cast<unsigned>(listed));
  bytes += directory;
  if (shape.is_large) {
    const std::uint64_t end = bytes.size();
    bytes += "PK\x06\x06" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) + little_endian(0, 8) +
             little_endian(count, 8) + little_endian(count, 8) + little_endian(directory.size(), 8) +
             little_endian(begin, 8);
    bytes += "PK\x06\x07" + little_endian(0, 4) + little_endian(end, 8) + little_endian(1, 4);
  }
  return bytes + "PK\x05\x06" + little_endian(0, 4) + little_endian(shape.is_large ? 0xFFFF : count, 2) +
         little_endian(shape.is_large ? 0xFFFF : count, 2) +
         little_endian(shape.is_large ? 0xFFFFFFFF : directory.size(), 4) +
         little_endian(shape.is_large ? 0xFFFFFFFF : begin, 4) + little_endian(shape.comment.size(), 2) +
         shape.comment + shape.behind;
}

std::string dull_bytes(std::size_t size) {
  return std::string(size, 'x');
}

std::string noisy_bytes(std::size_t size) {
  std::string bytes;
  bytes.reserve(size);
  std::uint64_t state = 0x9E3779B97F4A7C15;
  while (bytes.size() < size) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    bytes += static_cast<char>(state & 0xFFU);
  }
  return bytes;
}

}  // namespace modlock::test
