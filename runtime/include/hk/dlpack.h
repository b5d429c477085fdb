#pragma once
// How DLPack names devices and types of elements, for callers that fill or read its structures
// themselves. Tensor::from_dlpack and Tensor::to_dlpack do so for all others.

#include <dlpack/dlpack.h>

#include <optional>

#include "hk/data_type.h"
#include "hk/device.h"

namespace hk {

DLDevice dlpack_device(Device device);
DLDataType dlpack_type(DataType type);

// None where the library has no such device or type, whatever the enumeration holds. Host memory
// that CUDA pinned belongs to the CPU, memory that it manages to the GPU.
std::optional<Device> device_of(const DLDevice &device);
std::optional<DataType> data_type_of(const DLDataType &type);

}  // namespace hk
