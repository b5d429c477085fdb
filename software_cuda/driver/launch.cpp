#include "software_cuda/driver/launch.h"

#include <algorithm>
#include <cstring>

#include "software_cuda/driver/call.h"

namespace software_cuda {

namespace {

std::string text_of(const Dim3 &d) {
    return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
}

bool within(const Dim3 &d, const uint32_t (&limit)[3]) {
    return d.x >= 1 && d.y >= 1 && d.z >= 1 && d.x <= limit[0] && d.y <= limit[1] &&
           d.z <= limit[2];
}

void check_extents(const LaunchRequest &request) {
    require(within(request.grid, Chip::kGridLimit), CUDA_ERROR_INVALID_VALUE,
            "a grid of " + text_of(request.grid) + " blocks");
    require(
        within(request.block, Chip::kBlockLimit) && request.block.count() <= Chip::kThreadsPerBlock,
        CUDA_ERROR_INVALID_VALUE, "a block of " + text_of(request.block) + " threads");
}

// Warps hold their registers in units of 256.
uint32_t registers_of_block(const Entry &entry, uint64_t threads) {
    const uint32_t a_thread = std::min(entry.registers, Chip::kRegistersPerThread);
    const uint64_t warps = (threads + Chip::kWarp - 1) / Chip::kWarp;
    return static_cast<uint32_t>(warps * ((a_thread * Chip::kWarp + 255) / 256 * 256));
}

void check_entry(const Entry &entry, const Dim3 &block) {
    const uint32_t *required = entry.required_block;
    require(!required[0] ||
                (block.x == required[0] && block.y == required[1] && block.z == required[2]),
            CUDA_ERROR_INVALID_VALUE,
            entry.name + " is for blocks of another shape than " + text_of(block));
    require(!entry.max_threads || block.count() <= entry.max_threads,
            CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
            entry.name + " is for blocks of at most " + std::to_string(entry.max_threads) +
                " threads, not " + text_of(block));
    require(registers_of_block(entry, block.count()) <= Chip::kRegistersPerBlock,
            CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
            entry.name + " uses at least " + std::to_string(entry.registers) +
                " registers a thread, too many for a block of " + text_of(block));
}

void check_shared(const Function &function, unsigned dynamic_bytes) {
    const uint64_t bytes = uint64_t{dynamic_bytes} + function.entry.shared_bytes;
    const auto most = static_cast<uint64_t>(function.most_dynamic_shared.load());
    const uint64_t limit =
        std::max<uint64_t>(Chip::kSharedBytesPerBlock, most + function.entry.shared_bytes);
    require(dynamic_bytes <= most && bytes <= limit, CUDA_ERROR_INVALID_VALUE,
            std::to_string(bytes) + " bytes of shared memory a block; " + function.entry.name +
                " is allowed " + std::to_string(limit) +
                " (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)");
}

// The values of a launch as one block, CU_LAUNCH_PARAM_BUFFER_POINTER and …_SIZE.
std::vector<uint8_t> packed(void **extra, uint32_t bytes) {
    constexpr uintptr_t kEnd = 0, kBuffer = 1, kSize = 2;
    const void *buffer = nullptr;
    const size_t *size = nullptr;
    for (size_t i = 0; reinterpret_cast<uintptr_t>(extra[i]) != kEnd; i += 2) {
        const auto key = reinterpret_cast<uintptr_t>(extra[i]);
        require(key == kBuffer || key == kSize, CUDA_ERROR_INVALID_VALUE,
                "unknown key " + std::to_string(key) + " of the extra options");
        if (key == kBuffer) buffer = extra[i + 1];
        if (key == kSize) size = static_cast<const size_t *>(extra[i + 1]);
    }
    require(buffer && size && *size >= bytes, CUDA_ERROR_INVALID_VALUE,
            "the buffer of parameters is less than the " + std::to_string(bytes) +
                " bytes of the kernel's");
    std::vector<uint8_t> values(bytes);
    std::memcpy(values.data(), buffer, bytes);
    return values;
}

std::vector<uint8_t> parameters_of(const Entry &entry, void **parameters, void **extra) {
    require(!parameters || !extra, CUDA_ERROR_INVALID_VALUE,
            "parameters are given both as pointers and as a buffer");
    if (extra) return packed(extra, entry.parameter_bytes);
    std::vector<uint8_t> values(entry.parameter_bytes);
    if (entry.parameters.empty()) return values;
    require_pointer(parameters, "the list of parameters");
    for (size_t i = 0; i < entry.parameters.size(); i++) {
        const auto [offset, bytes] = entry.parameters[i];
        require(parameters[i], CUDA_ERROR_INVALID_VALUE,
                "parameter " + std::to_string(i) + " is null");
        std::memcpy(values.data() + offset, parameters[i], bytes);
    }
    return values;
}

bool of_global_memory(const Finding &finding) {
    switch (finding.kind) {
        case Finding::kCopySize:
        case Finding::kDivergentBarrier:
        case Finding::kInactiveLane:
        case Finding::kPartialWarp:
        case Finding::kDeadlock:
        case Finding::kTooManySteps:
            return false;
        default:
            return !finding.shared;
    }
}

// On the thread of the device.
Status execute(const Function &function, const Launch &launch, const DriverSettings &settings) {
    const Outcome outcome = run(launch, function.module->context.device.memory, settings.machine);
    for (const Finding &first :
         driver().journal.note(launch, function.module->key, outcome))
        driver().log.add(first.message);
    if (outcome.status != Outcome::kDone) return static_cast<Status>(outcome.status);
    const bool fails =
        std::any_of(outcome.findings.begin(), outcome.findings.end(), [&](const Finding &finding) {
            return settings.strict == Strict::kOn ||
                   (settings.strict == Strict::kShared && !of_global_memory(finding));
        });
    return fails ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

void note(const LaunchRequest &request, const Function &function, const Context &context) {
    SoftwareCudaOperation operation{};
    operation.function = "cuLaunchKernel";
    operation.context = const_cast<Context *>(&context);
    operation.stream = request.stream;
    operation.entry = driver().journal.intern(function.entry.name);
    const auto put = [](unsigned(&to)[3], const Dim3 &from) {
        to[0] = from.x;
        to[1] = from.y;
        to[2] = from.z;
    };
    put(operation.grid, request.grid);
    put(operation.block, request.block);
    operation.dynamic_shared_bytes = request.dynamic_shared_bytes;
    operation.static_shared_bytes = function.entry.shared_bytes;
    operation.registers = function.entry.registers;
    driver().journal.note(operation);
}

}  // namespace

void launch(const LaunchRequest &request) {
    const std::shared_ptr<Function> function = driver().functions.find(request.function);
    const std::shared_ptr<Stream> stream = driver().stream(request.stream);
    require(&function->module->context == &stream->context, CUDA_ERROR_INVALID_HANDLE,
            "the function " + function->entry.name + " is of another context than the stream");
    check_extents(request);
    check_entry(function->entry, request.block);
    check_shared(*function, request.dynamic_shared_bytes);
    Launch launch{&function->entry, request.grid, request.block, request.dynamic_shared_bytes,
                  parameters_of(function->entry, request.parameters, request.extra)};
    if (DriverSettings settings = driver().settings(); settings.run) {
        driver().scheduler.submit(
            stream, [function, launch = std::move(launch), settings = std::move(settings)] {
                return execute(*function, launch, settings);
            });
    }
    note(request, *function, stream->context);
}

void allow_dynamic_shared(Function &function, int bytes) {
    const Chip &chip = function.module->context.device.chip;
    const uint64_t most = chip.shared_bytes_per_block_optin;
    require(bytes >= 0 && static_cast<uint64_t>(bytes) + function.entry.shared_bytes <= most,
            CUDA_ERROR_INVALID_VALUE,
            std::to_string(bytes) + " bytes of dynamic shared memory; a block of " +
                std::string(chip.name) + " has " + std::to_string(most) + " at most");
    function.most_dynamic_shared = bytes;
}

int resident_blocks(const Function &function, int threads, size_t dynamic_shared_bytes) {
    require(threads > 0 && static_cast<uint32_t>(threads) <= Chip::kThreadsPerBlock,
            CUDA_ERROR_INVALID_VALUE, std::to_string(threads) + " threads a block");
    const Chip &chip = function.module->context.device.chip;
    const auto count = static_cast<uint32_t>(threads);
    const uint32_t warps = (count + Chip::kWarp - 1) / Chip::kWarp;
    uint64_t blocks = std::min(Chip::kBlocksPerMultiprocessor,
                               Chip::kThreadsPerMultiprocessor / Chip::kWarp / warps);
    const uint32_t registers = std::max(registers_of_block(function.entry, count), 1u);
    blocks = std::min<uint64_t>(blocks, Chip::kRegistersPerBlock / registers);
    const uint64_t shared =
        dynamic_shared_bytes + function.entry.shared_bytes + Chip::kReservedSharedBytes;
    blocks = std::min<uint64_t>(blocks, chip.shared_bytes_per_multiprocessor / shared);
    return static_cast<int>(blocks);
}

}  // namespace software_cuda
