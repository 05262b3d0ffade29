#include "tests/support/archive_writer.h"

#include <fmt/format.h>

#include <stdexcept>

#include "tests/support/run.h"

namespace modlock::test {
namespace {

using Type = ArchiveEntry::Type;

constexpr std::size_t kBlock = 512;

std::uint32_t unix_type(Type type) {
  switch (type) {
    case Type::directory:
      return 0040000;
    case Type::symbolic_link:
      return 0120000;
    case Type::character_device:
      return 0020000;
    case Type::block_device:
      return 0060000;
    case Type::pipe:
      return 0010000;
    case Type::file:
    case Type::hard_link:
      break;
  }
  return 0100000;
}

char tar_type(Type type) {
  switch (type) {
    case Type::hard_link:
      return '1';
    case Type::symbolic_link:
      return '2';
    case Type::character_device:
      return '3';
    case Type::block_device:
      return '4';
    case Type::directory:
      return '5';
    case Type::pipe:
      return '6';
    case Type::file:
      break;
  }
  return '0';
}

std::string padded(std::string text, std::size_t size, char with = '\0') {
  text.resize(size, with);
  return text;
}

std::string tar_header(std::string_view name, std::size_t size, unsigned mode, char type, std::string_view link,
                       TarDialect dialect) {
  std::string header = padded(std::string(name), 100) + fmt::format("{:07o}", mode) + '\0';
  header += std::string("0000000\0000000000\0", 16) + fmt::format("{:011o}", size) + '\0';
  header += std::string("00000000000\0", 12) + std::string(8, ' ') + type + padded(std::string(link), 100);
  header += dialect == TarDialect::gnu ? std::string("ustar  \0", 8) : std::string("ustar\00000", 8);
  header.resize(kBlock);
  unsigned sum = 0;
  for (const char c : header) {
    sum += static_cast<unsigned char>(c);
  }
  return header.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
}

std::string tar_content(const std::string& bytes) {
  return padded(bytes, (bytes.size() + kBlock - 1) / kBlock * kBlock);
}

// "<length> <key>=<value>\n", where the length counts itself.
std::string pax_record(std::string_view key, std::string_view value) {
  const std::string rest = fmt::format(" {}={}\n", key, value);
  std::size_t length = rest.size() + 1;
  while (fmt::format("{}", length).size() + rest.size() != length) {
    ++length;
  }
  return fmt::format("{}{}", length, rest);
}

bool is_plain(std::string_view name) {
  for (const char c : name) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      return false;
    }
  }
  return name.size() <= 100;
}

std::string tar_extension(const ArchiveEntry& entry, TarDialect dialect) {
  if (is_plain(entry.name) || dialect == TarDialect::ustar) {
    return {};
  }
  if (dialect == TarDialect::gnu) {
    return entry.name.size() <= 100 ? std::string()
                                    : tar_header("././@LongLink", entry.name.size() + 1, 0644, 'L', "", dialect) +
                                          tar_content(entry.name + '\0');
  }
  const std::string record = pax_record("path", entry.name);
  return tar_header("./PaxHeaders/x", record.size(), 0644, 'x', "", dialect) + tar_content(record);
}

}  // namespace

std::string make_zip(const std::vector<ArchiveEntry>& entries) {
  std::string bytes;
  std::string directory;
  for (const ArchiveEntry& entry : entries) {
    const std::string packed = entry.zip_method == 8 ? deflated(entry.content) : entry.content;
    const std::uint32_t attributes = entry.zip_attributes.value_or((unix_type(entry.type) | entry.mode) << 16U);
    // Flags (bit 0: encrypted, bit 11: the name is UTF-8), method, time, date, checksum, sizes, length of the name.
    const std::string common = little_endian(entry.zip_encrypted ? 0x801 : 0x800, 2) +
                               little_endian(static_cast<std::uint64_t>(entry.zip_method), 2) +
                               little_endian(0x00210000, 4) + little_endian(crc32_of(entry.content), 4) +
                               little_endian(packed.size(), 4) + little_endian(entry.content.size(), 4) +
                               little_endian(entry.name.size(), 2);
    directory += "PK\x01\x02" + little_endian(20, 1) + little_endian(static_cast<std::uint64_t>(entry.zip_system), 1) +
                 little_endian(20, 2) + common + little_endian(0, 8) + little_endian(attributes, 4) +
                 little_endian(bytes.size(), 4) + entry.name;
    bytes += "PK\x03\x04" + little_endian(20, 2) + common + little_endian(0, 2) + entry.name + packed;
  }
  return bytes + directory + "PK\x05\x06" + little_endian(0, 4) + little_endian(entries.size(), 2) +
         little_endian(entries.size(), 2) + little_endian(directory.size(), 4) + little_endian(bytes.size(), 4) +
         little_endian(0, 2);
}

std::string make_tar(const std::vector<ArchiveEntry>& entries, const TarOptions& options) {
  std::string bytes;
  if (!options.global_comment.empty()) {
    const std::string record = pax_record("comment", options.global_comment);
    bytes += tar_header("pax_global_header", record.size(), 0666, 'g', "", options.dialect) + tar_content(record);
  }
  for (const ArchiveEntry& entry : entries) {
    const bool is_file = entry.type == Type::file;
    const bool is_link = entry.type == Type::symbolic_link || entry.type == Type::hard_link;
    if (options.dialect == TarDialect::ustar && entry.name.size() > 100) {
      throw std::runtime_error("a ustar header has no room for " + entry.name);
    }
    bytes += tar_extension(entry, options.dialect);
    bytes += tar_header(entry.name.substr(0, 100), is_file ? entry.content.size() : 0, entry.mode, tar_type(entry.type),
                        is_link ? entry.content : "", options.dialect);
    bytes += is_file ? tar_content(entry.content) : std::string();
  }
  return bytes + std::string(2 * kBlock, '\0');
}

std::string compress(const std::string& program, const std::string& bytes) {
  std::vector<std::string> argv = {program, "-c"};
  if (program == "gzip") {
    argv.emplace_back("-n");
  }
  return run(std::move(argv), {}, {}, bytes);
}

std::string little_endian(std::uint64_t value, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) {
    bytes += static_cast<char>(value >> (8 * i) & 0xFFU);
  }
  return bytes;
}

std::uint32_t crc32_of(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) {
      crc = crc >> 1U ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
    }
  }
  return ~crc;
}

// A gzip file without a name is ten bytes, what we want, and eight bytes.
std::string deflated(const std::string& bytes) {
  const std::string packed = compress("gzip", bytes);
  return packed.substr(10, packed.size() - 18);
}

}  // namespace modlock::test
