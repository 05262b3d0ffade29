#include <fmt/format.h>
#include <zip.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/package/unpack_readers.h"
#include "backends/package/unpack_zip_directory.h"

namespace modlock::unpack {
namespace {

constexpr std::size_t kPiece = std::size_t{128} << 10U;

struct Discard {
  void operator()(zip_t* zip) const { zip_discard(zip); }
};
struct Close {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Zip = std::unique_ptr<zip_t, Discard>;
using ZipFile = std::unique_ptr<zip_file_t, Close>;

// File types of Unix in a stored mode.
constexpr unsigned kTypeMask = 0170000;
constexpr unsigned kRegular = 0100000;
constexpr unsigned kLink = 0120000;
constexpr unsigned kDirectory = 0040000;

struct Attributes {
  EntryType type = EntryType::file;
  unsigned mode = 0;
};

// As FileHeader.Mode of Go's archive/zip reads "external file attributes" (APPNOTE.TXT 4.4.15), which a system of its
// own meaning wrote.
Attributes attributes_of(zip_uint8_t system, zip_uint32_t external, std::string_view name) {
  constexpr zip_uint8_t kFat = 0;
  constexpr zip_uint8_t kUnix = 3;
  constexpr zip_uint8_t kNtfs = 11;
  constexpr zip_uint8_t kVfat = 14;
  constexpr zip_uint8_t kMac = 19;
  constexpr zip_uint32_t kDosReadOnly = 0x01;
  constexpr zip_uint32_t kDosDirectory = 0x10;
  Attributes found;
  if (system == kUnix || system == kMac) {
    const unsigned type = external >> 16U & kTypeMask;
    found.mode = external >> 16U & 0777U;
    found.type = type == kDirectory                               ? EntryType::directory
                 : type == 0 || type == kRegular || type == kLink ? EntryType::file
                                                                  : EntryType::special;
  } else if (system == kFat || system == kNtfs || system == kVfat) {
    found.type = (external & kDosDirectory) != 0 ? EntryType::directory : EntryType::file;
    found.mode = (external & kDosReadOnly) != 0 ? 0444U : 0666U;
  }
  if (!name.empty() && name.back() == '/' && found.type == EntryType::file) {
    found.type = EntryType::directory;
  }
  return found;
}

class Reader {
 public:
  Reader(Zip zip, Rules& rules, TreeWriter& writer, const Context& context)
      : zip_(std::move(zip)), rules_(rules), writer_(writer), context_(context), piece_(kPiece) {}

  Result<void> entry(zip_uint64_t index) {
    const char* raw = zip_get_name(zip_.get(), index, ZIP_FL_ENC_RAW);
    zip_uint8_t system = 0;
    zip_uint32_t external = 0;
    if (raw == nullptr ||
        zip_file_get_external_attributes(zip_.get(), index, ZIP_FL_UNCHANGED, &system, &external) != 0) {
      return damaged(zip_strerror(zip_.get()));
    }
    const std::string name = raw;
    const Attributes attributes = attributes_of(system, external, name);
    auto place = rules_.place(name, attributes.type);
    if (!place) {
      return fail(place.error());
    }
    if (!*place) {
      return {};
    }
    if (auto ok = writer_.make_directories(**place, rules_.display()); !ok) {
      return ok;
    }
    return attributes.type == EntryType::directory ? Result<void>() : file(index, name, **place, attributes.mode);
  }

 private:
  Result<void> file(zip_uint64_t index, const std::string& name, const Place& place, unsigned mode) {
    zip_stat_t stat;
    if (zip_stat_index(zip_.get(), index, 0, &stat) != 0) {
      return damaged(zip_strerror(zip_.get()));
    }
    if (stat.encryption_method != ZIP_EM_NONE) {
      return bad_archive(rules_.display(), "it is encrypted");
    }
    if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
      return bad_archive(
          rules_.display(),
          fmt::format("it is compressed with method {}; OpenTofu reads 0 (stored) and 8 (deflated)", stat.comp_method));
    }
    const ZipFile opened(zip_fopen_index(zip_.get(), index, 0));
    if (opened == nullptr) {
      return damaged(zip_strerror(zip_.get()));
    }
    if (auto ok = writer_.begin_file(place, rules_.display()); !ok) {
      return ok;
    }
    for (;;) {
      const zip_int64_t got = zip_fread(opened.get(), piece_.data(), piece_.size());
      if (got < 0) {
        return damaged(zip_file_strerror(opened.get()));
      }
      if (got == 0) {
        return writer_.end_file(mode);
      }
      if (auto ok = piece(name, {piece_.data(), static_cast<std::size_t>(got)}); !ok) {
        return ok;
      }
    }
  }

  Result<void> piece(const std::string& name, std::string_view bytes) {
    if (auto ok = rules_.grow(name, bytes.size()); !ok) {
      return ok;
    }
    if (auto ok = writer_.write(bytes); !ok) {
      return ok;
    }
    return context_.check();
  }

  Result<void> damaged(const char* reason) const {
    return fail(with_note(bad_archive(rules_.display(), "it is damaged").value(), reason));
  }

  Zip zip_;
  Rules& rules_;
  TreeWriter& writer_;
  const Context& context_;
  std::vector<char> piece_;
};

}  // namespace

Result<void> read_zip(const std::filesystem::path& archive, Rules& rules, TreeWriter& writer, const Context& context) {
  if (auto ok = judge_zip_directory(archive, rules); !ok) {
    return ok;
  }
  int reason = 0;
  Zip zip(zip_open(archive.c_str(), ZIP_RDONLY, &reason));
  if (zip == nullptr) {
    zip_error_t error;
    zip_error_init_with_code(&error, reason);
    const std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    return fail(with_note(bad_archive(rules.display(), "it is damaged").value(), text));
  }
  const auto entries = static_cast<zip_uint64_t>(zip_get_num_entries(zip.get(), 0));
  Reader reader(std::move(zip), rules, writer, context);
  for (zip_uint64_t i = 0; i < entries; ++i) {
    if (auto ok = context.check(); !ok) {
      return ok;
    }
    if (auto ok = reader.entry(i); !ok) {
      return ok;
    }
  }
  return {};
}

}  // namespace modlock::unpack
