#pragma once
// Element types as the buffer protocol and NumPy write them; as DLPack does, hk/dlpack.h.

#include <optional>
#include <string>
#include <string_view>

#include "hk/dlpack.h"

namespace hk::python {

constexpr size_t kDataTypes = 12;

// Of a buffer's format and size of an element; none for what is no number or of another byte order.
std::optional<DataType> type_of_format(const char *format, int64_t bytes);
const char *format_of(DataType type);  // "f"; null of bf16, which has none

const char *numpy_name(DataType type);  // "float32", "bfloat16"

// The message with the library's names of types, such as f32, as NumPy writes them.
std::string in_numpy_names(std::string_view message);

// From any library's spelling: "f32", "float32", "torch.float32"; throws InvalidArgument.
DataType type_named(std::string text);

std::string words_of(const DLDataType &type);  // "code 5, 64 bits, 1 lanes"

}  // namespace hk::python
