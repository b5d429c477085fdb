#pragma once
// Tensor: a shape, strides and a type over shared storage on a device.
//
// Shapes are written outermost first, strides count elements, as in NumPy, PyTorch and DLPack.
// Copying a Tensor shares its storage; views (slice, reshape, permute) share it too. Storage goes
// when its last Tensor goes. A Tensor may be read from several threads; whoever writes elements
// keeps others away.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "hk/data_type.h"
#include "hk/device.h"

struct DLManagedTensor;  // dlpack.h
struct halide_buffer_t;  // HalideRuntime.h
struct halide_dimension_t;

namespace hk {

using Shape = std::vector<int64_t>;

std::string to_string(const Shape &shape);  // "[1, 64, 56, 56]"

class Tensor {
public:
    Tensor();  // no tensor: defined() is false, rank 0, no elements

    // Elements are not initialised. Throws InvalidArgument for a negative or overflowing shape,
    // OutOfMemory, and DeviceError where the device is not there.
    Tensor(Shape shape, DataType type, Device device = Device::cpu());

    static Tensor zeros(Shape shape, DataType type, Device device = Device::cpu());

    // A tensor over memory of the caller, who keeps it alive as long as any view of it: a host
    // pointer, a CUdeviceptr or a cl_mem, by device. Empty strides mean packed. Throws
    // InvalidArgument for null data of a tensor with elements, or data not aligned to its type.
    static Tensor borrow(void *data, DataType type, Shape shape, Shape strides = {},
                         Device device = Device::cpu());

    // Takes over what an exporter made: its deleter runs when the last view goes, also when this
    // throws InvalidArgument for a type, device or lane count that hk does not have.
    static Tensor from_dlpack(DLManagedTensor *tensor);

    // The caller owns the result and ends it by its deleter, after what uses the elements; it keeps
    // the storage alive. On a device the elements are those after the work on the library's queue.
    DLManagedTensor *to_dlpack() const;

    bool defined() const noexcept { return storage_ != nullptr; }
    int rank() const noexcept { return static_cast<int>(shape_.size()); }
    const Shape &shape() const noexcept { return shape_; }
    const Shape &strides() const noexcept { return strides_; }
    DataType type() const noexcept { return type_; }
    Device device() const noexcept;
    int64_t elements() const noexcept;
    bool packed() const noexcept;  // row-major without gaps

    // Host address of the first element; throws InvalidArgument for a device tensor and for a T
    // whose size is not the element's.
    template<typename T>
    T *data() const {
        return static_cast<T *>(host_data(sizeof(T)));
    }

    // First element's place in the storage, in elements.
    int64_t offset() const noexcept { return offset_; }

    // Views. Dimensions count from the front; negative ones from the back.
    //
    // Element i of a slice is element start + i * step of this one, for i below `length`. So
    // `start` is the slice's first element whatever the step's sign, and counts from 0: of a
    // dimension of size n, slice(dim, n - 1, n, -1) is all of it backwards.
    Tensor slice(int dim, int64_t start, int64_t length, int64_t step = 1) const;
    Tensor permute(const std::vector<int> &order) const;
    Tensor reshape(Shape shape) const;  // throws InvalidArgument where that needs a copy

    // Copies. `to` makes a packed tensor on a device; copy_from writes into this view, whose shape
    // and type must be the source's. Both wait until the copy is done.
    Tensor to(Device device) const;
    void copy_from(const Tensor &source) const;
    void fill_zero() const;

    // This tensor where it is packed; a packed copy on its device where it is not.
    Tensor contiguous() const;

    // A packed copy of another type, on its device. Floating numbers are rounded once, to nearest
    // even; those that an integer type can't hold become its least or largest, fractions are cut
    // off, and NaN is 0. Integers that do not fit another integer type keep their low bits (ONNX
    // operator Cast, opset 13, which leaves the former open). By way of the host, on a device too.
    Tensor cast(DataType type) const;

    // Makes all elements the value, as cast converts f64. On a device by way of the host, but 0.
    void fill(double value) const;

    // Whether some element of one shares bytes with an element of the other. Views that interleave,
    // as two slices of the channels of one tensor do, don't overlap; of views that interleave with
    // different periods it may say true although they don't. Throws OutOfMemory.
    bool overlaps(const Tensor &other) const;

    // For those who call a kernel's function directly: fills `view` and its `dims` (rank() of them,
    // innermost first). The view borrows the storage. A device view holds a driver object: end it
    // with release_halide_view.
    void halide_view(halide_buffer_t &view, halide_dimension_t *dims) const;
    static void release_halide_view(halide_buffer_t &view) noexcept;

    class Storage;
    struct Access;  // for the library's own use

private:
    void *host_data(size_t element_size) const;

    std::shared_ptr<Storage> storage_;
    Shape shape_, strides_;
    int64_t offset_ = 0;
    DataType type_ = DataType::f32;
};

}  // namespace hk
