#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "backends/base/lazy_library.h"

namespace modlock {
namespace {

[[noreturn]] void end_as_the_loader_does() {
  constexpr int kCannotStart = 127;
  fmt::print(stderr, "tofu-modlock: error while loading shared libraries: {}\n", dlerror());
  std::_Exit(kCannotStart);
}

}  // namespace

void* LazyLibrary::find(const char* function) const {
  // Never closed: what it is asked for may run until the program ends. Opening it again only counts.
  void* const library = dlopen(file_, RTLD_LAZY | RTLD_LOCAL);
  void* const found = library == nullptr ? nullptr : dlsym(library, function);
  if (found == nullptr) end_as_the_loader_does();
  return found;
}

void LazyLibrary::load() const {
  if (dlopen(file_, RTLD_LAZY | RTLD_GLOBAL) == nullptr) end_as_the_loader_does();
}

}  // namespace modlock
