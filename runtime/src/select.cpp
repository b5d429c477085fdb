#include <array>

#include "hk/error.h"
#include "hk/kernel_info.h"
#include "names.h"

namespace hk {

namespace {

constexpr std::array<std::string_view, 3> kLayouts{"nhwc", "nchw", "any"};  // as Layout

const char *relation_words(Constraint::Relation relation) {
    switch (relation) {
        case Constraint::Relation::equal:
            return "";
        case Constraint::Relation::at_least:
            return "at least ";
        case Constraint::Relation::at_most:
            return "at most ";
        case Constraint::Relation::multiple_of:
            return "a multiple of ";
    }
    return "";
}

std::string too_much(const char *what, int64_t needed, int64_t available) {
    return std::string("needs ") + std::to_string(needed) + " " + what + ", the device has " +
           std::to_string(available);
}

// Which condition of a row does not hold; empty where all do.
std::string broken_condition(const KernelInfo &kernel, const FieldLookup &field) {
    for (const Constraint &constraint : kernel.where) {
        const int64_t value = field(constraint.field);
        if (!holds(constraint, value)) {
            return std::string(constraint.field) + " is " + std::to_string(value) +
                   ", the row needs " + to_string(constraint);
        }
    }
    return "";
}

// What the device lacks for a row; empty where the row fits.
std::string shortage(const KernelInfo &kernel, const DeviceLimits &limits) {
    if (kernel.device == DeviceType::cpu) {
        // The schedule of amx rows alone, as cmake/Table.cmake sees to.
        const std::string_view schedule = kernel.schedule ? kernel.schedule : "";
        const bool lacks = schedule == "tiles" && !limits.tile_registers;
        return lacks ? "needs tile registers (AMX), which the system does not grant" : "";
    }
    const KernelResources &resources = kernel.loaded().resources;
    const int64_t shared = std::max(limits.shared_bytes, limits.shared_bytes_opt_in);
    if (resources.shared_bytes() > shared) {
        return too_much("bytes of shared memory", resources.shared_bytes(), shared);
    }
    if (resources.threads > limits.threads) {
        return too_much("threads a block", resources.threads, limits.threads);
    }
    const int64_t registers = int64_t{resources.registers} * resources.threads;
    if (limits.registers > 0 && resources.registers > 0 && registers > limits.registers) {
        return too_much("registers a block", registers, limits.registers);
    }
    return "";
}

}  // namespace

int64_t KernelInfo::extent(std::string_view argument, size_t dim) const {
    for (const KernelArgument &a : loaded().arguments)
        if (a.name == argument) return dim < a.extents.size() ? a.extents[dim] : 0;
    return 0;
}

bool holds(const Constraint &constraint, int64_t value) noexcept {
    switch (constraint.relation) {
        case Constraint::Relation::equal:
            return value == constraint.value;
        case Constraint::Relation::at_least:
            return value >= constraint.value;
        case Constraint::Relation::at_most:
            return value <= constraint.value;
        case Constraint::Relation::multiple_of:
            return value % constraint.value == 0;
    }
    return false;
}

std::string to_string(const Constraint &constraint) {
    return relation_words(constraint.relation) + std::to_string(constraint.value);
}

std::string_view name_of(Layout layout) noexcept { return detail::name_in(kLayouts, layout); }

Layout layout_of(std::string_view name) {
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        if (name_of(layout) == name) return layout;
    }
    throw InvalidArgument("layout is \"" + std::string(name) + "\", not nhwc or nchw");
}

Selection select(std::span<const KernelInfo> kernels, DataType type, Layout layout,
                 DeviceType device, const DeviceLimits &limits, const FieldLookup &field,
                 bool explain) {
    Selection selection;
    for (const KernelInfo &kernel : kernels) {
        if (kernel.device != device || kernel.type != type || kernel.layout != layout) continue;
        std::string reason = broken_condition(kernel, field);
        if (reason.empty()) {
            selection.ladder.push_back({&kernel, shortage(kernel, limits)});
            const std::string &lack = selection.ladder.back().shortage;
            if (!lack.empty()) {
                reason = "it " + lack;
            } else if (!selection.kernel) {
                selection.kernel = &kernel;
                if (!explain) break;
                continue;
            }
        }
        if (!explain) continue;
        if (selection.kernel) {
            reason = std::string("the row ") + selection.kernel->row + " comes first";
        }
        selection.rejected.push_back({&kernel, reason});
    }
    return selection;
}

}  // namespace hk
