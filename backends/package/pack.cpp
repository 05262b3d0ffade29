#include "backends/package/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <memory>

#include "backends/base/deleter.h"
#include "backends/base/digest.h"
#include "backends/package/tree_hash.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPackPiece = 64U << 10U;

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
    auto ok = add_header(entry, size, is_program);
    Sha256 sha;
    for (std::uintmax_t left = size; ok && left > 0;) {
      ok = context_.check();
      file.read(buffer_.data(), static_cast<std::streamsize>(std::min<std::uintmax_t>(left, kPackPiece)));
      const auto read = static_cast<std::size_t>(file.gcount());
      if (ok && read == 0) {
        return unreadable(entry);
      }
      left -= read;
      ok = ok ? add_bytes({buffer_.data(), read}, sha) : std::move(ok);
    }
    return ok ? finish(entry, sha, summary) : ok;
  }

  Result<void> add_text(const TreeEntry& entry, const std::string& text, TreeSummary& summary) {
    Sha256 sha;
    auto ok = add_header(entry, text.size(), false);
    ok = ok ? add_bytes(text, sha) : std::move(ok);
    return ok ? finish(entry, sha, summary) : ok;
  }

  Result<void> add_header(const TreeEntry& entry, std::uintmax_t size, bool is_program) {
    const std::unique_ptr<struct archive_entry, Deleter<archive_entry_free>> header(archive_entry_new());
    archive_entry_set_pathname(header.get(), entry.name.c_str());
    archive_entry_set_filetype(header.get(), AE_IFREG);
    archive_entry_set_perm(header.get(), is_program ? 0755U : 0644U);
    archive_entry_set_size(header.get(), static_cast<la_int64_t>(size));
    return archive_write_header(writer_.get(), header.get()) == ARCHIVE_OK ? Result<void>() : failure();
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
  std::unique_ptr<struct archive, Deleter<archive_write_free>> writer_;
  std::array<char, kPackPiece> buffer_ = {};
};

}  // namespace

Result<void> pack_tar_gz(const fs::path& root, std::string_view h1, const ByteSink& sink, const Context& context) {
  return std::make_unique<Packer>(&set_tar_gz, sink, context)->run(root, h1);
}

Result<void> pack_zip(const fs::path& root, std::string_view h1, const ByteSink& sink, const Context& context) {
  return std::make_unique<Packer>(&set_zip, sink, context)->run(root, h1);
}

}  // namespace modlock
