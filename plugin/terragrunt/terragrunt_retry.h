#pragma once

#include <string>

namespace modlock::terragrunt {

// Replaces words in a text that Terragrunt's retry patterns need, so that none of them matches, whatever names and
// server responses the text quotes. Otherwise Terragrunt would take the failure for a transient network error, hide it
// and repeat the step: get_default_retryable_errors().
std::string without_retry_words(std::string text);

}  // namespace modlock::terragrunt
