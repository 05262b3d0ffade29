#include "backends/package/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <vector>

#include "backends/base/deleter.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/package/tree_hash.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPackPiece = std::size_t{128} << 10U;

using Writer = std::unique_ptr<struct archive, Deleter<archive_write_free>>;
using Reader = std::unique_ptr<struct archive, Deleter<archive_read_free>>;

struct Output {
  const ByteSink& sink;
  bool is_wanted = true;
};

// Reports success even if the sink has stopped: after an error libarchive would not free its compressor.
la_ssize_t pass_on(struct archive* /*writer*/, void* output, const void* bytes, std::size_t size) {
  auto& out = *static_cast<Output*>(output);
  out.is_wanted = out.is_wanted && out.sink({static_cast<const char*>(bytes), size});
  return static_cast<la_ssize_t>(size);
}

bool write_header(struct archive* writer, const std::string& name, std::uintmax_t size, unsigned mode) {
  const std::unique_ptr<struct archive_entry, Deleter<archive_entry_free>> header(archive_entry_new());
  archive_entry_set_pathname(header.get(), name.c_str());
  archive_entry_set_filetype(header.get(), AE_IFREG);
  archive_entry_set_perm(header.get(), mode);
  archive_entry_set_size(header.get(), static_cast<la_int64_t>(size));
  return archive_write_header(writer, header.get()) == ARCHIVE_OK;
}

// Sets the format of a new writer.
using SetFormat = bool (*)(struct archive* writer);

bool set_tar_gz(struct archive* writer) {
  return archive_write_add_filter_gzip(writer) == ARCHIVE_OK &&
         archive_write_set_filter_option(writer, "gzip", "compression-level", "1") == ARCHIVE_OK &&
         archive_write_set_filter_option(writer, "gzip", "timestamp", nullptr) == ARCHIVE_OK &&
         archive_write_set_format_gnutar(writer) == ARCHIVE_OK;
}

bool set_zip(struct archive* writer) {
  return archive_write_set_format_zip(writer) == ARCHIVE_OK &&
         archive_write_set_format_option(writer, "zip", "compression-level", "1") == ARCHIVE_OK &&
         archive_write_set_bytes_in_last_block(writer, 1) == ARCHIVE_OK;
}

class Packer {
 public:
  Packer(SetFormat set_format, const ByteSink& sink, const Context& context)
      : set_format_(set_format), output_{sink}, context_(context) {}
  // Truncates the stream, which shows that it is incomplete.
  ~Packer() { output_.is_wanted = false; }
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  Result<void> run(const fs::path& root, std::string_view h1) {
    MODLOCK_TRY(auto entries, list_tree(root));
    MODLOCK_TRY(open());
    TreeSummary summary;
    for (const TreeEntry& entry : entries) {
      MODLOCK_TRY(add(entry, summary));
    }
    if (summary.h1() != h1) {
      return fail(Code::hash_mismatch,
                  fmt::format("a cached package is damaged: expected {}, got {}", h1, summary.h1()),
                  "run: " + tofu_modlock("install") + ", which downloads it again");
    }
    return archive_write_close(writer_.get()) == ARCHIVE_OK && output_.is_wanted ? Result<void>() : failure();
  }

 private:
  Result<void> failure() const {
    const char* reason = archive_error_string(writer_.get());
    return fail(Code::io_error,
                fmt::format("cannot pack a package: {}", reason == nullptr ? "the receiver stopped" : reason));
  }

  Result<void> open() {
    writer_.reset(archive_write_new());
    const bool is_open = writer_ != nullptr && set_format_(writer_.get()) &&
                         archive_write_open(writer_.get(), &output_, nullptr, &pass_on, nullptr) == ARCHIVE_OK;
    return is_open ? Result<void>() : failure();
  }

  Result<void> add(const TreeEntry& entry, TreeSummary& summary) {
    if (entry.type == TreeEntry::Type::link_as_text) {
      std::error_code error;
      const std::string target = fs::read_symlink(entry.path, error).string();
      return error ? unreadable(entry) : add_text(entry, target, summary);
    }
    std::error_code error;
    const auto size = fs::file_size(entry.path, error);
    std::ifstream file(entry.path, std::ios::binary);
    if (error || !file) {
      return unreadable(entry);
    }
    const bool is_program = (fs::status(entry.path, error).permissions() & fs::perms::owner_exec) != fs::perms::none;
    MODLOCK_TRY(add_header(entry, size, is_program));
    Sha256 sha;
    for (std::uintmax_t left = size; left > 0;) {
      MODLOCK_TRY(context_.check());
      file.read(buffer_.data(), static_cast<std::streamsize>(std::min<std::uintmax_t>(left, kPackPiece)));
      const auto read = static_cast<std::size_t>(file.gcount());
      if (read == 0) {
        return unreadable(entry);
      }
      left -= read;
      MODLOCK_TRY(add_bytes({buffer_.data(), read}, sha));
    }
    return finish(entry, sha, summary);
  }

  Result<void> add_text(const TreeEntry& entry, const std::string& text, TreeSummary& summary) {
    Sha256 sha;
    MODLOCK_TRY(add_header(entry, text.size(), false));
    MODLOCK_TRY(add_bytes(text, sha));
    return finish(entry, sha, summary);
  }

  Result<void> add_header(const TreeEntry& entry, std::uintmax_t size, bool is_program) {
    return write_header(writer_.get(), entry.name, size, is_program ? 0755U : 0644U) ? Result<void>() : failure();
  }

  Result<void> add_bytes(std::string_view bytes, Sha256& sha) {
    sha.update(bytes);
    const la_ssize_t written = archive_write_data(writer_.get(), bytes.data(), bytes.size());
    return written == static_cast<la_ssize_t>(bytes.size()) && output_.is_wanted ? Result<void>() : failure();
  }

