#pragma once
// All rows of kernels.cmake, and one of them by its name.

#include <span>
#include <string>
#include <vector>

#include "hk/kernel_info.h"

#include "program/flags.h"

namespace hk::explorer {

struct Table {
    std::string family;
    std::span<const KernelInfo> kernels;
};

// Of every family, in the order of kernels.cmake.
const std::vector<Table> &tables();

// A row of kernels.cmake, and its kernels: one a type, layout and device.
struct Row {
    std::vector<const KernelInfo *> kernels;

    const KernelInfo &first() const { return *kernels.front(); }
};

std::vector<Row> rows_of(const Table &table);

// Throws InvalidArgument with the families that there are.
const Table &table_of(const std::string &family);

// Which of a row's kernels is meant; empty: the first.
struct KernelFlags {
    std::string target, type, layout;

    void add_to(program::Flags &flags);
};

// `name`: FAMILY/ROW, a kernel's name, or a row that one family alone has. Throws InvalidArgument
// with names that are near, or the kernels that the row has.
const KernelInfo &kernel_named(const std::string &name, const KernelFlags &flags);

// "f32 nhwc cpu"; families without layouts name none.
std::string variant_of(const KernelInfo &kernel);

}  // namespace hk::explorer
