#pragma once

#include <atomic>

namespace modlock {

// A shared library that is loaded when one of its functions is called for the first time. For those that bring dozens
// of others with them: loading these takes longer than most of what never needs them. `file` is the soname.
class LazyLibrary {
 public:
  constexpr explicit LazyLibrary(const char* file) : file_(file) {}

  // Where the library has neither been installed nor the function, the program ends with the status and the message of
  // the dynamic loader, as it would if it were linked with it.
  void* find(const char* function) const;

  // Loads it for the weak symbols that the program was linked with: calls of them reach it from then on. Where it has
  // not been installed the program ends as with find().
  void load() const;

 private:
  const char* file_;
};

// A function of such a library, called as that function is: LazyFunction<decltype(::name)>(library, "name").
// Thread-safe.
template <typename Signature>
class LazyFunction {
 public:
  constexpr LazyFunction(const LazyLibrary& library, const char* name) : library_(library), name_(name) {}

  template <typename... Arguments>
  auto operator()(Arguments... arguments) const {
    Signature* function = function_.load(std::memory_order_acquire);
    if (function == nullptr) {
      function = reinterpret_cast<Signature*>(library_.find(name_));
      function_.store(function, std::memory_order_release);
    }
    return function(arguments...);
  }

 private:
  const LazyLibrary& library_;
  const char* name_;
  mutable std::atomic<Signature*> function_ = nullptr;
};

// For std::unique_ptr of what such a library makes: Free<git::tree_free>.
template <const auto& function>
struct Free {
  template <typename T>
  void operator()(T* thing) const {
    function(thing);
  }
};

}  // namespace modlock
