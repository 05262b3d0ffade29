#include "backends/package/unpack.h"

#include <fmt/format.h>

#include <array>

#include "backends/package/unpack_tree.h"

namespace modlock {
namespace {

struct NamedFormat {
  std::string_view name;
  ArchiveFormat format;
};

constexpr std::array<NamedFormat, 10> kFormats = {{{"bz2", ArchiveFormat::bz2},
                                                   {"gz", ArchiveFormat::gz},
                                                   {"xz", ArchiveFormat::xz},
                                                   {"zip", ArchiveFormat::zip},
                                                   {"tar.bz2", ArchiveFormat::tar_bz2},
                                                   {"tar.tbz2", ArchiveFormat::tar_bz2},
                                                   {"tar.gz", ArchiveFormat::tar_gz},
                                                   {"tgz", ArchiveFormat::tar_gz},
                                                   {"tar.xz", ArchiveFormat::tar_xz},
                                                   {"txz", ArchiveFormat::tar_xz}}};

}  // namespace

std::optional<ArchiveFormat> archive_format_of_name(std::string_view name) {
  const auto* const known = std::ranges::find(kFormats, name, &NamedFormat::name);
  return known == kFormats.end() ? std::nullopt : std::optional(known->format);
}

std::optional<ArchiveFormat> archive_format_of_path(std::string_view path) {
  const NamedFormat* best = nullptr;
  for (const NamedFormat& known : kFormats) {
    const std::size_t size = known.name.size();
    if (path.size() > size && path.ends_with(known.name) && path[path.size() - size - 1] == '.' &&
        (best == nullptr || size > best->name.size())) {
      best = &known;
    }
  }
  return best == nullptr ? std::nullopt : std::optional(best->format);
}

std::optional<ArchiveFormat> archive_format_of_content(std::string_view first_bytes) {
  using namespace std::string_view_literals;
  if (first_bytes.starts_with("PK\x03\x04"sv) || first_bytes.starts_with("PK\x05\x06"sv)) {
    return ArchiveFormat::zip;
  }
  if (first_bytes.starts_with("\x1F\x8B\x08"sv)) {
    return ArchiveFormat::tar_gz;
  }
  if (first_bytes.starts_with("\xFD\x37\x7A\x58\x5A\x00"sv)) {
    return ArchiveFormat::tar_xz;
  }
  return first_bytes.starts_with("BZ"sv) ? std::optional(ArchiveFormat::tar_bz2) : std::nullopt;
}

Result<void> expect_tree_format(ArchiveFormat format, std::string_view display) {
  if (format != ArchiveFormat::gz && format != ArchiveFormat::xz && format != ArchiveFormat::bz2) {
    return {};
  }
  return fail(Code::source_unsupported,
              fmt::format("\"{}\" is one compressed file, and a module package is a tree of files", display),
              "name a zip, tar.gz, tar.xz or tar.bz2 archive; if it is a tar under another name, add archive=tar.gz "
              "to the source's query");
}

Result<FileDigests> unpack_archive(const std::filesystem::path& archive, ArchiveFormat format,
                                   const std::filesystem::path& directory, std::string_view display,
                                   const Context& context, const UnpackLimits& limits) {
  StreamedFile file(archive);
  MODLOCK_TRY(file.adopt());
  return unpack_archive(file, format, directory, display, context, limits);
}

Result<FileDigests> unpack_archive(const StreamedFile& archive, ArchiveFormat format,
                                   const std::filesystem::path& directory, std::string_view display,
                                   const Context& context, const UnpackLimits& limits) {
  MODLOCK_TRY(expect_tree_format(format, display));
  MODLOCK_TRY(auto writer, unpack::TreeWriter::open(directory));
  unpack::Rules rules(
      display, [&archive](std::uint64_t enough) { return archive.wait_for(enough); }, limits);
  return format == ArchiveFormat::zip ? unpack::read_zip(archive, rules, writer, context)
                                      : unpack::read_tar(archive, format, rules, writer, context);
}

}  // namespace modlock
