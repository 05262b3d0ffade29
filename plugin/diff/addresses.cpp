#include "plugin/diff/addresses.h"

#include <algorithm>
#include <array>

#include "backends/base/ascii.h"
#include "plugin/diff/package_text.h"

namespace modlock {
namespace {

constexpr std::array<std::string_view, 12> kClouds = {
    "amazonaws.com", "amazonaws.com.cn", "amazon.com",    "googleapis.com", "google.com", "windows.net",
    "azure.com",     "microsoft.com",    "kubernetes.io", "k8s.io",         "w3.org",     "json-schema.org"};
// The last label of a whole text that looks like a host name and is a file, the name of a service ("monitoring.rds"),
// or a size of an instance.
constexpr std::string_view kOtherEndings =
    "tf sh py js json yaml yml tpl tftpl tmpl zip txt tofu xml key conf cfg toml ps1 log html tar gz autoscaling "
    "cloudwatch dms ecs eks elasticache events iam kms lambda logs rds redshift sns sqs ssm nano micro small medium "
    "large xlarge metal";

bool is_cloud(std::string_view host) {
  return std::ranges::any_of(kClouds, [&](std::string_view cloud) {
    return host == cloud || (host.ends_with(cloud) && host[host.size() - cloud.size() - 1] == '.');
  });
}

bool is_host_character(char c) {
  return ascii::is_alnum(c) || c == '-' || c == '.';
}

// "example.com": labels, and a last one of letters.
bool is_host_name(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || !std::ranges::all_of(text, is_host_character)) {
    return false;
  }
  const std::string_view last = text.substr(dot + 1);
  const bool is_lower = std::ranges::all_of(last, [](char c) { return c >= 'a' && c <= 'z'; });
  return last.size() >= 2 && is_lower && text.find("..") == std::string_view::npos;
}

// The four numbers of an IPv4 address; empty: it is none.
std::vector<int> ipv4(std::string_view text) {
  std::vector<int> numbers;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('.'));
    const bool is_number = !part.empty() && part.size() <= 3 && std::ranges::all_of(part, ascii::is_digit);
    if (!is_number) {
      return {};
    }
    numbers.push_back(std::stoi(std::string(part)));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  const bool is_valid = numbers.size() == 4 && std::ranges::all_of(numbers, [](int n) { return n < 256; });
  return is_valid ? numbers : std::vector<int>();
}

bool is_public(const std::vector<int>& ip) {
  const int a = ip[0];
  return a != 0 && a != 10 && a != 127 && a != 255 && !(a == 169 && ip[1] == 254) && !(a == 192 && ip[1] == 168) &&
         !(a == 172 && ip[1] >= 16 && ip[1] < 32) && !(a == 100 && ip[1] >= 64 && ip[1] < 128) && a < 224;
}

}  // namespace

std::vector<std::string> addresses_in(std::string_view text) {
  std::vector<std::string> found;
  // Every run of host characters: IP addresses anywhere, accounts, and hosts behind "://" or "@" or on their own.
  visit_words(text, is_host_character, [&](std::string_view word, std::size_t start) {
    const std::string_view before = text.substr(0, start);
    const std::vector<int> ip = ipv4(word);
    const bool is_whole = word.size() == text.size();
    const bool is_digits = word.size() == 12 && std::ranges::all_of(word, ascii::is_digit);
    if (is_digits && (is_whole || before.ends_with(':'))) {
      found.push_back("account " + std::string(word));
    } else if (!ip.empty()) {
      if (is_public(ip)) {
        found.emplace_back(word);
      }
    } else if ((is_whole ? !is_in(kOtherEndings, word.substr(word.rfind('.') + 1))
                         : before.ends_with("://") || before.ends_with('@') || before.ends_with("/dev/tcp/")) &&
               is_host_name(word) && !is_cloud(word)) {
      found.emplace_back(word);
    }
  });
  return found;
}

}  // namespace modlock
