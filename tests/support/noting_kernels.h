#pragma once
// Kernels that are plain functions, with the arguments that their rows declare: they note what they
// were called with, by name.

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "HalideRuntime.h"
#include "hk/kernel_info.h"

namespace hk::test {

struct NotedBuffer {
    const halide_buffer_t *buffer = nullptr;  // to tell two arguments apart
    halide_type_t type;
    const uint8_t *host = nullptr;
    std::vector<int32_t> extents, strides;
    std::vector<uint8_t> bytes;  // of a vector, which is packed: all of them
};

class NotedCall {
public:
    NotedCall() = default;
    NotedCall(const KernelInfo &row, void **pointers) : kernel(row.name) {
        for (const KernelArgument &argument : row.arguments) {
            const void *given = *pointers++;
            if (argument.bytes > 0)
                std::memcpy(&numbers_[argument.name], given, static_cast<size_t>(argument.bytes));
            else
                note(argument.name, *static_cast<const halide_buffer_t *>(given));
        }
    }

    std::string kernel;

    const NotedBuffer &operator[](const std::string &name) const { return buffers_.at(name); }
    template<typename T>
    T take(const std::string &name) const {
        T value;
        std::memcpy(&value, &numbers_.at(name), sizeof value);
        return value;
    }
    int32_t number(const std::string &name) const { return take<int32_t>(name); }
    float real(const std::string &name) const { return take<float>(name); }

private:
    void note(const char *name, const halide_buffer_t &buffer) {
        NotedBuffer &noted = buffers_[name];
        noted = {&buffer, buffer.type, buffer.host, {}, {}, {}};
        EXPECT_EQ(buffer.dim[0].stride, 1);
        int64_t elements = 1;
        for (int d = 0; d < buffer.dimensions; d++) {
            EXPECT_EQ(buffer.dim[d].min, 0);
            noted.extents.push_back(buffer.dim[d].extent);
            noted.strides.push_back(buffer.dim[d].stride);
            elements *= buffer.dim[d].extent;
        }
        if (buffer.dimensions < 5 && buffer.host)
            noted.bytes.assign(buffer.host, buffer.host + elements * buffer.type.bytes());
    }

    std::map<std::string, NotedBuffer> buffers_;
    std::map<std::string, uint64_t> numbers_;
};

inline thread_local std::vector<NotedCall> noted_calls;  // of this thread, so far

// A user's context, which is first, and these, in an order of their own: numbers of four bytes.
struct Declared {
    Declared(const std::vector<const char *> &buffers, const std::vector<const char *> &numbers,
             const std::vector<const char *> &flags) {
        arguments.push_back({"__user_context", sizeof(void *), {}});
        for (const char *flag : flags) arguments.push_back({flag, sizeof(bool), {}});
        for (const char *number : numbers) arguments.push_back({number, 4, {}});
        for (const char *buffer : buffers) arguments.push_back({buffer, 0, {}});
    }
    std::vector<KernelArgument> arguments;
};

// A row of a table, whose call is to be set.
inline KernelInfo plain_row(const char *family, const char *name, DataType type, Layout layout,
                            std::span<const Constraint> where, const Declared &declared,
                            DeviceType device = DeviceType::cpu) {
    KernelInfo kernel{};
    kernel.name = kernel.row = name;
    kernel.family = family;
    kernel.algorithm = kernel.schedule = kernel.knobs = "";
    kernel.type = type;
    kernel.layout = layout;
    kernel.device = device;
    kernel.where = where;
    kernel.arguments = declared.arguments;
    return kernel;
}

// One whose calls are noted, and do nothing; each has an `index` of its own.
template<int index>
KernelInfo noting_row(const char *family, const char *name, DataType type, Layout layout,
                      std::span<const Constraint> where, const Declared &declared) {
    static KernelInfo row;
    row = plain_row(family, name, type, layout, where, declared);
    row.call = [](void **pointers) {
        noted_calls.emplace_back(row, pointers);
        return 0;
    };
    return row;
}

}  // namespace hk::test
