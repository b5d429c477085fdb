#include "hk/dlpack.h"
#include "expect_error.h"
#include "hk/tensor.h"

namespace hk {
namespace {

int deleted = 0;

// What another library would export: 2 x 3 floats behind an offset.
struct Foreign {
    float data[8] = {-1, -1, 0, 1, 2, 3, 4, 5};
    int64_t shape[2] = {2, 3};
    int64_t strides[2] = {3, 1};
    DLManagedTensor managed{};

    Foreign() {
        deleted = 0;
        managed.dl_tensor = {data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, strides, 8};
        managed.deleter = [](DLManagedTensor *) { deleted++; };
    }
};

TEST(DLPack, NamesDevicesAndTypesBothWays) {
    for (const Device device : {Device::cpu(), Device::cuda(3), Device::opencl(2)})
        EXPECT_EQ(device_of(dlpack_device(device)), device);
    EXPECT_EQ(device_of({kDLCUDAHost, 1}), Device::cpu());
    EXPECT_EQ(device_of({kDLCUDAManaged, 1}), Device::cuda(1));
    EXPECT_EQ(device_of({kDLMetal, 0}), std::nullopt);
    for (int i = 0; i <= static_cast<int>(DataType::u64); i++) {
        const auto type = static_cast<DataType>(i);
        const DLDataType named = dlpack_type(type);
        EXPECT_EQ(named.bits, 8 * size_of(type)) << name_of(type);
        EXPECT_EQ(data_type_of(named), type) << name_of(type);
    }
    EXPECT_EQ(data_type_of({kDLFloat, 32, 4}), std::nullopt);
}

TEST(DLPack, ImportsAndDeletesOnce) {
    Foreign foreign;
    {
        Tensor tensor = Tensor::from_dlpack(&foreign.managed);
        EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
        EXPECT_EQ(tensor.data<float>(), foreign.data + 2);
        const Tensor view = tensor.slice(0, 1, 1);
        tensor = {};
        EXPECT_EQ(deleted, 0);
        EXPECT_EQ(view.data<float>()[2], 5);
    }
    EXPECT_EQ(deleted, 1);
}

TEST(DLPack, NullStridesArePacked) {
    Foreign foreign;
    foreign.managed.dl_tensor.strides = nullptr;
    EXPECT_EQ(Tensor::from_dlpack(&foreign.managed).strides(), (Shape{3, 1}));
}

TEST(DLPack, NullDeleterIsAllowed) {
    Foreign foreign;
    foreign.managed.deleter = nullptr;
    EXPECT_TRUE(Tensor::from_dlpack(&foreign.managed).defined());
}

// Each failing import deletes what it took over.
TEST(DLPack, BadImports) {
    EXPECT_INVALID("null", Tensor::from_dlpack(nullptr));
    const auto expect = [](const char *part, auto &&spoil) {
        Foreign foreign;
        spoil(foreign.managed.dl_tensor);
        const std::string message =
            tests::message_of<InvalidArgument>([&] { Tensor::from_dlpack(&foreign.managed); });
        EXPECT_EQ(message.find("from_dlpack: "), 0u) << message;
        EXPECT_TRUE(tests::has(message, part)) << message;
        EXPECT_EQ(deleted, 1) << part;
    };
    expect("from_dlpack: the tensor has -1 dimensions", [](DLTensor &t) { t.ndim = -1; });
    expect("the shape is null, the tensor has 2 dimensions",
           [](DLTensor &t) { t.shape = nullptr; });
    expect("the byte offset is 18446744073709551612, it must be at most",
           [](DLTensor &t) { t.byte_offset = ~uint64_t{3}; });
    expect("2 lanes", [](DLTensor &t) { t.dtype.lanes = 2; });
    expect("code 5, 64 bits", [](DLTensor &t) { t.dtype = {kDLComplex, 64, 1}; });
    expect("4 bits", [](DLTensor &t) { t.dtype = {kDLInt, 4, 1}; });
    expect("device type 8", [](DLTensor &t) { t.device.device_type = kDLMetal; });
    expect("null", [](DLTensor &t) { t.data = nullptr; });
    expect("multiple of 4", [](DLTensor &t) { t.byte_offset = 2; });
    expect("negative size -2", [](DLTensor &t) { t.shape[0] = -2; });
}

TEST(DLPack, MissingDeviceDeletesToo) {
    Foreign foreign;
    foreign.managed.dl_tensor.device = {kDLOpenCL, 99};
    EXPECT_ERROR(DeviceError, "opencl:99", Tensor::from_dlpack(&foreign.managed));
    EXPECT_EQ(deleted, 1);
}

TEST(DLPack, ExportKeepsTheStorage) {
    DLManagedTensor *exported = nullptr;
    {
        const Tensor tensor = Tensor::zeros({4, 5}, DataType::bf16);
        tensor.data<uint16_t>()[7] = 42;
        exported = tensor.slice(0, 1, 2).to_dlpack();
    }
    const DLTensor &view = exported->dl_tensor;
    EXPECT_EQ(view.ndim, 2);
    EXPECT_EQ(view.shape[0], 2);
    EXPECT_EQ(view.strides[0], 5);
    EXPECT_EQ(view.dtype.code, kDLBfloat);
    EXPECT_EQ(view.dtype.bits, 16);
    EXPECT_EQ(view.dtype.lanes, 1);
    EXPECT_EQ(view.byte_offset, 0u);
    EXPECT_EQ(static_cast<uint16_t *>(view.data)[2], 42);
    exported->deleter(exported);
}

TEST(DLPack, RoundTripOfEveryType) {
    for (int i = 0; i <= static_cast<int>(DataType::u64); i++) {
        const DataType type = static_cast<DataType>(i);
        const Tensor tensor = Tensor::zeros({2, 3}, type);
        const Tensor back = Tensor::from_dlpack(tensor.permute({1, 0}).to_dlpack());
        EXPECT_EQ(back.type(), type);
        EXPECT_EQ(back.shape(), (Shape{3, 2}));
        EXPECT_EQ(back.strides(), (Shape{1, 3}));
        EXPECT_TRUE(back.overlaps(tensor));
    }
}

TEST(DLPack, RoundTripOnEveryDevice) {
    for (const Device device : Device::all()) {
        const Tensor tensor = Tensor::zeros({4, 6}, DataType::f32, device);
        const Tensor back = Tensor::from_dlpack(tensor.slice(0, 1, 2).to_dlpack());
        EXPECT_EQ(back.device(), device);
        EXPECT_TRUE(back.overlaps(tensor)) << device.name();
        EXPECT_FALSE(back.overlaps(tensor.slice(0, 3, 1))) << device.name();
        const float one = 1;
        back.slice(0, 1, 1).slice(1, 2, 1).copy_from(
            Tensor::borrow(const_cast<float *>(&one), DataType::f32, {1, 1}));
        EXPECT_EQ(tensor.to(Device::cpu()).data<float>()[2 * 6 + 2], 1) << device.name();
    }
}

}  // namespace
}  // namespace hk
