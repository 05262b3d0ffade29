#include "tests/conformance/watched_client.h"

#include "backends/http/retrying_http_client.h"

namespace modlock::test {
namespace {

class WatchedTransport final : public Transport {
 public:
  WatchedTransport(Transport& transport, Wire& wire) : transport_(transport), wire_(wire) {}

  ExchangeResult exchange(const Exchange& exchange, const Context& context) override {
    Exchange hurried = exchange;
    Context limited = context;
    if (!wire_.prefix.empty() && exchange.url.reveal().starts_with(wire_.prefix)) {
      const std::lock_guard lock(wire_.mutex);
      ++wire_.sent;
      if (wire_.silence) {
        hurried.timeouts.connect = hurried.timeouts.idle = *wire_.silence;
      }
      if (wire_.whole && hurried.timeouts.total) {
        hurried.timeouts.total = *wire_.whole;
      } else if (wire_.whole) {
        limited.deadline = std::chrono::steady_clock::now() + *wire_.whole;
      }
    }
    return transport_.exchange(hurried, limited);
  }

 private:
  Transport& transport_;
  Wire& wire_;
};

}  // namespace

std::unique_ptr<HttpClient> make_watched_client(Transport& transport, Wire& wire) {
  RetryTiming timing{.wait =
                         [&wire](std::chrono::milliseconds delay, const Context&) {
                           const std::lock_guard lock(wire.mutex);
                           wire.waits.push_back(delay);
                         },
                     .jitter = [] { return 0.0; }};
  return make_retrying_http_client(std::make_unique<WatchedTransport>(transport, wire), std::move(timing));
}

}  // namespace modlock::test
