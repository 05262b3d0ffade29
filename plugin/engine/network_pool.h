#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "plugin/engine/network.h"

namespace modlock {

// The networks of an engine or of a run, one for each client. Thread-safe.
class NetworkPool {
 public:
  // Returns the network of the client that the options name. It is made at the first call, and again if the client's
  // CLI configuration has changed since; callers that have the older one keep it. The store outlives the pool.
  std::shared_ptr<const Network> get(const NetworkOptions& options, const Store& store);

 private:
  struct Entry {
    std::string state;  // of the CLI configuration
    std::shared_ptr<const Network> network;
  };

  std::mutex mutex_;
  std::map<std::pair<ClientKind, std::string>, Entry> networks_;  // by client
};

}  // namespace modlock
