#include "tests/support/environment.h"

#include <cstdlib>

namespace modlock::test {
namespace {

void put(const std::string& name, const std::optional<std::string>& value) {
  if (value) {
    ::setenv(name.c_str(), value->c_str(), 1);
  } else {
    ::unsetenv(name.c_str());
  }
}

}  // namespace

ScopedEnvironment::ScopedEnvironment(std::string name, const std::optional<std::string>& value)
    : name_(std::move(name)) {
  if (const char* before = ::getenv(name_.c_str())) {
    before_ = before;
  }
  put(name_, value);
}

ScopedEnvironment::~ScopedEnvironment() {
  put(name_, before_);
}

}  // namespace modlock::test