  Result<void> finish(const TreeEntry& entry, Sha256& sha, TreeSummary& summary) const {
    summary.files.push_back({entry.name, hex(sha.finish())});
    return archive_write_finish_entry(writer_.get()) == ARCHIVE_OK ? Result<void>() : failure();
  }

  static Result<void> unreadable(const TreeEntry& entry) {
    return fail(Code::io_error, fmt::format("cannot read {}", entry.path.string()));
  }

  const SetFormat set_format_;
  Output output_;
  const Context& context_;
  Writer writer_;
  std::array<char, kPackPiece> buffer_ = {};
};

tl::unexpected<Error> damaged(const fs::path& path) {
  return fail(Code::source_invalid, fmt::format("\"{}\" is not a tar archive, or is damaged", path.string()),
              "name an archive that `tofu-modlock bundle create` has written");
}

tl::unexpected<Error> archive_failure(std::string_view what, const fs::path& path, struct archive* archive) {
  if (const int error = archive_errno(archive); error > 0) {
    return system_failure(what, path, error);
  }
  const char* reason = archive_error_string(archive);
  return fail(Code::io_error,
              fmt::format("cannot {} \"{}\": {}", what, path.string(), reason == nullptr ? "unknown" : reason));
}

Result<void> add_to_tar(struct archive* tar, const fs::path& directory, const std::string& name, const fs::path& output,
                        const Context& context) {
  std::error_code error;
  const auto size = fs::file_size(directory / name, error);
  std::ifstream file(directory / name, std::ios::binary);
  if (error || !file || !write_header(tar, name, size, 0644U)) {
    return archive_failure("write", output, tar);
  }
  std::vector<char> piece(kPackPiece);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())), file.gcount() > 0) {
    MODLOCK_TRY(context.check());
    if (archive_write_data(tar, piece.data(), static_cast<std::size_t>(file.gcount())) != file.gcount()) {
      return archive_failure("write", output, tar);
    }
  }
  return {};
}

Result<void> extract_entry(struct archive* tar, const fs::path& target, std::uint64_t& left, const fs::path& path,
                           const Context& context) {
  MODLOCK_TRY(make_directories(target.parent_path()));
  std::ofstream file(target, std::ios::binary | std::ios::trunc);
  std::vector<char> piece(kPackPiece);
  for (;;) {
    MODLOCK_TRY(context.check());
    const la_ssize_t size = archive_read_data(tar, piece.data(), piece.size());
    if (size < 0) {
      return damaged(path);
    }
    if (size == 0) {
      file.close();
      return file.fail() ? Result<void>(system_failure("write", target, errno)) : Result<void>();
    }
    if (static_cast<std::uint64_t>(size) > left) {
      return fail(Code::limit_exceeded, fmt::format("\"{}\" is too large, or has sparse files", path.string()),
                  "create bundles of fewer root modules, and do not pack them again");
    }
    left -= static_cast<std::uint64_t>(size);
    if (!file.write(piece.data(), size)) {
      return system_failure("write", target, errno);
    }
  }
}

}  // namespace

Result<void> pack_tar_gz(const fs::path& root, std::string_view h1, const ByteSink& sink, const Context& context) {
  return std::make_unique<Packer>(&set_tar_gz, sink, context)->run(root, h1);
}

Result<void> pack_zip(const fs::path& root, std::string_view h1, const ByteSink& sink, const Context& context) {
  return std::make_unique<Packer>(&set_zip, sink, context)->run(root, h1);
}

Result<void> write_tar(const fs::path& directory, const std::set<std::string>& names, const fs::path& output,
                       const Context& context) {
  const Writer tar(archive_write_new());
  if (archive_write_set_format_gnutar(tar.get()) != ARCHIVE_OK ||
      archive_write_open_filename(tar.get(), output.c_str()) != ARCHIVE_OK) {
    return archive_failure("write", output, tar.get());
  }
  for (const std::string& name : names) {
    MODLOCK_TRY(add_to_tar(tar.get(), directory, name, output, context));
  }
  return archive_write_close(tar.get()) == ARCHIVE_OK ? Result<void>() : archive_failure("write", output, tar.get());
}

Result<void> extract_tar(const fs::path& path, const fs::path& directory,
                         const std::function<bool(std::string_view, std::uint64_t)>& is_wanted, std::uint64_t limit,
                         const Context& context) {
  const Reader tar(archive_read_new());
  if (archive_read_support_format_tar(tar.get()) != ARCHIVE_OK ||
      archive_read_open_filename(tar.get(), path.c_str(), kPackPiece) != ARCHIVE_OK) {
    return damaged(path);
  }
  std::error_code error;
  std::uint64_t left = std::min<std::uint64_t>(limit, fs::file_size(path, error));
  for (;;) {
    archive_entry* entry = nullptr;
    const int outcome = archive_read_next_header(tar.get(), &entry);
    if (outcome == ARCHIVE_EOF) {
      return {};
    }
    if (outcome != ARCHIVE_OK && outcome != ARCHIVE_WARN) {
      return damaged(path);
    }
    MODLOCK_TRY(context.check());
    const char* raw = archive_entry_pathname(entry);
    std::string_view name = raw == nullptr ? "" : raw;
    name.remove_prefix(name.starts_with("./") ? 2 : 0);
    const auto size = static_cast<std::uint64_t>(archive_entry_size(entry));
    if (is_wanted(name, size) && archive_entry_filetype(entry) == AE_IFREG &&
        archive_entry_hardlink(entry) == nullptr) {
      MODLOCK_TRY(extract_entry(tar.get(), directory / name, left, path, context));
    }
  }
}

}  // namespace modlock
