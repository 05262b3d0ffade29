#include "backends/store/tree_memo.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "backends/crypto/digest.h"
#include "backends/files/files.h"
#include "backends/package/tree_hash.h"
#include "backends/package/tree_scan.h"
#include "backends/parallel.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

using Digest = std::array<std::uint8_t, 32>;

constexpr std::string_view kHeading = "tofu-modlock tree 1\n";
constexpr std::size_t kWorthThreads = 16;  // files; below that starting threads costs more than it saves

struct KnownFile {
  std::string name;
  FileStamp stamp;
  Digest sha256 = {};
};

// Numbers are written with their lowest byte first.
void put_number(std::string& out, std::uint64_t number) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    out += static_cast<char>(static_cast<unsigned char>(number >> shift));
  }
}

void put_bytes(std::string& out, const Digest& digest) {
  out.append(reinterpret_cast<const char*>(digest.data()), digest.size());
}

Digest digest_of(std::string_view text) {
  Sha256 sha;
  sha.update(text);
  return sha.finish();
}

std::string write_memo(const std::vector<KnownFile>& files) {
  std::string out(kHeading);
  for (const KnownFile& file : files) {
    for (const std::uint64_t number :
         {file.stamp.size, file.stamp.inode, static_cast<std::uint64_t>(file.stamp.modified_ns),
          static_cast<std::uint64_t>(file.stamp.changed_ns)}) {
      put_number(out, number);
    }
    put_bytes(out, file.sha256);
    put_number(out, file.name.size());
    out += file.name;
  }
  put_bytes(out, digest_of(out));
  return out;
}

// Takes pieces off the front of a memo.
class MemoReader {
 public:
  explicit MemoReader(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  bool failed() const { return failed_; }

  std::uint64_t number() {
    std::uint64_t value = 0;
    const std::string_view bytes = take(8);
    for (std::size_t i = bytes.size(); i > 0; --i) {
      value = (value << 8U) | static_cast<unsigned char>(bytes[i - 1]);
    }
    return value;
  }

  Digest digest() {
    Digest value{};
    const std::string_view bytes = take(value.size());
    std::memcpy(value.data(), bytes.data(), bytes.size());
    return value;
  }

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

 private:
  std::string_view rest_;
  bool failed_ = false;
};

// Empty where the text is no whole memo.
std::vector<KnownFile> parse_memo(std::string_view text) {
  constexpr std::size_t kSum = std::tuple_size_v<Digest>;
  if (!text.starts_with(kHeading) || text.size() < kHeading.size() + kSum) {
    return {};
  }
  const std::string_view summed = text.substr(0, text.size() - kSum);
  if (MemoReader(text.substr(summed.size())).digest() != digest_of(summed)) {
    return {};
  }
  std::vector<KnownFile> files;
  MemoReader reader(summed.substr(kHeading.size()));
  while (!reader.done()) {
    KnownFile file;
    file.stamp.size = reader.number();
    file.stamp.inode = reader.number();
    file.stamp.modified_ns = static_cast<std::int64_t>(reader.number());
    file.stamp.changed_ns = static_cast<std::int64_t>(reader.number());
    file.sha256 = reader.digest();
    file.name = reader.take(reader.number());
    files.push_back(std::move(file));
  }
  return reader.failed() ? std::vector<KnownFile>{} : files;
}

class Summariser {
 public:
  Summariser(const Store& store, const fs::path& package, MemoOptions options, const Context& context)
      : store_(store), package_(package), options_(options), context_(context) {}

  Result<TreeSummary> run() {
    auto scan = scan_tree(package_);
    if (!scan) {
      return fail(std::move(scan.error()));
    }
    scan_ = std::move(*scan);
    const auto memo = memo_file();
    const auto text = options_.full ? Result<std::string>(std::string()) : read_file(memo);
    const std::vector<KnownFile> known = parse_memo(text.value_or(""));
    take_known(known);
    if (auto ok = hash_others(); !ok) {
      return fail(std::move(ok.error()));
    }
    remember(known, memo);
    TreeSummary summary;
    summary.files.reserve(files_.size());
    for (KnownFile& file : files_) {
      summary.files.push_back({std::move(file.name), hex(file.sha256.data(), file.sha256.size())});
    }
    return summary;
  }

