#pragma once

namespace modlock {

// The deleter of a std::unique_ptr to an object of a C library: Deleter<git_tree_free>.
template <auto function>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    function(object);
  }
};

}  // namespace modlock
