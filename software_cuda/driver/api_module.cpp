// The driver's functions: modules and functions.

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "software_cuda/driver/call.h"
#include "software_cuda/driver/functions.h"
#include "software_cuda/driver/launch.h"

namespace software_cuda {

namespace {

// Equal for equal texts, in every process.
std::string key_of(std::string_view text) {
    return hexadecimal(XXH3_64bits(text.data(), text.size())).substr(2);
}

void save(const std::string &path, const std::string &text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush()) driver().log.add(path + " can't be written");
}

void replace_line(std::string &text, const LineEdit &edit) {
    size_t begin = 0;
    for (uint64_t line = 1; line < edit.line && begin != text.npos; line++) {
        begin = text.find('\n', begin);
        if (begin != text.npos) begin++;
    }
    require(begin != text.npos, CUDA_ERROR_INVALID_VALUE,
            "module " + edit.module + " has no line " + std::to_string(edit.line));
    text.replace(begin, std::min(text.find('\n', begin), text.size()) - begin, edit.text);
}

Module parsed(const void *image, uint32_t capability, std::string &key) {
    try {
        std::string text = ptx_of_image(image);
        key = key_of(text);
        const DriverSettings settings = driver().settings();
        if (!settings.ptx.empty()) save(settings.ptx + "/" + key + ".ptx", text);
        if (settings.edit.module == key) replace_line(text, settings.edit);
        return parse_module(text, capability);
    } catch (const ModuleError &error) {
        throw Failure(static_cast<Status>(error.status()), error.what());
    }
}

CUmodule load(const void *image) {
    require_pointer(image, "the image");
    Context &context = current_context();
    std::string key;
    Module module = parsed(image, context.device.chip.capability, key);
    return driver().modules.add(
        std::make_shared<LoadedModule>(context, std::move(module), std::move(key)));
}

// What the options of a load ask to be told of an error, CU_JIT_ERROR_LOG_BUFFER and …_SIZE_BYTES.
struct ErrorLog {
    ErrorLog(unsigned count, const int *options, void **values) {
        for (unsigned i = 0; i < count; i++) {
            if (options[i] == 5) buffer = static_cast<char *>(values[i]);
            if (options[i] == 6) bytes = reinterpret_cast<uintptr_t>(values[i]);
        }
    }

    void tell(const std::string &text) const {
        if (!buffer || bytes == 0) return;
        const size_t length = std::min(text.size(), bytes - 1);
        std::memcpy(buffer, text.data(), length);
        buffer[length] = 0;
    }

    char *buffer = nullptr;
    size_t bytes = 0;
};

// CU_FUNC_ATTRIBUTE_…
enum FunctionAttribute {
    kMaxThreads = 0,
    kSharedBytes = 1,
    kConstantBytes = 2,
    kLocalBytes = 3,
    kRegisters = 4,
    kPtxVersion = 5,
    kBinaryVersion = 6,
    kCacheModeCa = 7,
    kMaxDynamicShared = 8,
    kCarveout = 9,
};

int value_of(const Function &function, int attribute) {
    const Entry &entry = function.entry;
    switch (attribute) {
        case kMaxThreads:
            return static_cast<int>(entry.max_threads ? entry.max_threads : Chip::kThreadsPerBlock);
        case kSharedBytes:
            return static_cast<int>(entry.shared_bytes);
        case kRegisters:
            return static_cast<int>(entry.registers);
        case kPtxVersion:
            return static_cast<int>(function.module->module.target);
        case kBinaryVersion:
            return static_cast<int>(function.module->context.device.chip.capability);
        case kMaxDynamicShared:
            return function.most_dynamic_shared;
        case kCarveout:
            return function.carveout;
        case kConstantBytes:
        case kLocalBytes:
        case kCacheModeCa:
            return 0;
        default:
            throw Failure(CUDA_ERROR_INVALID_VALUE,
                          "there is no attribute " + std::to_string(attribute));
    }
}

}  // namespace

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    return call("cuModuleLoadData", [&] {
        require_pointer(module, "module");
        *module = load(image);
    });
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options,
                            void **values) {
    return call("cuModuleLoadDataEx", [&] {
        require_pointer(module, "module");
        require(count == 0 || (options && values), CUDA_ERROR_INVALID_VALUE, "options are null");
        const ErrorLog errors(count, options, values);
        try {
            *module = load(image);
        } catch (const Failure &failure) {
            errors.tell(failure.what());
            throw;
        }
    });
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
    return call("cuModuleLoadFatBinary", [&] {
        require_pointer(module, "module");
        *module = load(image);
    });
}

