#include "tests/security/bombs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tests/support/archive_writer.h"

namespace modlock::test {
namespace {

constexpr std::size_t kMatch = 258;
constexpr std::size_t kTarBlock = 512;
constexpr std::uint64_t kMostZeros = (std::uint64_t{1} << 32U) - 2;

std::string little(std::uint64_t value, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) {
    bytes += static_cast<char>(value >> (8 * i) & 0xFFU);
  }
  return bytes;
}

class DeflateWriter {
 public:
  // Bits of `value`, the lowest first, as everything but Huffman codes is packed.
  void bits(unsigned value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      byte_ |= (value >> i & 1U) << used_;
      if (++used_ == 8) {
        bytes_ += static_cast<char>(byte_);
        byte_ = 0;
        used_ = 0;
      }
    }
  }
  // A stored block that is not the last.
  void store(std::string_view text) {
    bits(0, 3);
    bits(0, used_ == 0 ? 0 : 8 - used_);
    bytes_ += little(text.size(), 2) + little(~text.size() & 0xFFFFU, 2);
    bytes_ += text;
  }
  // The last block: `times` the 258 bytes that stand `distance` (1 or 512) in front.
  void repeat(unsigned distance, std::uint64_t times) {
    const bool is_far = distance != 1;
    // Code lengths: of 256 (the end) and of 0, which nothing uses, 2 bits; of 285 (258 bytes) 1; of the one distance 1.
    bits(1, 1);
    bits(2, 2);
    bits(29, 5);
    bits(is_far ? 17 : 0, 5);
    bits(14, 4);
    for (const unsigned length : {0U, 0U, 1U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 2U, 0U, 2U}) {
      bits(length, 3);  // of the codes for 16, 17, 18 (zeros), 0, 8, … 2, 14, 1
    }
    length_of(2);
    zeros(138);
    zeros(117);
    length_of(2);
    zeros(28);
    length_of(1);
    if (is_far) {
      zeros(17);
    }
    length_of(1);
    // Both codes are the bit 0; 385 + 127 is the far distance.
    for (std::uint64_t i = 0; is_far && i < times; ++i) {
      bits(0, 2);
      bits(127, 7);
    }
    if (!is_far) {
      bits(0, 8 - used_ + (used_ & 1U));
      bits(0, used_ == 0 ? 0 : 8 - used_);
      bytes_.append(times / 4 - 1, '\0');
    }
    bits(3, 2);
    bits(0, used_ == 0 ? 0 : 8 - used_);
  }
  std::string take() { return std::move(bytes_); }

 private:
  // "10" means a length of 1, "11" one of 2, "0" and seven bits that so many have none.
  void length_of(unsigned length) {
    bits(1, 1);
    bits(length - 1, 1);
  }
  void zeros(unsigned count) {
    bits(0, 1);
    bits(count - 11, 7);
  }

  std::string bytes_;
  unsigned byte_ = 0;
  unsigned used_ = 0;
};

std::string gzip_of(std::string stream) {
  // What comes behind the stream is never reached.
  return std::string("\x1F\x8B\x08\0\0\0\0\0\0\x03", 10) + std::move(stream) + std::string(8, '\0');
}

// The header of a file of `size` bytes.
std::string tar_header(const std::string& name, std::uint64_t size) {
  std::string header = make_tar({{.name = name}}).substr(0, kTarBlock);
  header.replace(124, 11, fmt::format("{:011o}", size));
  header.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char c : header) {
    sum += static_cast<unsigned char>(c);
  }
  return header.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
}

}  // namespace

std::string zip_of_zeros(std::uint32_t declared) {
  DeflateWriter writer;
  writer.store(std::string(1, '\0'));
  writer.repeat(1, kMostZeros / kMatch);
  // Written as if it were stored, then called what it is.
  constexpr int kOther = 12;
  std::string zip = make_zip({{.name = "main.tf"}, {.name = "zeros", .content = writer.take(), .zip_method = kOther}});
  const std::size_t local = zip.find("PK\x03\x04", 1);
  const std::size_t central = zip.rfind("PK\x01\x02");
  zip.replace(local + 8, 2, little(8, 2)).replace(local + 22, 4, little(declared, 4));
  return zip.replace(central + 10, 2, little(8, 2)).replace(central + 24, 4, little(declared, 4));
}

std::string tar_of_zeros(const std::string& name) {
  DeflateWriter writer;
  writer.store(make_tar({{.name = "main.tf", .content = "\n"}}).substr(0, 2 * kTarBlock) +
               tar_header(name, std::uint64_t{1} << 32U) + std::string(1, '\0'));
  writer.repeat(1, (kMostZeros + 2 * kMatch + 2 * kTarBlock) / kMatch);
  return gzip_of(writer.take());
}

std::string tar_of_a_million_entries() {
  constexpr std::uint64_t kMillion = 1'000'000;
  DeflateWriter writer;
  writer.store(make_tar({{.name = "d/", .type = ArchiveEntry::Type::directory}}).substr(0, kTarBlock));
  writer.repeat(kTarBlock, kMillion * kTarBlock / kMatch);
  return gzip_of(writer.take());
}

std::string zip_of_a_million_entries() {
  constexpr std::uint64_t kMillion = 1'000'000;
  const std::string one = make_zip({{.name = "f000000"}});
  const std::size_t central = one.find("PK\x01\x02");
  std::string entry = one.substr(central, one.rfind("PK\x05\x06") - central);
  std::string directory;
  for (std::uint64_t i = 0; i < kMillion; ++i) {
    directory += entry.replace(entry.size() - 6, 6, fmt::format("{:06}", i));
  }
  const std::string file = one.substr(0, central);
  const std::uint64_t end = file.size() + directory.size();
  const std::string end64 = "PK\x06\x06" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) +
                            little(kMillion, 8) + little(kMillion, 8) + little(directory.size(), 8) +
                            little(file.size(), 8);
  return file + directory + end64 + "PK\x06\x07" + little(0, 4) + little(end, 8) + little(1, 4) + "PK\x05\x06" +
         little(0, 4) + little(0xFFFF, 2) + little(0xFFFF, 2) + little(0xFFFFFFFF, 4) + little(0xFFFFFFFF, 4) +
         little(0, 2);
}

}  // namespace modlock::test
