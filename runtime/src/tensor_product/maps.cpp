#include "tensor_product/maps.h"

#include <algorithm>
#include <array>
#include <limits>

#include "hk/error.h"
#include "hk/kernel_map.h"
#include "operand_check.h"
#include "rethrow.h"
#include "shape.h"

namespace hk {

namespace {

using namespace detail;

constexpr const char *kOperation = "tensor_product";

[[noreturn]] void fail(const std::string &what) {
    throw InvalidArgument(std::string(kOperation) + ": " + what);
}

void check_index_type(const char *name, const Tensor &tensor) {
    if (tensor.type() == DataType::s32 || tensor.type() == DataType::s64) return;
    fail(std::string(name) + " is " + std::string(name_of(tensor.type())) + ", not s32 or s64");
}

void check_map_tensors(const Tensor &imap, const Tensor &omap, const Tensor &starts) {
    const Operand first{"imap", imap};
    for (const Operand &map : {first, Operand{"omap", omap}}) {
        if (!map.tensor.defined()) fail(std::string(map.name) + " is undefined");
        check_device(kOperation, map, first);
        check_index_type(map.name, map.tensor);
    }
    check_type(kOperation, {"omap", omap}, first);
    const int rank = starts.defined() ? 1 : 2;
    if (imap.rank() != rank) {
        fail("imap has shape " + to_string(imap.shape()) + ", it must have " +
             std::to_string(rank) + " dimensions");
    }
    check_shape(kOperation, {"omap", omap}, imap.shape());
}

Tensor on_host(const Tensor &tensor) {
    return tensor.device() == Device::cpu() ? tensor : tensor.to(Device::cpu());
}

void check_starts(const Tensor &starts, const Tensor &imap) {
    const Operand operand{"starts", starts};
    check_index_type(operand.name, starts);
    check_device(kOperation, operand, {"imap", imap});
    if (starts.rank() != 1 || starts.shape()[0] < 1) {
        fail("starts has shape " + to_string(starts.shape()) +
             ", it must have one dimension and an end of each offset after the first start");
    }
}

// The places of each offset that has any. starts: on the host.
template<typename Index>
std::vector<PairRange> read_ranges(const Tensor &starts, int64_t pairs) {
    const auto *start = starts.data<Index>();
    const int64_t offsets = starts.shape()[0] - 1, step = starts.strides()[0];
    const auto told = [&](int64_t n) {
        return "starts is " + std::to_string(start[n * step]) + " at position " + std::to_string(n);
    };
    if (*start != 0) fail(told(0) + ", it must be 0");
    std::vector<PairRange> ranges;
    int64_t before = 0;
    for (int64_t n = 0; n < offsets; n++) {
        const int64_t end = start[(n + 1) * step];
        if (end == before) continue;
        if (end < before || end > pairs) {
            fail(told(n + 1) + ", it must be " + std::to_string(before) + " to " +
                 std::to_string(pairs));
        }
        ranges.push_back({n, before, end - before});
        before = end;
    }
    if (before != pairs) {
        fail(told(offsets) + ", which is the last, imap has " + std::to_string(pairs) + " pairs");
    }
    return ranges;
}

// Whether an index is neither of a row nor -1. Without a branch, for vectors.
template<typename Index>
bool any_outside(const Index *map, int64_t length, int64_t step, int64_t rows) {
    using Unsigned = std::make_unsigned_t<Index>;
    // There may be more rows than an index can say.
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<Index>::max()) + 1;
    const auto limit = static_cast<Unsigned>(std::min(static_cast<uint64_t>(rows), kMost));
    const auto outside = [&](Index index) {
        return static_cast<Unsigned>(static_cast<Unsigned>(index) + 1) > limit;
    };
    Unsigned any = 0;
    if (step == 1) {
        for (int64_t p = 0; p < length; p++) any |= outside(map[p]);
    } else {
        for (int64_t p = 0; p < length; p++) any |= outside(map[p * step]);
    }
    return any;
}

// An index that is out of range: the first one of its offset.
struct Fault {
    int64_t position = -1;  // none
    bool output = false;
    int64_t value = 0, offset = 0;
};

template<typename Index>
Fault fault_of(const PairList<Index> &list, const PairMaps &maps) {
    const int64_t from = maps.source.rows, to = maps.target.rows;
    if (!any_outside(list.sources, list.length, list.source_step, from) &&
        !any_outside(list.targets, list.length, list.target_step, to)) {
        return {};
    }
    const auto outside = [](int64_t index, int64_t rows) { return index < -1 || index >= rows; };
    for (int64_t p = 0; p < list.length; p++) {
        if (outside(list.source(p), from)) return {p, false, list.source(p), list.offset};
        if (outside(list.target(p), to)) return {p, true, list.target(p), list.offset};
    }
    return {};
}

template<typename Index>
void check_indices(const PairMaps &maps) {
    const ListGroups groups(maps);
    std::vector<Fault> faults(static_cast<size_t>(groups.count()));
    groups.each([&](int64_t g, int64_t first, int64_t end) {
        Fault &fault = faults[static_cast<size_t>(g)];
        for (int64_t i = first; i < end && fault.position < 0; i++)
            fault = fault_of(pair_list<Index>(maps, i), maps);
    });
    for (const Fault &fault : faults) {
        if (fault.position < 0) continue;
        const char *map = fault.output ? "omap" : "imap";
        const char *tensor = fault.output ? "output" : "input";
        const int64_t rows = fault.output ? maps.target.rows : maps.source.rows;
        fail(std::string(map) + " of offset " + std::to_string(fault.offset) + " is " +
             std::to_string(fault.value) + " at position " + std::to_string(fault.position) + ", " +
             tensor + " has " + std::to_string(rows) + " rows");
    }
}

}  // namespace

