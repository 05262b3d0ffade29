#include "backends/package/plain_tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <vector>

#include "backends/base/deleter.h"
#include "backends/base/files.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTarPiece = std::size_t{128} << 10U;

tl::unexpected<Error> damaged(const fs::path& path) {
  return fail(Code::source_invalid, fmt::format("\"{}\" is not a tar archive, or is damaged", path.string()),
              "name an archive that `tofu-modlock bundle create` has written");
}

using Writer = std::unique_ptr<struct archive, Deleter<archive_write_free>>;
using Reader = std::unique_ptr<struct archive, Deleter<archive_read_free>>;

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
  const std::unique_ptr<struct archive_entry, Deleter<archive_entry_free>> header(archive_entry_new());
  archive_entry_set_pathname(header.get(), name.c_str());
  archive_entry_set_filetype(header.get(), AE_IFREG);
  archive_entry_set_perm(header.get(), 0644U);
  archive_entry_set_size(header.get(), static_cast<la_int64_t>(size));
  if (error || !file || archive_write_header(tar, header.get()) != ARCHIVE_OK) {
    return archive_failure("write", output, tar);
  }
  std::vector<char> piece(kTarPiece);
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
  std::vector<char> piece(kTarPiece);
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
      archive_read_open_filename(tar.get(), path.c_str(), kTarPiece) != ARCHIVE_OK) {
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