CUresult cuModuleLoad(CUmodule *module, const char *path) {
    return call("cuModuleLoad", [&] {
        require_pointer(module, "module");
        require_pointer(path, "path");
        std::ifstream file(path, std::ios::binary);
        require(file.good(), CUDA_ERROR_FILE_NOT_FOUND, std::string(path) + " can't be read");
        std::ostringstream image;
        image << file.rdbuf();
        *module = load(image.str().c_str());
    });
}

CUresult cuModuleUnload(CUmodule handle) {
    return call("cuModuleUnload", [&] {
        // Halide's runtime does this when the process ends, which is not worth a line.
        if (!top_context()) throw Failure(CUDA_ERROR_INVALID_CONTEXT, "");
        const std::shared_ptr<LoadedModule> module = driver().modules.remove(handle);
        driver().functions.remove_if([&](const Function &f) { return f.module == module; });
        const std::lock_guard lock(module->mutex);
        module->functions.clear();
    });
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule handle, const char *name) {
    return call("cuModuleGetFunction", [&] {
        require_pointer(function, "function");
        require_pointer(name, "name");
        current_context();
        const std::shared_ptr<LoadedModule> module = driver().modules.find(handle);
        const Entry *entry = module->module.find(name);
        require(entry, CUDA_ERROR_NOT_FOUND, std::string("there is no entry ") + name);
        const std::lock_guard lock(module->mutex);
        std::shared_ptr<Function> &known = module->functions[entry];
        if (!known) {
            known = std::make_shared<Function>(module, *entry);
            driver().functions.add(known);
        }
        *function = known.get();
    });
}

// The parser takes no module with global variables.
CUresult cuModuleGetGlobal_v2(CUdeviceptr *, size_t *, CUmodule handle, const char *name) {
    return call("cuModuleGetGlobal", [&] {
        require_pointer(name, "name");
        current_context();
        driver().modules.find(handle);
        throw Failure(CUDA_ERROR_NOT_FOUND, std::string("there is no variable ") + name);
    });
}

CUresult cuModuleGetGlobal(unsigned *, unsigned *, CUmodule module, const char *name) {
    return cuModuleGetGlobal_v2(nullptr, nullptr, module, name);
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
    return call("cuFuncGetAttribute", [&] {
        require_pointer(value, "value");
        *value = value_of(*driver().functions.find(function), attribute);
    });
}

CUresult cuFuncSetAttribute(CUfunction handle, int attribute, int value) {
    return call("cuFuncSetAttribute", [&] {
        Function &function = *driver().functions.find(handle);
        if (attribute == kMaxDynamicShared) return allow_dynamic_shared(function, value);
        require(attribute == kCarveout, CUDA_ERROR_INVALID_VALUE,
                "attribute " + std::to_string(attribute) + " can't be set");
        require(value >= -1 && value <= 100, CUDA_ERROR_INVALID_VALUE,
                "a carveout of " + std::to_string(value) + " percent");
        function.carveout = value;
    });
}

CUresult cuFuncSetCacheConfig(CUfunction function, int config) {
    return call("cuFuncSetCacheConfig", [&] {
        driver().functions.find(function);
        require(config >= 0 && config <= 3, CUDA_ERROR_INVALID_VALUE, "unknown preference");
    });
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction function) {
    return call("cuFuncGetModule", [&] {
        require_pointer(module, "module");
        *module = driver().functions.find(function)->module.get();
    });
}

CUresult cuFuncGetName(const char **name, CUfunction function) {
    return call("cuFuncGetName", [&] {
        require_pointer(name, "name");
        *name = driver().functions.find(function)->entry.name.c_str();
    });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared_bytes) {
    return call("cuOccupancyMaxActiveBlocksPerMultiprocessor", [&] {
        require_pointer(blocks, "blocks");
        *blocks = resident_blocks(*driver().functions.find(function), threads, shared_bytes);
    });
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **parameters, void **extra) {
    return call("cuLaunchKernel", [&] {
        launch({function,
                {grid_x, grid_y, grid_z},
                {block_x, block_y, block_z},
                shared_bytes,
                stream,
                parameters,
                extra});
    });
}

}  // namespace software_cuda
