#include "backends/store/tree_memo.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/base/collections.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"

namespace modlock::tree_memo {
namespace {

using Digest = std::array<std::uint8_t, 32>;

constexpr std::string_view kHeading = "tofu-modlock tree 2\n";
constexpr std::size_t kDigestSize = std::tuple_size_v<Digest>;
constexpr std::size_t kFileSize = sizeof(FileStamp) + kDigestSize + 8 + 1;  // plus its name

// A number, a stamp or a digest, as it is in the memory of this machine: its bytes are its value.
template <typename T>
concept Plain = std::has_unique_object_representations_v<T>;

template <Plain T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& out, std::string_view text) {
  put(out, std::uint64_t{text.size()});
  out.append(text).push_back('\0');
}

Digest digest_of(std::string_view text) {
  Sha256 sha;
  sha.update(text);
  return sha.finish();
}

// Reads pieces from the front of a memo.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  bool failed() const { return failed_; }
  std::size_t left() const { return rest_.size(); }

  template <Plain T>
  T value() {
    T value{};
    const std::string_view bytes = take(sizeof value);
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }

  std::string_view text() {
    const std::string_view text = take(value<std::uint64_t>());
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
  put(out, std::uint64_t{memo.directories.size()});
  for (const ScannedDirectory& directory : memo.directories) {
    put(out, directory.stamp);
    put_text(out, directory.name);
  }
  for (const KnownFile& file : memo.files) {
    put(out, file.stamp);
    put(out, file.sha256);
    put_text(out, file.name);
  }
  put(out, digest_of(out));
  return out;
}

Memo read(std::string_view text) {
  if (!text.starts_with(kHeading) || text.size() < kHeading.size() + kDigestSize) {
    return {};
  }
  const std::string_view summed = text.substr(0, text.size() - kDigestSize);
  if (Reader(text.substr(summed.size())).value<Digest>() != digest_of(summed)) {
    return {};
  }
  Memo memo;
  Reader reader(summed.substr(kHeading.size()));
  memo.h1 = reader.text();
  for (auto left = reader.value<std::uint64_t>(); left > 0 && !reader.failed(); --left) {
    ScannedDirectory& directory = memo.directories.emplace_back();
    directory.stamp = reader.value<FileStamp>();
    directory.name = reader.text();
  }
  memo.files.reserve(reader.left() / kFileSize);
  while (!reader.done()) {
    KnownFile& file = memo.files.emplace_back();
    file.stamp = reader.value<FileStamp>();
    file.sha256 = reader.value<Digest>();
    file.name = reader.text();
  }
  return reader.failed() ? Memo() : memo;
}

}  // namespace modlock::tree_memo

namespace modlock {
namespace {

namespace fs = std::filesystem;
using tree_memo::KnownFile;
using tree_memo::Memo;

constexpr std::size_t kWorthThreads = 16;  // files; below that starting threads costs more than it saves

class Summariser {
 public:
  Summariser(const Store& store, const fs::path& package, MemoOptions options, const Context& context)
      : store_(store), package_(package), options_(options), context_(context), memo_path_(memo_path()) {
    if (!options_.full) {
      text_ = read_file(memo_path_).value_or("");
      known_ = tree_memo::read(text_);
    }
  }

  // Returns the h1 of the memo if nothing has changed since.
  std::optional<std::string> unchanged() const {
    if (known_.h1.empty()) {
      return std::nullopt;
    }
    const auto package = OpenPackage::open(package_);
    const bool is_same =
        package &&
        std::ranges::all_of(known_.directories,
                            [&](const ScannedDirectory& each) {
                              return package->stamp(each.name.c_str(), OpenPackage::Kind::directory) == each.stamp;
                            }) &&
        std::ranges::all_of(known_.files, [&](const KnownFile& each) {
          return package->stamp(each.name.data(), OpenPackage::Kind::file) == each.stamp;
        });
    return is_same ? std::optional<std::string>(known_.h1) : std::nullopt;
  }

  Result<TreeSummary> run() {
    MODLOCK_TRY(scan_, scan_tree(package_, options_.rules));
    MODLOCK_TRY(check_modes());
    take_known();
    MODLOCK_TRY(hash_others());
    TreeSummary summary;
    summary.files.reserve(files_.size());
    for (const KnownFile& file : files_) {
      summary.files.push_back({std::string(file.name), hex(file.sha256)});
    }
    remember(summary);
    return summary;
  }

