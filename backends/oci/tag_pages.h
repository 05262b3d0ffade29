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

// The pages of one listing of tags (OCI distribution specification, "Listing Tags"): a page names the next one in its
// Link header, relative or absolute.
class TagPages {
 public:
  struct Page {
    std::string url;
    bool same_origin = true;  // as the first page; to another origin goes no authorization
  };

  // `display` is the repository, for messages.
  TagPages(std::string first_url, std::string display);

  // The next page to ask for; nullopt: that was the last.
  const std::optional<Page>& next() const { return next_; }
  // Reads a page. Errors: BAD_RESPONSE (no JSON of that shape, a Link that leads to a page that was there, to http or
  // nowhere); LIMIT_EXCEEDED (more than 1,000 pages or 200,000 tags).
  Result<void> take(const HttpResponse& page);
  // Each tag once, in the order of the registry.
  std::vector<std::string> tags() const { return tags_; }
  // When the oldest of the pages came.
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

// The target of the first link of relation "next" in the value of a Link header (RFC 8288); where no link has a
// relation, the first, as oras-go reads it. nullopt where there is none.
std::optional<std::string> next_link(std::string_view value);

}  // namespace modlock::oci
