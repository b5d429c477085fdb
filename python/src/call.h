#pragma once
// One call of an operation from Python: its arrays in, its results out, its queue.
//
//   Call call("pool2d");
//   const Tensor x = call.image(input, "input");
//   Output output = call.output(out, shape, type);
//   call.run([&] { hk::pool2d(x, output.tensor, options, call.stream()); });
//   return call.give(output);
//
// The interpreter's lock is held but in run().

#include <nanobind/nanobind.h>

#include <array>
#include <vector>

#include "arguments.h"
#include "hk/kernel_info.h"
#include "hk/output.h"
#include "imported.h"
#include "unlocked.h"

namespace hk::python {

// A tensor that is written: the caller's array, or a new one.
struct Written {
    Tensor tensor;
    nb::object array;                    // the caller's; null: a new one
    VersionedTensor *managed = nullptr;  // of a new one that the array's library has allocated
    bool turned = false;                 // the array is to be nchw, the tensor is nhwc

    Written() = default;
    Written(Written &&other) noexcept
        : tensor(std::move(other.tensor)),
          array(std::move(other.array)),
          managed(std::exchange(other.managed, nullptr)),
          turned(other.turned) {}
    Written &operator=(Written &&) = delete;
    ~Written() {
        if (managed) managed->deleter(managed);
    }
};

class Call {
public:
    explicit Call(const char *operation) : operation_(operation) { held_.reserve(4); }
    Call(const Call &) = delete;

    const char *operation() const noexcept { return operation_; }

    // The first array that is read decides of what kind results are, and on CUDA, with PyTorch,
    // which stream runs.
    Tensor read(Argument array, const char *name);
    Tensor optional(Argument array, const char *name);  // undefined of None

    // The layout of images and weights that are read from here on. Where the first image is nchw by
    // its shape and nhwc in memory (PyTorch's channels_last), all are turned, and results back,
    // unless some can't be.
    void set_layout(std::string_view layout, bool may_turn = true);
    Layout layout() const noexcept { return layout_; }  // that kernels are called with

    // An image or a weight, as layout() has it. Copied where elements of the last dimension don't
    // lie next to each other, which kernels ask for.
    Tensor image(Argument array, const char *name);
    Tensor optional_image(Argument array, const char *name);
    Shape image_shape(Sizes shape, const char *name) const;  // as layout() has it

    // The caller's array, which must be writable, or a new one of that shape and type.
    Written write(Argument array, const char *name);
    Written make(Shape shape, DataType type);
    Written write_or_make(Argument array, const char *name, const Shape &shape, DataType type);

    // The same of an image or a weight, whose shape is as layout() has it.
    Written make_image(Shape shape, DataType type);
    Written write_or_make_image(Argument array, const char *name, const Shape &shape,
                                DataType type);

    // For a call of the library, which may run long: without the interpreter's lock.
    template<typename Run>
    void run(Run run) const {
        const Unlocked unlocked;
        const Calling calling;
        run();
    }

    Result give(Written &written) const;
    Result give(const Tensor &tensor) const;

    Device device() const noexcept { return device_; }
    const Stream &stream() const noexcept { return stream_; }
    const Kind &kind() const noexcept { return kind_; }

private:
    Imported import(nb::handle array, const char *name);

    const char *operation_;
    Kind kind_;
    bool has_kind_ = false;
    Device device_;
    Stream stream_;
    Layout layout_ = Layout::nhwc;
    bool may_turn_ = false, turned_ = false;
    std::vector<Hold> held_;
};

// explain(): functions that are called give the selection in place of their results.
bool explaining() noexcept;
Result explained(Selection selection);

template<typename Select>
Result explain_with(const Call &call, Select select) {
    const Device device = call.device();
    return explained(select(device.type(), device.limits()));
}

}  // namespace hk::python