 private:
  fs::path memo_path() const {
    std::error_code ignored;
    return store_.tree_directory() / sha256_hex(fs::absolute(package_, ignored).native());
  }

  // A mode cannot change without the change time of its file, so an unchanged tree needs no check.
  Result<void> check_modes() const {
    const auto entries = mapped(scan_.entries, [](const ScannedEntry& entry) { return TreeEntry{entry, {}}; });
    return options_.modes.empty() || hash_modes(entries) == options_.modes
               ? Result<void>()
               : fail(Code::hash_mismatch, "permission bits were changed");
  }

  // Both are sorted by name.
  void take_known() {
    auto at = known_.files.begin();
    files_.reserve(scan_.entries.size());
    for (const ScannedEntry& entry : scan_.entries) {
      while (at != known_.files.end() && at->name < entry.name) {
        ++at;
      }
      const bool same = at != known_.files.end() && at->name == entry.name && entry.type == ScannedEntry::Type::file &&
                        at->stamp == entry.stamp;
      files_.push_back({entry.name, entry.stamp, {}});
      if (same) {
        files_.back().sha256 = at->sha256;
      } else {
        to_hash_.push_back(files_.size() - 1);
      }
    }
  }

  Result<void> hash_others() {
    if (to_hash_.empty()) {
      return {};
    }
    MODLOCK_TRY(const auto package, OpenPackage::open(package_));
    std::vector<Result<void>> outcomes(to_hash_.size());
    parallel_for(to_hash_.size(), to_hash_.size() < kWorthThreads ? 1 : options_.threads, [&](std::size_t i) {
      outcomes[i] = context_.check();
      if (outcomes[i]) {
        outcomes[i] = hash_one(package, to_hash_[i]);
      }
    });
    for (Result<void>& outcome : outcomes) {
      MODLOCK_TRY(std::move(outcome));
    }
    return {};
  }

  Result<void> hash_one(const OpenPackage& package, std::size_t number) {
    KnownFile& file = files_[number];
    const ScannedEntry& entry = scan_.entries[number];
    if (entry.type == ScannedEntry::Type::file) {
      MODLOCK_TRY(const auto hashed, package.hash(entry.name));
      file.stamp = hashed.stamp;
      file.sha256 = hashed.sha256;
      return {};
    }
    MODLOCK_TRY(const auto digest, digest_of_entry({entry, package_ / entry.name}));
    file.sha256 = digest;
    return {};
  }

  bool is_settled(const FileStamp& stamp) const {
    return stamp.modified_ns < scan_.started_ns && stamp.changed_ns < scan_.started_ns;
  }

  void remember(const TreeSummary& summary) const {
    Memo memo;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (scan_.entries[i].type == ScannedEntry::Type::file && is_settled(files_[i].stamp)) {
        memo.files.push_back(files_[i]);
      }
    }
    const bool is_whole = memo.files.size() == files_.size() &&
                          std::ranges::all_of(scan_.directories, [this](const ScannedDirectory& directory) {
                            return is_settled(directory.stamp);
                          });
    const std::string h1 = is_whole ? summary.h1() : "";
    if (is_whole) {
      memo.h1 = h1;
      memo.directories = scan_.directories;
    }
    const std::string text = tree_memo::write(memo);
    if (text != text_ && store_.make(store_.tree_directory())) {
      (void)write_file_atomically(memo_path_, text, Durable::no);
    }
  }

  const Store& store_;
  const fs::path& package_;
  const MemoOptions options_;
  const Context& context_;
  const fs::path memo_path_;
  std::string text_;  // of the memo; empty: unknown
  Memo known_;
  TreeScan scan_;
  std::vector<KnownFile> files_;  // as the entries of the scan
  std::vector<std::size_t> to_hash_;
};

}  // namespace

Result<TreeSummary> summarise_installed(const Store& store, const fs::path& package, MemoOptions options,
                                        const Context& context) {
  return Summariser(store, package, options, context).run();
}

Result<std::string> hash_installed(const Store& store, const fs::path& package, MemoOptions options,
                                   const Context& context) {
  Summariser summariser(store, package, options, context);
  if (auto h1 = summariser.unchanged()) {
    return std::move(*h1);
  }
  return summariser.run().map([](const TreeSummary& summary) { return summary.h1(); });
}

}  // namespace modlock