PairMaps TensorProductMaps::Impl::pairs(Direction direction) const {
    const PairSide input{imap, input_rows}, output{omap, output_rows};
    const auto *of_offsets = ragged ? &ranges : nullptr;
    if (direction == Direction::forward) return {input, output, of_offsets, offsets};
    return {output, input, of_offsets, offsets};
}

void TensorProductMaps::Impl::check_disjoint(const char *operation, const Operand &output) const {
    for (const Operand &map : {Operand{"imap", imap}, Operand{"omap", omap}})
        detail::check_disjoint(operation, map, output);
}

TensorProductMaps::TensorProductMaps(const Tensor &imap, const Tensor &omap, int64_t input_rows,
                                     int64_t output_rows, const Tensor &starts, bool check) try
    : impl_(std::make_shared<Impl>()) {
    check_map_tensors(imap, omap, starts);
    for (const auto &[name, rows] : {std::pair{"input", input_rows}, {"output", output_rows}}) {
        if (rows < 0) fail(std::string(name) + " has " + std::to_string(rows) + " rows");
    }
    impl_->imap = on_host(imap);
    impl_->omap = on_host(omap);
    impl_->ragged = starts.defined();
    if (impl_->ragged) {
        check_starts(starts, imap);
        const Tensor host = on_host(starts);
        impl_->ranges = host.type() == DataType::s64 ? read_ranges<int64_t>(host, imap.shape()[0])
                                                     : read_ranges<int32_t>(host, imap.shape()[0]);
    }
    impl_->offsets = impl_->ragged ? starts.shape()[0] - 1 : imap.shape()[0];
    impl_->input_rows = input_rows;
    impl_->output_rows = output_rows;
    if (!check) return;
    const PairMaps pairs = impl_->pairs(Impl::Direction::forward);
    imap.type() == DataType::s64 ? check_indices<int64_t>(pairs) : check_indices<int32_t>(pairs);
} catch (...) {
    rethrow_as_error(kOperation);
}

TensorProductMaps::TensorProductMaps(const KernelMap &map)
    : TensorProductMaps(map.imap, map.omap, map.input_rows, map.output_rows, map.starts, false) {}

int64_t TensorProductMaps::offsets() const noexcept { return impl_->offsets; }
int64_t TensorProductMaps::places() const noexcept { return impl_->imap.elements(); }
int64_t TensorProductMaps::input_rows() const noexcept { return impl_->input_rows; }
int64_t TensorProductMaps::output_rows() const noexcept { return impl_->output_rows; }

size_t TensorProductMaps::bytes() const {
    const std::lock_guard lock(impl_->mutex);
    size_t bytes = 0;
    for (const auto &form : impl_->forms) bytes += form->bytes();
    return bytes;
}

}  // namespace hk
