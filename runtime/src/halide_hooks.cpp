// Halide's hooks: errors, prints, memory, parallel loops, and the context and queue of each device.
// Halide's own definitions are weak; these take their place because Halide's runtime object refers
// to hk_halide_hooks, below, wherever it is linked.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "HalideRuntime.h"
#include "call_context.h"
#include "cuda_backend.h"
#include "memory/halide_memory.h"
#include "memory/pool.h"
#include "opencl_backend.h"
#include "packed.h"
#include "worker_pool.h"

namespace hk::detail {

CallContext::CallContext(Device device, Stream stream)
    : device(device), label(memory_label()), stream(stream) {}

void CallContext::report(std::string_view text) noexcept {
    if (reported.exchange(true)) return;
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    length = std::min(text.size(), sizeof buffer);
    std::memcpy(buffer, text.data(), length);
}

namespace {

CallContext *call_of(void *user_context) { return static_cast<CallContext *>(user_context); }

// One call, so that lines of several threads don't mix, and no memory.
void write_line(const char *prefix, const char *text) noexcept {
    const size_t length = std::strlen(text);
    const bool ended = length > 0 && text[length - 1] == '\n';
    std::fprintf(stderr, "%s%s%s", prefix, text, ended ? "" : "\n");
}

using Launch = int (*)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       void *stream, void **arguments, void **extra);

// Halide's runtime asks for the stream of a launch right before it, on the same thread: the launch
// itself is not told of the call that it belongs to.
thread_local void *launching = nullptr;

// A launch that can't be made, told to its call. CUDA_ERROR_INVALID_VALUE.
int refuse(const char *why) noexcept {
    halide_error(launching, why);
    return 1;
}

// CUDA refuses more than its default, 48 KiB of shared memory, to a function that did not ask for
// it before. Asking at each launch costs less than remembering which functions were unloaded.
int launch_with_opt_in(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       void *stream, void **arguments, void **extra) try {
    constexpr int kMaxDynamicSharedBytes = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    using SetAttribute = int (*)(void *, int, int);
    static const auto launch = reinterpret_cast<Launch>(cuda_symbol("cuLaunchKernel"));
    static const auto set = reinterpret_cast<SetAttribute>(cuda_symbol("cuFuncSetAttribute"));
    const Device device = launching ? call_of(launching)->device : Device::cuda();
    const DeviceLimits limits = device.limits();
    if (shared_bytes > limits.shared_bytes_opt_in) {
        return refuse(("the kernel asks for " + std::to_string(shared_bytes) +
                       " bytes of shared memory a block, " + device.name() + " has " +
                       std::to_string(limits.shared_bytes_opt_in))
                          .c_str());
    }
    if (shared_bytes > limits.shared_bytes) {
        const int status =
            set ? set(function, kMaxDynamicSharedBytes, static_cast<int>(shared_bytes)) : 1;
        if (status) {
            return refuse((device.name() + " refuses the kernel " + std::to_string(shared_bytes) +
                           " bytes of shared memory a block, though its limit is " +
                           std::to_string(limits.shared_bytes_opt_in) +
                           ": cuFuncSetAttribute failed, error " + std::to_string(status))
                              .c_str());
        }
    }
    return launch(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
                  arguments, extra);
} catch (const std::exception &error) {
    return refuse(error.what());
}

using LoadModule = int (*)(void **module, const void *image, unsigned count, int *options,
                           void **values);

// The compiler packs modules; others go on as they are.
int load_module(void **module, const void *image, unsigned count, int *options, void **values) try {
    static const auto load = reinterpret_cast<LoadModule>(cuda_symbol("cuModuleLoadDataEx"));
    const auto *data = static_cast<const char *>(image);
    if (!is_packed(data)) return load(module, image, count, options, values);
    const std::optional<std::string> code = unpack(data);
    return code ? load(module, code->data(), count, options, values)
                : 200;  // CUDA_ERROR_INVALID_IMAGE
} catch (const std::bad_alloc &) {
    return 2;  // CUDA_ERROR_OUT_OF_MEMORY
}

// What a hook throws can't pass through Halide's code.
int refuse_context(void *user_context, const std::exception &error) {
    halide_error(user_context, error.what());
    return halide_error_code_gpu_device_error;
}

// Set, not defined in place of halide_do_par_for: applications may set theirs.
[[maybe_unused]] const halide_do_par_for_t replaced = halide_set_custom_do_par_for(run_loop);

using CreateProgram = void *(*)(void *context, unsigned count, const char **texts,
                                const size_t *lengths, int *status);

// The compiler packs programs; other texts go on as they are.
void *create_program(void *context, unsigned count, const char **texts, const size_t *lengths,
                     int *status) try {
    static const auto create =
        reinterpret_cast<CreateProgram>(opencl_symbol("clCreateProgramWithSource"));
    if (count != 1 || lengths || !is_packed(texts[0])) {
        return create(context, count, texts, lengths, status);
    }
    const std::optional<std::string> text = unpack(texts[0]);
    if (!text) {
        *status = -42;  // CL_INVALID_BINARY
        return nullptr;
    }
    const char *unpacked = text->c_str();
    return create(context, 1, &unpacked, nullptr, status);
} catch (const std::bad_alloc &) {
    *status = -6;  // CL_OUT_OF_HOST_MEMORY
    return nullptr;
}

}  // namespace
}  // namespace hk::detail

