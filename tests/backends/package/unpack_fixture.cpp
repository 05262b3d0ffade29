#include "tests/backends/package/unpack_fixture.h"

#include <fmt/ranges.h>
#include <sys/stat.h>

#include <set>

#include "tests/support/zip_builder.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

const std::string kLongName = "long/" + std::string(90, 'n') + "/" + std::string(120, 'm');

}  // namespace

std::vector<ArchiveEntry> ordinary_zip_entries() {
  return {
      {.name = "main.tf", .content = "output \"x\" { value = 1 }\n", .zip_method = 8},
      {.name = "run.sh", .content = "1", .mode = 0755},
      {.name = "owner-only", .content = "1", .mode = 0600},
      {.name = "read-only", .content = "1", .mode = 0444},
      {.name = "set-user-id", .content = "1", .mode = 04755},
      {.name = "no-mode", .content = "1", .mode = 0},
      {.name = "fat", .content = "1", .zip_system = 0, .zip_attributes = 0},
      {.name = "fat-read-only", .content = "1", .zip_system = 0, .zip_attributes = 1},
      {.name = "ntfs", .content = "1", .zip_system = 11, .zip_attributes = 0x20},
      {.name = "fat-directory", .zip_system = 0, .zip_attributes = 0x10},
      {.name = "mac", .content = "1", .mode = 0640, .zip_system = 19},
      {.name = "amiga", .content = "1", .zip_system = 1},
      {.name = "late/file", .content = "1"},
      {.name = "late/", .mode = 0700, .type = ArchiveEntry::Type::directory},
      {.name = "empty/", .mode = 0711, .type = ArchiveEntry::Type::directory},
      {.name = "no-slash", .mode = 0755, .type = ArchiveEntry::Type::directory},
      {.name = "implied/by/file", .content = "1"},
      {.name = "link", .content = "main.tf", .mode = 0777, .type = ArchiveEntry::Type::symbolic_link},
      {.name = "link-out", .content = "../../etc/passwd", .mode = 0777, .type = ArchiveEntry::Type::symbolic_link},
      {.name = "./dots/.//file", .content = "1"},
      {.name = "back\\slash", .content = "1"},
      {.name = "\xc3\xa9t\xc3\xa9", .content = "1"},
      {.name = kLongName, .content = "1"},
      {.name = "nothing-in-it"},
      {.name = ".git/config", .content = "1"},
      {.name = "late/.svn/x", .content = "1"},
      {.name = "late/CVS", .content = "1"},
  };
}

std::string zip_with_unicode_path() {
  using namespace std::string_literals;
  constexpr const char* kCrcOfName = "\x06\x7E\x23\x5E";
  return build_zip({{.name = "name", .content = "1", .extra = "\x75\x70\x0A\0\x01"s + kCrcOfName + "other"}});
}

std::vector<ArchiveEntry> ordinary_tar_entries() {
  return {
      {.name = "./", .mode = 0700, .type = ArchiveEntry::Type::directory},
      {.name = "./main.tf", .content = "output \"x\" { value = 1 }\n"},
      {.name = "./run.sh", .content = "1", .mode = 0755},
      {.name = "owner-only", .content = "1", .mode = 0600},
      {.name = "set-user-id", .content = "1", .mode = 04755},
      {.name = "no-mode", .content = "1", .mode = 0},
      {.name = "late/file", .content = "1"},
      {.name = "late/", .mode = 0711, .type = ArchiveEntry::Type::directory},
      {.name = "read-only", .mode = 0555, .type = ArchiveEntry::Type::directory},
      {.name = "read-only/file", .content = "1"},
      {.name = "twice/", .mode = 0700, .type = ArchiveEntry::Type::directory},
      {.name = "twice/", .mode = 0750, .type = ArchiveEntry::Type::directory},
      {.name = "implied/by/file", .content = "1"},
      {.name = "link", .content = "main.tf", .mode = 0777, .type = ArchiveEntry::Type::symbolic_link},
      {.name = "link-out", .content = "../../etc/passwd", .mode = 0777, .type = ArchiveEntry::Type::symbolic_link},
      {.name = "hard", .content = "./main.tf", .mode = 0640, .type = ArchiveEntry::Type::hard_link},
      {.name = "hard-out", .content = "/etc/passwd", .mode = 0644, .type = ArchiveEntry::Type::hard_link},
      {.name = "back\\slash", .content = "1"},
      {.name = "\xc3\xa9t\xc3\xa9", .content = "1"},
      {.name = kLongName, .content = "1"},
      {.name = "nothing-in-it"},
      {.name = ".git/config", .content = "1"},
      {.name = "late/CVS", .content = "1"},
  };
}

std::string describe_tree(const fs::path& root) {
  std::set<std::string> lines;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    struct stat found {};
    ::lstat(entry.path().c_str(), &found);
    const std::string name = fs::relative(entry.path(), root).string();
    const unsigned mode = found.st_mode & 07777U;
    if (S_ISDIR(found.st_mode)) {
      lines.insert(fmt::format("{}/ {:o}\n", name, mode));
    } else if (S_ISREG(found.st_mode)) {
      lines.insert(fmt::format("{} {:o} {}\n", name, mode, read_text(entry.path())));
    } else {
      lines.insert(fmt::format("{} is of type {:o}\n", name, found.st_mode & unsigned{S_IFMT}));
    }
  }
  return fmt::format("{}", fmt::join(lines, ""));
}

}  // namespace modlock::test