 private:
  fs::path memo_file() const {
    std::error_code ignored;
    return store_.tree_directory() / sha256_hex(fs::absolute(package_, ignored).native());
  }

  // Both are sorted by name.
  void take_known(const std::vector<KnownFile>& known) {
    auto at = known.begin();
    files_.reserve(scan_.entries.size());
    for (ScannedEntry& entry : scan_.entries) {
      while (at != known.end() && at->name < entry.name) {
        ++at;
      }
      const bool same = at != known.end() && at->name == entry.name && entry.type == ScannedEntry::Type::file &&
                        at->stamp == entry.stamp;
      files_.push_back({entry.name, entry.stamp, same ? at->sha256 : Digest{}});
      if (!same) {
        to_hash_.push_back(files_.size() - 1);
      }
    }
  }

  Result<void> hash_others() {
    if (to_hash_.empty()) {
      return {};
    }
    const auto hasher = FileHasher::open(package_);
    if (!hasher) {
      return fail(hasher.error());
    }
    std::vector<Result<void>> outcomes(to_hash_.size());
    parallel_for(to_hash_.size(), to_hash_.size() < kWorthThreads ? 1 : options_.threads, [&](std::size_t i) {
      outcomes[i] = context_.check();
      if (outcomes[i]) {
        outcomes[i] = hash_one(*hasher, to_hash_[i]);
      }
    });
    for (Result<void>& outcome : outcomes) {
      if (!outcome) {
        return std::move(outcome);
      }
    }
    return {};
  }

  Result<void> hash_one(const FileHasher& hasher, std::size_t number) {
    KnownFile& file = files_[number];
    const ScannedEntry& entry = scan_.entries[number];
    if (entry.type == ScannedEntry::Type::file) {
      const auto hashed = hasher.hash(entry.name);
      if (!hashed) {
        return fail(hashed.error());
      }
      file.stamp = hashed->stamp;
      file.sha256 = hashed->sha256;
      return {};
    }
    const auto digest = digest_of_entry({entry.name, package_ / entry.name, entry.type});
    if (!digest) {
      return fail(digest.error());
    }
    file.sha256 = *digest;
    return {};
  }

  bool is_settled(const FileStamp& stamp) const {
    return stamp.modified_ns < scan_.started_ns && stamp.changed_ns < scan_.started_ns;
  }

  void remember(const std::vector<KnownFile>& known, const fs::path& memo) const {
    if (!options_.full && to_hash_.empty() && known.size() == files_.size()) {
      return;
    }
    std::vector<KnownFile> settled;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (scan_.entries[i].type == ScannedEntry::Type::file && is_settled(files_[i].stamp)) {
        settled.push_back(files_[i]);
      }
    }
    const bool same = !options_.full && std::equal(settled.begin(), settled.end(), known.begin(), known.end(),
                                                   [](const KnownFile& left, const KnownFile& right) {
                                                     return left.stamp == right.stamp && left.name == right.name &&
                                                            left.sha256 == right.sha256;
                                                   });
    if (!same && store_.make_tree_directory()) {
      (void)write_file_atomically(memo, write_memo(settled), Durable::no);
    }
  }

  const Store& store_;
  const fs::path& package_;
  const MemoOptions options_;
  const Context& context_;
  TreeScan scan_;
  std::vector<KnownFile> files_;  // as the entries of the scan
  std::vector<std::size_t> to_hash_;
};

}  // namespace

Result<TreeSummary> summarise_installed(const Store& store, const fs::path& package, MemoOptions options,
                                        const Context& context) {
  return Summariser(store, package, options, context).run();
}

}  // namespace modlock
