#pragma once
// Element types as DLPack, the buffer protocol and NumPy write them.

#include <dlpack/dlpack.h>

#include <optional>
#include <string>

#include "hk/data_type.h"

namespace hk::python {

constexpr size_t kDataTypes = 12;

DLDataType dlpack_type(DataType type);
std::optional<DataType> type_of(const DLDataType &type);

// Of a buffer's format and size of an element; none for what is no number or of another byte order.
std::optional<DataType> type_of_format(const char *format, int64_t bytes);
const char *format_of(DataType type);  // "f"; null of bf16, which has none

const char *numpy_name(DataType type);  // "float32", "bfloat16"

// From any library's spelling: "f32", "float32", "torch.float32"; throws InvalidArgument.
DataType type_named(std::string text);

std::string words_of(const DLDataType &type);  // "code 5, 64 bits, 1 lanes"

}  // namespace hk::python
