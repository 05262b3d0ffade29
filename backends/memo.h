#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/address/source.h"
#include "backends/base/context.h"
#include "backends/base/single_flight_map.h"
#include "protocol/base/result.h"

namespace modlock {

// Keeps the answers of one run, including failures, so that each question is asked only once. Concurrent callers with
// the same question wait. A caller gets no answer that its policy denies (Context::check_source). One without a policy
// shares answers only with others without one, because git then follows redirects that no one sees. `is_again` of an
// answer is true if it was known before. Thread-safe.
template <typename T>
class Memo {
 public:
  // `ask(context)` returns a Result<T>.
  template <typename Ask>
  Result<T> get(const std::string& question, const Context& context, const Ask& ask) {
    bool is_own = false;
    const auto kept = answers_.get({question, bool(context.check_source)}, context, [&] {
      is_own = true;
      return ask_and_keep(context, ask);
    });
    if (!kept) {
      // Another caller's policy denied the source; this caller's may allow it.
      return is_own || kept.error().code != Code::source_denied ? fail(kept.error()) : ask(context);
    }
    if (!is_own && context.check_source) {
      for (const auto& [source, hop] : (*kept)->redirected_to) {
        MODLOCK_TRY(context.check_source(source, hop));
      }
    }
    Result<T> answer = (*kept)->answer;
    if constexpr (requires(T known) { known.is_again; }) {
      if (answer) {
        answer->is_again = !is_own;
      }
    }
    return answer;
  }

  // Returns whether get() would return without waiting for some caller.
  bool has(const std::string& question) const {
    return answers_.has({question, true}) || answers_.has({question, false});
  }

 private:
  // An answer, and the sources to which its request was redirected: the policy of another caller may deny them.
  struct CachedAnswer {
    Result<T> answer;
    std::vector<std::pair<Source, ServerHop>> redirected_to;
  };

  template <typename Ask>
  static Result<std::shared_ptr<const CachedAnswer>> ask_and_keep(const Context& context, const Ask& ask) {
    std::mutex mutex;
    std::vector<std::pair<Source, ServerHop>> redirected_to;
    Context noting = context;
    if (context.check_source) {
      noting.check_source = [&](const Source& source, const ServerHop& hop) {
        const std::lock_guard guard(mutex);
        redirected_to.emplace_back(source, hop);
        return context.check_source(source, hop);
      };
    }
    Result<T> answer = ask(noting);
    if (!answer && depends_on_the_run(answer.error())) {
      return fail(std::move(answer.error()));
    }
    return std::make_shared<const CachedAnswer>(CachedAnswer{std::move(answer), std::move(redirected_to)});
  }

  // Returns whether another caller could get a different answer.
  static bool depends_on_the_run(const Error& error) {
    return error.code == Code::request_cancelled || error.code == Code::deadline_exceeded ||
           error.code == Code::source_denied;
  }

  SingleFlightMap<std::pair<std::string, bool>, std::shared_ptr<const CachedAnswer>> answers_;  // with a policy?
};

}  // namespace modlock
