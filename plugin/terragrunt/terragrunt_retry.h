#pragma once

#include <string>

namespace modlock::terragrunt {

// Terragrunt runs a step again, and hides its failure meanwhile, where what it wrote to stderr looks like a passing
// fault of the network to it: get_default_retryable_errors(). The text with other words in place of those that each of
// these patterns needs, so that none of them matches, whatever names and answers of servers the text quotes.
std::string without_retry_words(std::string text);

}  // namespace modlock::terragrunt
