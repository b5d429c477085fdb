#pragma once
// The checks of a kernel's buffers, of which each kernel calls these two functions where Halide's
// own code has some thirty comparisons a buffer, each with its message (compiler/compact_checks.h).
// They report by Halide's functions, with Halide's messages and status.

#include <cstdint>

struct halide_buffer_t;

namespace hk::detail {

// What a kernel asks of a buffer whatever the others are; `fields` pairs of a field of a dimension
// and the value that it must have stand behind it.
struct BufferRequirements {
    uint32_t type;  // as halide_type_t::as_u32
    int32_t dimensions;
    int32_t checks;  // of kBufferOnHost and kBufferIsCounted
    int32_t fields;
};

struct BufferField {
    int32_t field;  // kFieldsOfDimension * dimension + a BufferFieldKind
    int32_t value;
};

enum BufferFieldKind : int32_t { kBufferMin, kBufferExtent, kBufferStride };
inline constexpr int32_t kFieldsOfDimension = 3;

inline constexpr int32_t kBufferOnHost = 1;     // no newer contents on a device
inline constexpr int32_t kBufferIsCounted = 2;  // its sizes, and their products, are below 2^31

// Names are "Input buffer weight" or "Output buffer output".
extern "C" {

int hk_check_buffer(void *user_context, const halide_buffer_t *buffer, const char *name,
                    const BufferRequirements *requirements);

// `touched`: the first and the last place that the kernel touches, of each of `dimensions`. Extents
// that are negative are told too.
int hk_check_region(void *user_context, const halide_buffer_t *buffer, const char *name,
                    int32_t dimensions, const int32_t *touched);
}

}  // namespace hk::detail
