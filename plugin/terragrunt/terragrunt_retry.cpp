#include "plugin/terragrunt/terragrunt_retry.h"

#include <string_view>
#include <utility>

#include "backends/base/text.h"

namespace modlock::terragrunt {
namespace {

// Every pattern of Terragrunt 0.55 to 1.1 contains one of these, spelled and cased like this.
constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {"timeout", "time-out"},
    {"Client.Timeout", "Client time-out"},
    {"connection reset by peer", "connection reset by the other side"},
    {"Connection closed by remote host", "connection closed by the other side"},
    {"context deadline exceeded", "deadline exceeded"},
    {"429 Too Many Requests", "429 (too many requests)"},
    {"returned error: 429", "returned error 429"},
    {"NoSuchBucket:", "no such bucket:"},
    {"TooManyUpdates:", "too many updates:"},
    {"request to update this alarm is in progress", "this alarm is being updated"},
};

}  // namespace

std::string without_retry_words(std::string text) {
  for (const auto& [word, other] : kWords) {
    replace_all(text, word, other);
  }
  return text;
}

}  // namespace modlock::terragrunt
