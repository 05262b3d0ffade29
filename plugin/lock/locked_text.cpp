#include "plugin/lock/locked_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/version.h"
#include "backends/base/ascii.h"
#include "backends/base/files.h"
#include "backends/git/references.h"

namespace modlock {

std::string pin_text(const std::string& source, const std::string& ref) {
  const auto parsed = parse_identity(source);
  const std::string_view argument = parsed ? parsed->reference_argument() : std::string_view();
  return fmt::format("?{}={}", argument.empty() ? "ref" : argument, ref);
}

namespace {

// Returns whether a position is inside the numbers of a tag: that of "0.0.1" in "v1.0.0.1".
bool divides_numbers(std::string_view tag, std::size_t at) {
  std::string_view name = tag.substr(0, at);
  if (name.ends_with('.')) {
    name.remove_suffix(name.size() - 1 - name.find_last_not_of("0123456789."));  // npos + 1 is 0
    name.remove_suffix(name.ends_with('v') ? 1 : 0);
    return tag[at] != 'v' && name.size() + 1 < at && (name.empty() || !ascii::is_alpha(name.back()));
  }
  return !name.empty() && ascii::is_digit(name.back()) && ascii::is_digit(tag[at]);
}

}  // namespace

std::optional<std::string> tag_prefix_of(std::string_view tag) {
  for (std::size_t at = 0; at < tag.size(); ++at) {
    if (!divides_numbers(tag, at) && parse_version_tag(tag, tag.substr(0, at))) {
      return std::string(tag.substr(0, at));
    }
  }
  return std::nullopt;
}

Hint reselect_command(std::string_view source, std::string_view subject) {
  const auto parsed = parse_identity(source);
  const std::string ref = parsed ? parsed->named_reference() : "";
  return tag_prefix_of(ref) || git::is_full_commit(ref) ? tofu_modlock("update", subject)
                                                        : tofu_modlock("upgrade", "--target", subject);
}

Hint review_lock_hint() {
  return "run: " + tofu_modlock("lock") + ", review the change and commit it";
}

std::string short_id(std::string_view id) {
  constexpr std::size_t kShown = 12;
  return std::string(id.substr(id.rfind(':') + 1, kShown));
}

std::string origin_of(const std::string& commit, const std::string& digest, const std::string& checksum) {
  return !commit.empty()     ? "git:" + commit
         : !digest.empty()   ? "oci:" + digest
         : !checksum.empty() ? "zh:" + checksum
                             : "";
}

std::string origin_words(std::string_view hash) {
  const std::string_view scheme = hash.substr(0, hash.find(':'));
  const std::string_view value = hash.substr(std::min(scheme.size() + 1, hash.size()));
  return fmt::format("{}{}",
                     scheme == "git"   ? "commit "
                     : scheme == "oci" ? "manifest "
                     : scheme == "zh"  ? "archive "
                                       : "",
                     value);
}

std::string locked_text(const std::optional<std::string>& version, std::string_view ref, std::string_view origin) {
  if (version || origin.empty()) {
    return version.value_or(std::string(ref));
  }
  const std::string id = short_id(origin);
  const bool names_content = ref.empty() || origin.ends_with(ref);
  return names_content ? origin_words(fmt::format("{}:{}", origin.substr(0, origin.find(':')), id))
                       : fmt::format("{} ({})", ref, id);
}

std::string locked_text(const ModuleLock& lock) {
  const auto source = parse_identity(lock.source);
  return locked_text(lock.version, source ? source->named_reference() : "", lock.origin_hash());
}

std::vector<LockedSubject> locked_subjects(const std::filesystem::path& root) {
  const auto read = [&](std::string_view name) {
    const auto text = read_file(root / name);
    return text ? parse_lock(*text, std::string(name)).value_or(LockFile{}) : LockFile{};
  };
  const LockFile lock = with_module_blocks(read(kLockFileName), read(kSidecarFileName), std::nullopt);
  std::vector<LockedSubject> subjects;
  for (const auto& [key, entry] : lock.modules) {
    subjects.push_back({"module." + key, entry.version.value_or("")});
  }
  for (const auto& [address, entry] : lock.providers) {
    const std::string full = address.to_string();
    const bool is_default = full.starts_with(kOpenTofuRegistry) || full.starts_with(kTerraformRegistry);
    subjects.push_back(
        {"provider." + (is_default ? full.substr(full.find('/') + 1) : full), entry.version.to_string()});
  }
  return subjects;
}

}  // namespace modlock
