#include "backends/store/tree_memo_text.h"

#include <cstring>

#include "backends/base/digest.h"

namespace modlock::tree_memo {
namespace {

using Digest = std::array<std::uint8_t, 32>;

constexpr std::string_view kHeading = "tofu-modlock tree 2\n";
constexpr std::size_t kDigestSize = std::tuple_size_v<Digest>;
constexpr std::size_t kFileSize = 4 * 8 + kDigestSize + 8 + 1;  // and its name

// Numbers are written with their lowest byte first.
void put_number(std::string& out, std::uint64_t number) {
  char bytes[8];
  for (char& byte : bytes) {
    byte = static_cast<char>(static_cast<unsigned char>(number));
    number >>= 8U;
  }
  out.append(bytes, sizeof bytes);
}

void put_stamp(std::string& out, const FileStamp& stamp) {
  put_number(out, stamp.size);
  put_number(out, stamp.inode);
  put_number(out, static_cast<std::uint64_t>(stamp.modified_ns));
  put_number(out, static_cast<std::uint64_t>(stamp.changed_ns));
}

void put_digest(std::string& out, const Digest& digest) {
  out.append(reinterpret_cast<const char*>(digest.data()), digest.size());
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out.append(text).push_back('\0');
}

Digest digest_of(std::string_view text) {
  Sha256 sha;
  sha.update(text);
  return sha.finish();
}

// Takes pieces off the front of a memo.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  bool failed() const { return failed_; }
  std::size_t left() const { return rest_.size(); }

  std::uint64_t number() {
    std::uint64_t value = 0;
    const std::string_view bytes = take(8);
    for (std::size_t i = bytes.size(); i > 0; --i) {
      value = (value << 8U) | static_cast<unsigned char>(bytes[i - 1]);
    }
    return value;
  }

  FileStamp stamp() {
    FileStamp stamp;
    stamp.size = number();
    stamp.inode = number();
    stamp.modified_ns = static_cast<std::int64_t>(number());
    stamp.changed_ns = static_cast<std::int64_t>(number());
    return stamp;
  }

  Digest digest() {
    Digest value{};
    const std::string_view bytes = take(value.size());
    std::memcpy(value.data(), bytes.data(), bytes.size());
    return value;
  }

  std::string_view text() {
    const std::string_view text = take(number());
    failed_ = take(1) != std::string_view("\0", 1) || failed_;
    return text;
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace

std::string write(const Memo& memo) {
  std::string out(kHeading);
  put_text(out, memo.h1);
  put_number(out, memo.directories.size());
  for (const KnownDirectory& directory : memo.directories) {
    put_stamp(out, directory.stamp);
    put_text(out, directory.name);
  }
  for (const KnownFile& file : memo.files) {
    put_stamp(out, file.stamp);
    put_digest(out, file.sha256);
    put_text(out, file.name);
  }
  put_digest(out, digest_of(out));
  return out;
}

Memo read(std::string_view text) {
  if (!text.starts_with(kHeading) || text.size() < kHeading.size() + kDigestSize) {
    return {};
  }
  const std::string_view summed = text.substr(0, text.size() - kDigestSize);
  if (Reader(text.substr(summed.size())).digest() != digest_of(summed)) {
    return {};
  }
  Memo memo;
  Reader reader(summed.substr(kHeading.size()));
  memo.h1 = reader.text();
  for (std::uint64_t left = reader.number(); left > 0 && !reader.failed(); --left) {
    KnownDirectory& directory = memo.directories.emplace_back();
    directory.stamp = reader.stamp();
    directory.name = reader.text();
  }
  memo.files.reserve(reader.left() / kFileSize);
  while (!reader.done()) {
    KnownFile& file = memo.files.emplace_back();
    file.stamp = reader.stamp();
    file.sha256 = reader.digest();
    file.name = reader.text();
  }
  return reader.failed() ? Memo() : memo;
}

}  // namespace modlock::tree_memo
