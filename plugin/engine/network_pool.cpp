#include "plugin/engine/network_pool.h"

#include <utility>

#include "backends/credentials/process_environment.h"
#include "plugin/client/client_configuration.h"

namespace modlock {

std::shared_ptr<const Network> NetworkPool::get(const NetworkOptions& options, const Store& store) {
  // Taken before the files are read, so that a change in between shows the next time.
  std::string state = client_configuration_state(options.tool, current_environment());
  const std::lock_guard guard(mutex_);
  Entry& entry = networks_[{options.tool, options.client_version}];
  if (entry.network == nullptr || entry.state != state) {
    entry.network = std::make_shared<const Network>(options, store);
    entry.state = std::move(state);
  }
  return entry.network;
}

}  // namespace modlock
