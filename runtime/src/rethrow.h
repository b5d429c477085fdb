#pragma once
// What the standard library throws, as hk/error.h promises it. A public function that allocates is
// a function-try-block:
//
//   void activate(…) try {
//       …
//   } catch (...) {
//       rethrow_as_error("activate");
//   }

namespace hk::detail {

// For use in a handler. Throws what is being handled: std::bad_alloc as OutOfMemory and
// std::length_error as InvalidArgument, both naming the operation, as does an OutOfMemory of a pool
// or a driver from then on; anything else as it is. Needs no memory to do so.
[[noreturn]] void rethrow_as_error(const char *operation);

}  // namespace hk::detail
