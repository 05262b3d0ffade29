#include "backends/package/tree_scan.h"

#include <fmt/format.h>

#include <deque>
#include <string_view>
#include <system_error>
#include <vector>

#include "backends/address/source_text.h"
#include "backends/base/entry_name.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // the limit of Linux

tl::unexpected<Error> unsafe(const std::string& name, std::string_view why) {
  return fail(Code::archive_unsafe, fmt::format("the link \"{}\" of the package {}", escape_controls(name), why),
              "the package cannot be used as it is: ask its author to replace the link");
}

void put_before(std::deque<std::string>& way, std::string_view text) {
  std::vector<std::string_view> parts = split(text, '/');
  std::erase_if(parts, [](std::string_view part) { return part.empty() || part == "."; });
  way.insert(way.begin(), parts.begin(), parts.end());
}

// Follows a path through the package, one name at a time.
class Walk {
 public:
  Walk(const fs::path& root, const std::string& name) : root_(root), name_(name) { put_before(way_, name); }

  Result<LinkTarget> run() {
    while (!way_.empty()) {
      const std::string part = std::move(way_.front());
      way_.pop_front();
      MODLOCK_TRY(step(part));
    }
    return missing_ ? LinkTarget::nothing : at_file_ ? LinkTarget::file : LinkTarget::directory;
  }

 private:
  Result<void> step(const std::string& part) {
    if (at_file_) {
      missing_ = true;
    }
    if (part == "..") {
      if (inside_.empty()) {
        return unsafe(name_, "points outside it");
      }
      inside_.pop_back();
      return {};
    }
    inside_.push_back(part);
    if (missing_ || is_git_entry(part)) {
      missing_ = true;
      return {};
    }
    return look();
  }

  Result<void> look() {
    fs::path here = root_;
    for (const std::string& part : inside_) {
      here /= part;
    }
    std::error_code error;
    const fs::file_status status = fs::symlink_status(here, error);
    switch (status.type()) {
      case fs::file_type::directory:
        return {};
      case fs::file_type::regular:
        at_file_ = true;
        return {};
      case fs::file_type::not_found:
        missing_ = true;
        return {};
      case fs::file_type::symlink:
        return turn(here);
      case fs::file_type::none:
        return error == std::errc::filename_too_long ? unsafe(name_, "has a target that is too long")
                                                     : system_failure("read", here, error.value());
      default:
        return unsafe(name_, "points to a device, a pipe, or a socket");
    }
  }

  Result<void> turn(const fs::path& link) {
    std::error_code error;
    const std::string target = fs::read_symlink(link, error).string();
    if (error) {
      return system_failure("read the link", link, error.value());
    }
    if (!target.empty() && target.front() == '/') {
      return unsafe(name_, fmt::format("points to the absolute path \"{}\"", escape_controls(target)));
    }
    if (++links_ > kMostLinks) {
      return unsafe(name_, "points into a cycle of links");
    }
    inside_.pop_back();
    put_before(way_, target);
    return {};
  }

  const fs::path& root_;
  const std::string& name_;
  std::deque<std::string> way_;
  std::vector<std::string> inside_;  // the current path below root_
  int links_ = 0;
  bool at_file_ = false;
  bool missing_ = false;
};

}  // namespace

Result<LinkTarget> follow_link(const fs::path& root, const std::string& name) {
  return Walk(root, name).run();
}

}  // namespace modlock
