#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "backends/http/http_client.h"
#include "protocol/base/result.h"

namespace modlock::oci {

// The pages of one tag listing (OCI distribution specification, "Listing Tags"). A page names the next one in its Link
// header, relative or absolute.
class TagPages {
 public:
  struct Page {
    std::string url;
    bool same_origin = true;  // as the first page; other origins get no authorization
  };

  // `display` is the repository, for messages.
  TagPages(std::string first_url, std::string display);

  // The next page to request; nullopt: there are no more pages.
  const std::optional<Page>& next() const { return next_; }
  // Reads a page. Errors: BAD_RESPONSE (not JSON of that shape, or a Link to an earlier page, to http, or without a
  // usable target); LIMIT_EXCEEDED (more than 1,000 pages or 200,000 tags).
  Result<void> take(const HttpResponse& page);
  // Each tag once, in the order of the registry.
  std::vector<std::string> tags() const { return tags_; }
  // The time at which the oldest page arrived.
  std::chrono::system_clock::time_point fetched_at() const { return fetched_at_; }

 private:
  Result<void> add(const HttpResponse& page);
  Result<void> find_next(const HttpResponse& page);

  std::string first_url_;
  std::string display_;
  std::optional<Page> next_;
  std::set<std::string> visited_;
  std::vector<std::string> tags_;
  std::unordered_set<std::string> seen_;
  std::chrono::system_clock::time_point fetched_at_ = std::chrono::system_clock::now();
};

// Returns the target of the first link with the relation "next" in the value of a Link header (RFC 8288). If no link
// has a relation, returns the first link, as oras-go does. nullopt if there is none.
std::optional<std::string> next_link(std::string_view value);

}  // namespace modlock::oci