using namespace hk::detail;

extern "C" {

void halide_error(void *user_context, const char *message) {
    if (user_context) {
        call_of(user_context)->report(message);
    } else {
        write_line("Error: ", message);
    }
}

void halide_print(void *, const char *message) { write_line("", message); }

void halide_shutdown_thread_pool() { stop_workers(); }

// In front of what Halide gets lies its block; Halide's code may assume an alignment of 128 bytes.
void *halide_malloc(void *user_context, size_t bytes) try {
    const CallContext *call = user_context ? call_of(user_context) : nullptr;
    const size_t whole = bytes + SizeClass::kUnit;
    Block *block =
        whole > bytes ? host_pool().allocate(whole, call ? call->label : memory_label()) : nullptr;
    if (!block) {
        if (call) call_of(user_context)->report(host_pool().shortage(bytes));
        return nullptr;
    }
    std::memcpy(block->memory, &block, sizeof block);
    return block->memory + SizeClass::kUnit;
} catch (const std::exception &) {
    return nullptr;
}

void halide_free(void *, void *memory) {
    if (!memory) return;
    Block *block;
    std::memcpy(&block, static_cast<char *>(memory) - SizeClass::kUnit, sizeof block);
    host_pool().free(block);
}

// The pool does that.
bool halide_can_reuse_device_allocations(void *) { return false; }

void *halide_cuda_get_symbol(void *, const char *name) {
    void *symbol = cuda_symbol(name);
    if (void *ours = symbol ? cuda_memory_function(name) : nullptr) return ours;
    if (symbol && std::strcmp(name, "cuLaunchKernel") == 0) {
        return reinterpret_cast<void *>(&launch_with_opt_in);
    }
    if (symbol && std::strcmp(name, "cuModuleLoadDataEx") == 0) {
        return reinterpret_cast<void *>(&load_module);
    }
    return symbol;
}

// `create` is false only where Halide's runtime is told to end its use of a context, and while the
// process ends.
int halide_cuda_acquire_context(void *user_context, void **context, bool create) try {
    const CallContext *call = call_of(user_context);
    set_allocating_call(call);
    *context = call ? call->stream.context : nullptr;
    if (*context || !create) return halide_error_code_success;
    const int index = call ? call->device.index() : 0;
    if (const int status = cuda_context(index, context)) {
        const std::string why = cuda_backend().missing();
        halide_error(user_context,
                     why.empty()
                         ? ("CUDA: no primary context, error " + std::to_string(status)).c_str()
                         : why.c_str());
        return halide_error_code_gpu_device_error;
    }
    return halide_error_code_success;
} catch (const std::exception &error) {
    return refuse_context(user_context, error);
}

int halide_cuda_release_context(void *) { return halide_error_code_success; }

int halide_cuda_get_stream(void *user_context, void *, void **stream) {
    launching = user_context;
    *stream = user_context ? call_of(user_context)->stream.handle : nullptr;
    return halide_error_code_success;
}

void *halide_opencl_get_symbol(void *, const char *name) {
    void *symbol = opencl_symbol(name);
    if (void *ours = symbol ? opencl_memory_function(name) : nullptr) return ours;
    if (symbol && std::strcmp(name, "clCreateProgramWithSource") == 0) {
        return reinterpret_cast<void *>(&create_program);
    }
    return symbol;
}

// No lock is held between acquire and release: the queue and the cache of compiled programs are
// safe to use from several threads, and each launch makes its own kernel object.
int halide_acquire_cl_context(void *user_context, void **context, void **queue, bool create) try {
    const CallContext *call = call_of(user_context);
    set_allocating_call(call);
    *context = call ? call->stream.context : nullptr;
    *queue = call ? call->stream.handle : nullptr;
    if ((*context && *queue) || !create) return halide_error_code_success;
    const int index = call ? call->device.index() : 0;
    if (opencl_handles(index, {}, context, queue)) {
        const std::string why = opencl_backend().missing();
        halide_error(user_context,
                     why.empty() ? "OpenCL: the device's context can't be created" : why.c_str());
        return halide_error_code_gpu_device_error;
    }
    return halide_error_code_success;
} catch (const std::exception &error) {
    return refuse_context(user_context, error);
}

int halide_release_cl_context(void *) { return halide_error_code_success; }

// What Halide's runtime object refers to, so that a linker takes this file from its archive.
extern const char hk_halide_hooks;
const char hk_halide_hooks = 1;

}  // extern "C"
