#include "buffer_checks.h"

#include <cstdlib>
#include <limits>
#include <string>

#include "HalideRuntime.h"

namespace hk::detail {

namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

// As Halide names it where it speaks of a field: "weight".
const char *short_name(const char *name) {
    const char *last = name;
    for (const char *c = name; *c; c++)
        if (*c == ' ') last = c + 1;
    return last;
}

int violated(void *user_context, const char *name, const BufferField &wanted, int32_t value) {
    constexpr const char *kKinds[] = {"min", "extent", "stride"};
    const std::string field = std::string(short_name(name)) + "." +
                              kKinds[wanted.field % kFieldsOfDimension] + "." +
                              std::to_string(wanted.field / kFieldsOfDimension);
    return halide_error_constraint_violated(user_context, field.c_str(), value,
                                            std::to_string(wanted.value).c_str(), wanted.value);
}

int32_t value_of(const halide_buffer_t &buffer, int32_t field) {
    const halide_dimension_t &dim = buffer.dim[field / kFieldsOfDimension];
    switch (field % kFieldsOfDimension) {
        case kBufferMin:
            return dim.min;
        case kBufferExtent:
            return dim.extent;
        default:
            return dim.stride;
    }
}

int check_sizes(void *user_context, const halide_buffer_t &buffer, const char *name) {
    int64_t elements = 1;
    for (int d = 0; d < buffer.dimensions; d++) {
        const halide_dimension_t &dim = buffer.dim[d];
        const int64_t span = std::abs(int64_t{dim.extent} * dim.stride);
        if (span > kMost) {
            return halide_error_buffer_allocation_too_large(
                user_context, short_name(name), static_cast<uint64_t>(span), uint64_t{kMost});
        }
        elements *= dim.extent;
        if (elements > kMost) {
            return halide_error_buffer_extents_too_large(user_context, short_name(name), elements,
                                                         kMost);
        }
    }
    return halide_error_code_success;
}

}  // namespace

extern "C" {

int hk_check_buffer(void *user_context, const halide_buffer_t *buffer, const char *name,
                    const BufferRequirements *wanted) {
    if (!buffer) return halide_error_buffer_argument_is_null(user_context, short_name(name));
    if (buffer->type.as_u32() != wanted->type) {
        return halide_error_bad_type(user_context, name, buffer->type.as_u32(), wanted->type);
    }
    if (buffer->dimensions != wanted->dimensions) {
        return halide_error_bad_dimensions(user_context, name, buffer->dimensions,
                                           wanted->dimensions);
    }
    const auto *fields = reinterpret_cast<const BufferField *>(wanted + 1);
    for (int32_t i = 0; i < wanted->fields; i++) {
        const int32_t value = value_of(*buffer, fields[i].field);
        if (value != fields[i].value) return violated(user_context, name, fields[i], value);
    }
    if ((wanted->checks & kBufferOnHost) != 0 && buffer->device_dirty()) {
        return halide_error_device_dirty_with_no_device_support(user_context, name);
    }
    return (wanted->checks & kBufferIsCounted) != 0 ? check_sizes(user_context, *buffer, name)
                                                    : halide_error_code_success;
}

int hk_check_region(void *user_context, const halide_buffer_t *buffer, const char *name,
                    int32_t dimensions, const int32_t *touched) {
    for (int32_t d = 0; d < dimensions; d++) {
        const halide_dimension_t &dim = buffer->dim[d];
        const int64_t first = touched[2 * d], last = touched[2 * d + 1];
        const int64_t end = int64_t{dim.min} + dim.extent;
        if (first < dim.min || last >= end) {
            return halide_error_access_out_of_bounds(user_context, name, d, touched[2 * d],
                                                     touched[2 * d + 1], dim.min,
                                                     static_cast<int>(end - 1));
        }
        if (dim.extent < 0) {
            return halide_error_buffer_extents_negative(user_context, name, d, dim.extent);
        }
    }
    return halide_error_code_success;
}
}

}  // namespace hk::detail
