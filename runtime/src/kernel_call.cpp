#include "kernel_call.h"

#include "HalideRuntime.h"
#include "backend.h"
#include "cpu_limit.h"
#include "hk/error.h"
#include "storage.h"

namespace hk::detail {

namespace {

thread_local const KernelWatch *watch_of_thread = nullptr;

bool mentions(std::string_view message, std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words) {
        if (message.find(word) != message.npos) return true;
    }
    return false;
}

// As a pool says it (memory/pool.h).
bool is_pool_exhausted(std::string_view message) { return mentions(message, {"no memory left"}); }

// Halide's runtime hands on a driver's status only by its name in the message. An allocation that
// is too large is one of a kernel's own: operands are checked before.
bool out_of_memory(int status, std::string_view message) {
    return status == halide_error_code_out_of_memory ||
           status == halide_error_code_buffer_allocation_too_large || is_pool_exhausted(message) ||
           mentions(message, {"OUT_OF_MEMORY", "CL_MEM_OBJECT_ALLOCATION_FAILURE",
                              "CL_OUT_OF_RESOURCES", "CL_OUT_OF_HOST_MEMORY", "std::bad_alloc"});
}

bool no_device_code(std::string_view message) {
    return mentions(message, {"cuModuleLoadData failed", "clBuildProgram failed",
                              "clCreateProgramWithSource failed", "cuModuleGetFunction failed"});
}

bool device_failed(int status) {
    switch (status) {
        case halide_error_code_gpu_device_error:
        case halide_error_code_device_malloc_failed:
        case halide_error_code_device_free_failed:
        case halide_error_code_device_run_failed:
        case halide_error_code_copy_to_host_failed:
        case halide_error_code_copy_to_device_failed:
        case halide_error_code_device_buffer_copy_failed:
        case halide_error_code_symbol_not_found:
            return true;
        default:
            return false;
    }
}

}  // namespace

OperationCall::OperationCall(const char *operation, Device device,
                             std::span<const Operand> operands, const Stream &given)
    : CallContext(device) {
    if (device.is_cpu()) return;
    Backend &backend = require(device);
    stream = backend.resolve(operation, device.index(), given);
    const bool own = stream == backend.own_stream(device.index());
    for (const auto &[name, tensor] : operands) {
        if (!tensor.defined() || tensor.elements() == 0) continue;
        if (!backend.reachable(Tensor::Access::storage(tensor).memory, stream)) {
            throw InvalidArgument(std::string(operation) + ": " + name +
                                  " belongs to another context of " + device.name() +
                                  " than the stream");
        }
    }
    for (const auto &[name, tensor] : operands) {
        if (!tensor.defined()) continue;
        Tensor::Access::storage(tensor).order(stream);
        if (!own) tensors_.at(count_++) = &tensor;
    }
}

OperationCall::~OperationCall() {
    if (count_ == 0) return;
    const Event event = backend(device.type())->mark(device.index(), stream);
    for (size_t i = 0; i < count_; i++) {
        Tensor::Access::storage(*tensors_[i]).add_use(stream, event);
    }
}

void OperationCall::wait() const noexcept {
    if (device.is_cpu()) return;
    Backend &queues = *backend(device.type());
    if (const Event event = queues.mark(device.index(), stream)) queues.wait(event);
}

bool OperationCall::in_own_context() const {
    return device.is_cpu() || require(device).own_stream(device.index()).context == stream.context;
}

void throw_failure(const char *operation, const KernelInfo &kernel, Device device, int status,
                   std::string_view message) {
    const std::string where =
        std::string(operation) + ": kernel " + kernel.name + " on " + device.name();
    const std::string why = message.empty() ? "status " + std::to_string(status) + " of Halide's"
                                            : std::string(message);
    if (out_of_memory(status, message)) {
        throw OutOfMemory(where + (is_pool_exhausted(message) ? ": " : ": no memory left: ") + why);
    }
    if (no_device_code(message)) {
        throw DeviceError(where + ": the library's code does not load on " + device.description() +
                          ": " + why);
    }
    if (device_failed(status)) throw DeviceError(where + ": " + why);
    throw KernelFailure(where + ": " + why);
}

void call_kernel(CallContext &context, KernelArguments &arguments) {
    const KernelInfo &kernel = arguments.kernel();
    if (context.device.is_cpu()) check_cpu_limit();
    void *user_context = &context;
    if (!context.label) context.label = kernel.name;
    const int status = kernel.call(arguments.with_context(&user_context));
    if (status == halide_error_code_success) {
        if (watch_of_thread) watch_of_thread->tell(arguments);
        return;
    }
    throw_failure(arguments.operation(), kernel, context.device, status, context.message());
}

KernelWatch::KernelWatch(Hear hear) : hear_(std::move(hear)) { watch_of_thread = this; }

KernelWatch::~KernelWatch() { watch_of_thread = nullptr; }

void KernelWatch::tell(const KernelArguments &arguments) const {
    hear_(arguments.kernel(), arguments.buffer_bytes());
}

}  // namespace hk::detail
