// Exchange of tensors with other libraries by DLPack.

#include <array>
#include <cstring>

#include "hk/dlpack.h"
#include "hk/error.h"
#include "rethrow.h"
#include "shape.h"
#include "storage.h"

namespace hk {

namespace {

struct TypeCode {
    DataType type;
    uint8_t code, bits;
};

constexpr std::array<TypeCode, 12> kTypeCodes{{{DataType::f32, kDLFloat, 32},
                                               {DataType::f16, kDLFloat, 16},
                                               {DataType::bf16, kDLBfloat, 16},
                                               {DataType::f64, kDLFloat, 64},
                                               {DataType::s8, kDLInt, 8},
                                               {DataType::u8, kDLUInt, 8},
                                               {DataType::s16, kDLInt, 16},
                                               {DataType::u16, kDLUInt, 16},
                                               {DataType::s32, kDLInt, 32},
                                               {DataType::u32, kDLUInt, 32},
                                               {DataType::s64, kDLInt, 64},
                                               {DataType::u64, kDLUInt, 64}}};

// Whoever filled it in may have put a number there that is none of the enumeration's.
int32_t type_number(const DLDevice &device) {
    int32_t number;
    static_assert(sizeof number == sizeof device.device_type);
    std::memcpy(&number, &device.device_type, sizeof number);
    return number;
}

DataType checked_type(const DLDataType &type) {
    if (const auto found = data_type_of(type)) return *found;
    throw InvalidArgument("from_dlpack: no element type has code " + std::to_string(type.code) +
                          ", " + std::to_string(type.bits) + " bits and " +
                          std::to_string(type.lanes) + " lanes");
}

Device checked_device(const DLDevice &device) {
    if (const auto found = device_of(device)) return *found;
    throw InvalidArgument("from_dlpack: device type " + std::to_string(type_number(device)) +
                          " is none of cpu, cuda and opencl");
}

void check_dimensions(const DLTensor &tensor) {
    if (tensor.ndim < 0) {
        throw InvalidArgument("from_dlpack: the tensor has " + std::to_string(tensor.ndim) +
                              " dimensions");
    }
    if (tensor.ndim > 0 && !tensor.shape) {
        throw InvalidArgument("from_dlpack: the shape is null, the tensor has " +
                              std::to_string(tensor.ndim) + " dimensions");
    }
}

int64_t byte_offset_of(const DLTensor &tensor) {
    if (tensor.byte_offset <= static_cast<uint64_t>(detail::kMostReach))
        return static_cast<int64_t>(tensor.byte_offset);
    throw InvalidArgument("from_dlpack: the byte offset is " + std::to_string(tensor.byte_offset) +
                          ", it must be at most " + std::to_string(detail::kMostReach));
}

// An exported tensor: what DLPack points to, and the storage that it keeps alive.
struct Export {
    Tensor tensor;
    DLManagedTensor managed;
};

}  // namespace

DLDevice dlpack_device(Device device) {
    switch (device.type()) {
        case DeviceType::cuda:
            return {kDLCUDA, device.index()};
        case DeviceType::opencl:
            return {kDLOpenCL, device.index()};
        default:
            return {kDLCPU, 0};
    }
}

DLDataType dlpack_type(DataType type) {
    const TypeCode &code = kTypeCodes[static_cast<size_t>(type)];
    return {code.code, code.bits, 1};
}

std::optional<Device> device_of(const DLDevice &device) {
    switch (type_number(device)) {
        case kDLCPU:
        case kDLCUDAHost:
            return Device::cpu();
        case kDLCUDA:
        case kDLCUDAManaged:
            return Device::cuda(device.device_id);
        case kDLOpenCL:
            return Device::opencl(device.device_id);
        default:
            return std::nullopt;
    }
}

std::optional<DataType> data_type_of(const DLDataType &type) {
    for (const TypeCode &entry : kTypeCodes) {
        if (entry.code == type.code && entry.bits == type.bits && type.lanes == 1)
            return entry.type;
    }
    return std::nullopt;
}

Tensor Tensor::from_dlpack(DLManagedTensor *managed) try {
    if (!managed) throw InvalidArgument("from_dlpack: the tensor is null");
    const std::shared_ptr<DLManagedTensor> owner(managed, [](DLManagedTensor *tensor) {
        if (tensor->deleter) tensor->deleter(tensor);
    });
    const DLTensor &source = managed->dl_tensor;
    check_dimensions(source);
    const DataType type = checked_type(source.dtype);
    const Device device = checked_device(source.device);
    const Shape shape(source.shape, source.shape + source.ndim);
    const Shape strides =
        source.strides ? Shape(source.strides, source.strides + source.ndim) : Shape();
    // A cl_mem is not an address: its byte offset becomes an offset in elements.
    const bool addressed = device.type() != DeviceType::opencl;
    const int64_t bytes = byte_offset_of(source);
    if (!addressed && bytes % size_of(type) != 0) {
        throw InvalidArgument("from_dlpack: the byte offset is " + std::to_string(bytes) + ", " +
                              std::string(name_of(type)) + " needs a multiple of " +
                              std::to_string(size_of(type)));
    }
    void *data = source.data;
    if (addressed && data) data = static_cast<char *>(data) + bytes;
    Tensor tensor = Access::over("from_dlpack", data, type, shape, strides, device);
    tensor.storage_ = std::make_shared<Storage>(device, data, [owner] {});
    tensor.offset_ = addressed ? 0 : bytes / size_of(type);
    return tensor;
} catch (...) {
    detail::rethrow_as_error("from_dlpack");
}

DLManagedTensor *Tensor::to_dlpack() const try {
    if (!defined()) throw InvalidArgument("to_dlpack: the tensor is undefined");
    storage_->order_own_queue();
    auto *self = new Export{*this, {}};
    DLTensor &target = self->managed.dl_tensor;
    const int64_t bytes = Access::byte_offset(*this);
    // An address takes the offset itself: some importers pass over byte_offset.
    const bool addressed = device().type() != DeviceType::opencl && storage_->memory;
    target.data = addressed ? static_cast<char *>(storage_->memory) + bytes : storage_->memory;
    target.byte_offset = addressed ? 0 : static_cast<uint64_t>(bytes);
    target.device = dlpack_device(device());
    target.ndim = rank();
    target.dtype = dlpack_type(type_);
    target.shape = self->tensor.shape_.data();
    target.strides = self->tensor.strides_.data();
    self->managed.manager_ctx = self;
    self->managed.deleter = [](DLManagedTensor *tensor) {
        delete static_cast<Export *>(tensor->manager_ctx);
    };
    return &self->managed;
} catch (...) {
    detail::rethrow_as_error("to_dlpack");
}

}  // namespace hk
