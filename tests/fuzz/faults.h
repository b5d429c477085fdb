#pragma once
// Memory and drivers that fail when told to.

#include <cstdint>

namespace hk::fuzz {

enum class Fault {
    none,
    allocation,  // operator new
    system,      // the system's memory, from which the pool of the CPU takes its own
    limit,       // nothing can be added to what the pool has
    driver,      // a function of OpenCL
};

// Installs what can fail. To be called before anything is allocated from the library.
void install_faults();

// From now on the `nth` request (1: the next) of that kind fails, once; of `limit`, all.
void arm(Fault fault, int64_t nth);
void disarm();
bool fired();  // whether a request failed since

bool fails(Fault fault) noexcept;  // whether this request does
void install_failing_driver();

// Requests of more than this fail always, as on a machine that does not have it.
constexpr int64_t kMostBytes = int64_t{1} << 30;

}  // namespace hk::fuzz
