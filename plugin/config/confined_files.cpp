#include "plugin/config/confined_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "plugin/config/config_files.h"
#include "plugin/config/roots.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> no_such(std::string_view what, const std::string& path) {
  return fail(Code::not_found, fmt::format("the {} \"{}\" does not exist", what, path));
}

tl::unexpected<Error> cannot(std::string_view what, const std::string& path, const std::error_code& error) {
  return fail(Code::io_error, fmt::format("cannot {} \"{}\": {}", what, path, error.message()));
}

class ConfinedFiles final : public eval::FileAccess {
 public:
  ConfinedFiles(const fs::path& root, std::vector<fs::path> bounds, Documents documents)
      : root_(document_path(root)), bounds_(std::move(bounds)), documents_(std::move(documents)) {}

  Result<std::string> read(const std::string& path) const override {
    MODLOCK_TRY(const auto place, locate(path));
    if (find_document(place, documents_) == nullptr) {
      std::error_code ignored;
      if (const auto size = fs::file_size(place, ignored); !ignored && size > kMaxReadBytes) {
        return fail(Code::limit_exceeded,
                    fmt::format("the file \"{}\" has {} bytes, at most {} are read", path, size, kMaxReadBytes));
      }
    }
    MODLOCK_TRY(auto text, read_document(place, documents_, kMaxReadBytes));
    if (!text) {
      return no_such("file", path);
    }
    return std::move(*text);
  }

  Result<bool> exists(const std::string& path) const override {
    MODLOCK_TRY(const auto place, locate(path));
    if (find_document(place, documents_) != nullptr) {
      return true;
    }
    std::error_code error;
    const fs::file_status status = fs::status(place, error);
    if (status.type() == fs::file_type::not_found) {
      return false;
    }
    if (error) {
      return cannot("look at", path, error);
    }
    if (!fs::is_regular_file(status)) {
      return fail(Code::io_error,
                  fmt::format("\"{}\" is {}, not a file", path,
                              fs::is_directory(status) ? "a directory" : "a device, a pipe or a socket"));
    }
    return true;
  }

  Result<std::vector<std::string>> list(const std::string& directory) const override {
    MODLOCK_TRY(const auto place, locate(directory));
    Listing listing;
    for (const auto& [path, document] : documents_) {
      if (const fs::path below = path.lexically_relative(place);
          !below.empty() && below != "." && *below.begin() != "..") {
        listing.files.insert(below.generic_string());
        *document.is_read = true;
      }
    }
    std::error_code error;
    const bool on_disk = fs::is_directory(place, error);
    if (!on_disk && listing.files.empty()) {
      return no_such("directory", directory);
    }
    if (on_disk) {
      MODLOCK_TRY(list_into(place, {}, directory, listing));
    }
    return std::vector<std::string>(listing.files.begin(), listing.files.end());
  }

  std::string working_directory() const override { return root_.generic_string(); }

 private:
  struct Listing {
    std::set<std::string> files;
    std::size_t entries = 0;
    std::vector<fs::path> open;  // the parent directories of the one being read, links resolved
  };

  Result<fs::path> locate(const std::string& path) const {
    if (!path.empty() && path.front() == '~') {
      return fail(Code::path_outside_root, fmt::format("the path \"{}\" starts at a home directory", path),
                  "write it relative to the root, or absolute");
    }
    return confine(document_path(root_ / path), bounds_);
  }

  // Adds the files below `directory` under their names from `prefix` on. Files outside of the bounds are left out.
  Result<void> list_into(const fs::path& directory, const std::string& prefix, const std::string& named,
                         Listing& listing) const {
    std::error_code error;
    const fs::path real = fs::canonical(directory, error);
    if (error || std::find(listing.open.begin(), listing.open.end(), real) != listing.open.end()) {
      return {};
    }
    listing.open.push_back(real);
    fs::directory_iterator entry(directory, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      if (++listing.entries > kMaxListed) {
        return fail(Code::limit_exceeded,
                    fmt::format("the directory \"{}\" has more than {} entries below it", named, kMaxListed));
      }
      MODLOCK_TRY(list_entry(*entry, prefix, named, listing));
    }
    listing.open.pop_back();
    if (error) {
      return cannot("list", (fs::path(named) / prefix).generic_string(), error);
    }
    return {};
  }

  Result<void> list_entry(const fs::directory_entry& entry, const std::string& prefix, const std::string& named,
                          Listing& listing) const {
    std::error_code error;
    if (entry.is_symlink(error) && !confine(entry.path(), bounds_)) {
      return {};
    }
    std::string name = prefix + entry.path().filename().string();
    if (entry.is_directory(error)) {
      return list_into(entry.path(), name + "/", named, listing);
    }
    if (entry.is_regular_file(error)) {
      listing.files.insert(std::move(name));
    }
    return {};
  }

  fs::path root_;
  std::vector<fs::path> bounds_;
  Documents documents_;
};

}  // namespace

std::shared_ptr<const eval::FileAccess> make_confined_files(const fs::path& root, std::vector<fs::path> bounds,
                                                            Documents documents) {
  return std::make_shared<const ConfinedFiles>(root, std::move(bounds), std::move(documents));
}

}  // namespace modlock
