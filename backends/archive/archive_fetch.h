#pragma once

#include <filesystem>
#include <string>

#include "backends/archive/archive_request.h"
#include "backends/archive/checksum.h"
#include "backends/backend_set.h"
#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"

namespace modlock::archive {

// Brings one package, over as many hops as it takes. One object serves one request. The rules are those of
// make_archive_backend().
class ArchiveFetch {
 public:
  ArchiveFetch(HttpClient& http, Credentials& credentials, const BackendSet& others,
               const std::filesystem::path& parent, const Context& context)
      : http_(http), credentials_(credentials), others_(others), parent_(parent), context_(context) {}

  Result<FetchedTree> fetch(const SourceAddress& address, const FetchRequest& fetch_request);

 private:
  Result<FetchedTree> download(const SourceAddress& address, const ArchiveRequest& request,
                               const FetchRequest& fetch_request);
  Result<FetchedTree> follow(const SourceAddress& address, const ArchiveRequest& request,
                             const FetchRequest& fetch_request);
  Result<FetchedTree> fetch_from(Backend& backend, const SourceAddress& address, const FetchRequest& fetch_request);
  Result<Checksum> listed_checksum(const ArchiveRequest& archive, std::string_view list);
  Result<HttpResponse> send(const ArchiveRequest& request, std::string purpose, BodySink* sink);

  HttpClient& http_;
  Credentials& credentials_;
  const BackendSet& others_;
  const std::filesystem::path& parent_;
  const Context& context_;
  int hops_ = 0;
};

}  // namespace modlock::archive
