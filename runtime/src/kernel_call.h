#pragma once
// One call of a kernel, and what it reports as an exception.

#include <array>
#include <functional>
#include <span>

#include "call_context.h"
#include "hk/kernel_info.h"
#include "hk/tensor.h"
#include "kernel_arguments.h"

namespace hk::detail {

struct Operand {
    const char *name;  // for messages
    const Tensor &tensor;
};

// A call of an operation, on the stream completed to both handles. Its work comes after what
// earlier owners of the operands' memory have queued, and that memory, when the operands go, is
// used again after its work. The operands must outlive it.
class OperationCall : public CallContext {
public:
    // Throws InvalidArgument where an operand can't be used on the stream; DeviceError.
    OperationCall(const char *operation, Device device, std::span<const Operand> operands,
                  const Stream &stream);
    ~OperationCall();

    // Waits until the work that is queued on the stream is done.
    void wait() const noexcept;

    // Whether the stream is of the library's own context, of the CPU too.
    bool in_own_context() const;

private:
    static constexpr size_t kMostOperands = 8;

    // Of operands, where the stream is a caller's.
    std::array<const Tensor *, kMostOperands> tensors_{};
    size_t count_ = 0;
};

// Whether a call may run on the library's own queue, where copies are in order with it.
inline bool on_own_queue(const Stream &stream) { return !stream.context && !stream.handle; }

// Calls the arguments' kernel. Throws OutOfMemory, DeviceError or KernelFailure.
void call_kernel(CallContext &context, KernelArguments &arguments);

// While it lives, its function hears of each kernel that calls of this thread have run, those
// behind the row that was asked for too, when they are queued. One a thread.
class KernelWatch {
public:
    // `bytes`: of all buffers of the kernel, each once.
    using Hear = std::function<void(const KernelInfo &kernel, int64_t bytes)>;

    explicit KernelWatch(Hear hear);
    ~KernelWatch();
    KernelWatch(const KernelWatch &) = delete;
    KernelWatch &operator=(const KernelWatch &) = delete;

    void tell(const KernelArguments &arguments) const;

private:
    const Hear hear_;
};

// The exception for a status of Halide's and the message that came with it.
[[noreturn]] void throw_failure(const char *operation, const KernelInfo &kernel, Device device,
                                int status, std::string_view message);

}  // namespace hk::detail
