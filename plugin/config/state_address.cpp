#include "plugin/config/state_address.h"

#include <fmt/format.h>

#include "plugin/config/traversal.h"
#include "plugin/hcl/characters.h"

namespace modlock {
namespace {

using Steps = std::vector<Traversal::Step>;

tl::unexpected<Error> no_address(const std::string& text) {
  return fail(Code::source_invalid,
              fmt::format("expected provider[\"host/namespace/type\"], found {}", hcl::quoted_for_message(text)));
}

// Where "provider" stands: behind the modules, which have no keys.
std::size_t provider_at(const Steps& steps) {
  std::size_t at = 0;
  while (at + 1 < steps.size() && !steps[at].key && steps[at].name == "module" && !steps[at + 1].key) {
    at += 2;
  }
  return at;
}

// Behind the provider: an alias, then the key of an instance.
bool is_tail(const Steps& steps, std::size_t at) {
  const std::size_t rest = steps.size() - at;
  return rest == 0 || (!steps[at].key && (rest == 1 || (rest == 2 && steps[at + 1].key)));
}

}  // namespace

Result<ProviderAddress> parse_state_provider(const std::string& text, std::string_view default_host) {
  hcl::Expression expression;
  expression.node = hcl::JsonString{.text = text, .shifts = {}};
  const auto traversal = read_traversal(expression, {});
  if (!traversal) {
    return no_address(text);
  }
  const Steps& steps = traversal->steps;
  const std::size_t at = provider_at(steps);
  if (at + 1 >= steps.size() || steps[at].key || steps[at].name != "provider" || !is_tail(steps, at + 2)) {
    return no_address(text);
  }
  const Traversal::Step& provider = steps[at + 1];
  if (!provider.key) {
    return provider.name == "terraform" ? ProviderAddress::implied(provider.name, default_host)
                                        : ProviderAddress::parse("-/" + provider.name, default_host);
  }
  if (provider.name.size() < 2 || provider.name.front() != '"') {
    return no_address(text);
  }
  return ProviderAddress::parse(std::string_view(provider.name).substr(1, provider.name.size() - 2), default_host);
}

}  // namespace modlock
