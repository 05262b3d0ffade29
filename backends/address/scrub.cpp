#include "backends/address/scrub.h"

#include <algorithm>

#include "backends/address/go_url.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"

namespace modlock {
namespace {

constexpr std::string_view kLeftOut = "…";
constexpr std::size_t kShortestName = 4;
constexpr std::size_t kShortestValue = 6;
constexpr std::size_t kShortestKept = 4;
constexpr std::size_t kLeastByChance = 8;
constexpr std::size_t kMostTexts = 512;  // of 256 secrets

// Returns the length of the longest start of `secret` with which `text` ends.
std::size_t cut_off_size(std::string_view text, std::string_view secret) {
  for (std::size_t size = std::min(text.size(), secret.size()); size >= kShortestKept; --size) {
    if (text.ends_with(secret.substr(0, size))) {
      return size;
    }
  }
  return 0;
}

void add_user(const GoUrl& url, const Source& shown, std::vector<std::string>& secrets) {
  if (!url.user) {
    return;
  }
  const std::string& name = url.user->name;
  const std::string identity = ascii::lower(shown.identity());
  if (url.scheme != "ssh" && name.size() >= kShortestName && identity.find(ascii::lower(name)) == std::string::npos) {
    secrets.push_back(name);
  }
  if (!url.user->password.value_or("").empty()) {
    secrets.push_back(*url.user->password);
  }
}

void add_arguments(const GoUrl& url, const Source& shown, std::vector<std::string>& secrets) {
  for (const auto& argument : parse_query(url.raw_query)) {
    const auto address = argument.first == "checksum" ? checksum_list_address(argument.second) : std::nullopt;
    if (const auto list = address ? GoUrl::parse(*address) : std::nullopt) {
      add_user(*list, shown, secrets);
      for (const auto& [key, value] : parse_query(list->raw_query)) {
        if (value.size() >= kShortestValue) {
          secrets.push_back(value);
        }
      }
    } else if (argument.second.size() >= kShortestValue &&
               std::ranges::find(shown.query, argument) == shown.query.end()) {
      secrets.push_back(argument.second);
    }
  }
}

}  // namespace

std::string scrub_urls(std::string_view text) {
  constexpr std::string_view kMark = "://";
  std::string result;
  while (true) {
    const std::size_t mark = text.find(kMark);
    if (mark == std::string_view::npos) {
      return result.append(text);
    }
    result += text.substr(0, mark + kMark.size());
    text.remove_prefix(mark + kMark.size());
    // A password may contain an unescaped "@" or "/": everything before the last "@" of the word is removed.
    const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n'\"<>"));
    text.remove_prefix(word.size());
    const std::size_t at = word.rfind('@');
    const std::size_t query = std::min(word.find_first_of("?#"), word.size());
    if (at != std::string_view::npos && at > query) {
      result += kLeftOut;
      continue;
    }
    if (at != std::string_view::npos) {
      result.append(kLeftOut).append(word.substr(at, query - at));
    } else {
      result += word.substr(0, query);
    }
    result += query < word.size() ? kLeftOut : std::string_view();
  }
}

std::vector<std::string> secrets_of(const SourceAddress& source) {
  std::vector<std::string> secrets;
  if (const auto url = GoUrl::parse(source.package_url.reveal())) {
    add_user(*url, source.source, secrets);
    add_arguments(*url, source.source, secrets);
  }
  return secrets;
}

void Secrets::add(std::string_view secret) {
  for (std::string text : {ascii::lower(secret), ascii::lower(encode_query({{"", std::string(secret)}}).substr(1))}) {
    if (!text.empty() && std::ranges::find(texts_, text) == texts_.end()) {
      texts_.push_back(std::move(text));
    }
  }
}

bool Secrets::are_in(std::string_view text) const {
  const std::string lower = ascii::lower(text);
  return std::ranges::any_of(texts_, [&lower](const std::string& secret) {
    return secret.size() >= kLeastByChance && lower.find(secret) != std::string::npos;
  });
}

std::string Secrets::scrub(std::string_view text) const {
  const std::string lower = ascii::lower(text);
  std::vector<bool> is_secret(text.size(), false);
  const auto hide = [&is_secret](std::size_t begin, std::size_t size) {
    std::fill_n(is_secret.begin() + static_cast<std::ptrdiff_t>(begin), size, true);
  };
  for (const std::string& secret : texts_) {
    for (std::size_t at = lower.find(secret); at != std::string::npos; at = lower.find(secret, at + secret.size())) {
      hide(at, secret.size());
    }
    for (std::size_t at = lower.find(kLeftOut); at != std::string::npos; at = lower.find(kLeftOut, at + 1)) {
      const std::size_t size = cut_off_size(std::string_view(lower).substr(0, at), secret);
      hide(at - size, size == 0 ? 0 : size + kLeftOut.size());
    }
  }
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_secret[i]) {
      shown += text[i];
    } else if (i == 0 || !is_secret[i - 1]) {
      shown += kLeftOut;
    }
  }
  return shown;
}

void Secrets::scrub(Error& error) const {
  error.message = scrub(error.message);
  if (std::string hint = scrub(error.hint.text()); hint != error.hint.text()) {
    error.hint = std::move(hint);
  }
  for (std::string& note : error.notes) {
    note = scrub(note);
  }
  for (Related& related : error.related) {
    related.message = scrub(related.message);
  }
}

void KnownSecrets::add(std::string_view secret) {
  if (secret.size() < kShortestKept) {
    return;
  }
  const std::lock_guard lock(mutex_);
  secrets_.add(secret);
  while (secrets_.texts_.size() > kMostTexts) {
    secrets_.texts_.pop_front();
  }
}

Secrets KnownSecrets::all() const {
  const std::lock_guard lock(mutex_);
  return secrets_;
}

}  // namespace modlock
