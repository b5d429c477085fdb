#pragma once
// Where tensors live and kernels run, and the queue that they are put on.
//
// Thread safety: everything here may be called from any thread.
//
// fork(): the child may call the library if, at the fork, no other thread was in a call of it, and
// no device but the CPU had been used: drivers do not survive a fork. Else it may only exec or
// _exit: what other threads had locked stays locked there. posix_spawn is always safe.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hk {

enum class DeviceType : uint8_t { cpu, cuda, opencl };

std::string_view name_of(DeviceType type) noexcept;  // "cpu", "cuda", "opencl"

// What selection must know of a device. Bytes are those of one block (CUDA) or work-group (OpenCL).
struct DeviceLimits {
    int64_t shared_bytes = 0;  // shared or local memory that a kernel may use without opting in
    int64_t shared_bytes_opt_in = 0;  // CUDA: the most after opting in; elsewhere the same as above
    int64_t threads = 0;              // a block
    int64_t registers = 0;            // a block; 0 where the device does not say
    int compute_capability = 0;       // CUDA: 10 * major + minor; elsewhere 0
    bool tile_registers = false;      // of a CPU: kernels may use its registers of matrices (AMX)
    bool avx512 = false;              // of a CPU: kernels may use its vectors of 64 bytes
};

class Device {
public:
    constexpr Device() = default;  // the CPU
    static constexpr Device cpu() { return Device(DeviceType::cpu, 0); }
    static constexpr Device cuda(int index = 0) { return Device(DeviceType::cuda, index); }
    static constexpr Device opencl(int index = 0) { return Device(DeviceType::opencl, index); }

    // The devices that work here, the CPU first. Never throws for a missing driver.
    static std::vector<Device> all();

    // "cpu", "cuda:0", "opencl:1"; throws InvalidArgument for anything else.
    static Device parse(std::string_view text);

    constexpr DeviceType type() const { return type_; }
    constexpr int index() const { return index_; }
    constexpr bool is_cpu() const { return type_ == DeviceType::cpu; }

    std::string name() const;         // as parse() reads it
    std::string description() const;  // the vendor's name of the device; throws DeviceError

    bool available() const noexcept;  // false also where there is no memory to look for it

    // HK_SHARED_LIMIT=bytes lowers both figures of shared memory, so that a small device can be
    // imitated. Throws DeviceError where the device is not there, InvalidArgument where the
    // variable is not a number from 0.
    DeviceLimits limits() const;

    // Waits for all work on the library's own queue of the device; throws KernelFailure when that
    // work failed.
    void synchronize() const;

    // Unloads the library's code from a context that the caller made and used in a Stream, and
    // frees the memory that is cached for it. To be called before he destroys it, when all work on
    // it is done.
    void forget(void *context) const;

    constexpr bool operator==(const Device &) const = default;

private:
    constexpr Device(DeviceType type, int index) : type_(type), index_(index) {}

    DeviceType type_ = DeviceType::cpu;
    int index_ = 0;
};

// The queue that a call runs on, as the driver's own handles, so that a caller can bring his own:
// CUDA a CUcontext and a CUstream, OpenCL a cl_context and a cl_command_queue. A null handle stands
// for the library's own (CUDA: the device's primary context and its default stream). The caller
// keeps ownership, and keeps the handles alive until the work on them is done. Ignored on the CPU.
//
// Calls on a device return when the work is queued. Calls on one queue run in order; the caller
// orders work on different queues.
struct Stream {
    void *context = nullptr;
    void *handle = nullptr;

    constexpr bool operator==(const Stream &) const = default;
};

}  // namespace hk
