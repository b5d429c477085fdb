#pragma once
// Memory of operands, whose surroundings are watched.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hk/tensor.h"

namespace hk::fuzz {

// Elements of a block: `first` is the place of the view's first one.
struct View {
    Shape shape, strides;
    int64_t first = 0;
};

// The places that a view takes, relative to its first element.
struct Reach {
    int64_t low = 0, high = -1;  // high < low: none

    int64_t places() const { return high - low + 1; }
};
Reach reach_of(const Shape &shape, const Shape &strides);

enum class Edge {
    end,     // elements end where the guard pages begin
    start,   // they start where the guard pages end
    inside,  // canaries on both sides
};

// The bytes of a window: address space between guard pages of which only what is touched is there.
int64_t window_bytes();
// Windows of 64 GiB become windows of 1 GiB, for several lanes. Before the first block.
void use_small_windows();

// Places of one type: on the CPU at one end of a window, on a device a buffer with canaries on both
// sides. One block at a time has a `slot`; threads have slots of their own, a lane of them each.
class Block {
public:
    static constexpr int kSlots = 12;  // of a lane
    static constexpr int kLanes = 16;

    // `reach` is that of the view that is asked for first.
    Block(Device device, DataType type, Reach reach, Edge edge, int slot, int64_t shift);
    ~Block();
    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;

    int64_t first() const { return first_; }  // place of the first view's first element
    int64_t places() const { return places_; }
    DataType type() const { return type_; }
    bool large() const { return large_; }  // too large to be compared byte by byte

    Tensor on_host(const View &view) const;  // to be filled
    void keep();                             // what is there now is how it was
    Tensor on_device(const View &view) const;
    void restore() const;  // as it was

    // What is there now, as a packed host tensor.
    Tensor fetch(const View &view) const;

    // Empty where all but the elements of `written` is as it was.
    std::string change(const std::vector<View> &written) const;

private:
    Tensor on(std::byte *bytes, const View &view) const;
    std::vector<std::byte> download() const;

    Device device_;
    DataType type_;
    int64_t places_ = 0, first_ = 0, size_ = 0;
    bool large_ = false;
    std::byte *host_ = nullptr;  // the elements' address, on a device of a copy
    std::vector<std::byte> copy_, original_;
    Tensor base_;  // on a device
};

// Packed, on the host, bit for bit.
Tensor packed_copy(const Tensor &host);

// The operand that an address is nearest to, and where: for reports of a crash. Writes to `text`.
void describe_address(const void *address, char *text, size_t size) noexcept;

}  // namespace hk::fuzz
