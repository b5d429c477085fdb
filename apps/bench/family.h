#pragma once
// A family of kernels: its lists of cases, what they are measured in and against, and its problems.
// Each folder of families/ has one or more, in a function FOLDER_families() of its family.cpp.

#include "problem.h"

namespace hk::bench {

// What the work of a family's cases is counted in, a nanosecond.
struct Unit {
    std::string name;                            // "GFLOP/s", "GB/s"
    std::function<double(double seconds)> peak;  // measures what the machine can do; may be null
    std::string peak_of;                         // "multiply-adds, AVX-512"
};

struct CaseInfo {
    std::string list, name;
    std::string kind;   // "depthwise", …: cases of a list that are of interest by themselves
    int64_t count = 1;  // how often the network has it
    std::function<std::unique_ptr<Case>()> prepare;
    std::optional<DataType> type = {};  // of the input, where the list says it
    const KernelInfo *row = nullptr;    // that runs, whatever selection takes
    // The row that selection takes, found without the case's data; empty: it runs none.
    std::function<const KernelInfo *()> select = {};
    std::function<std::unique_ptr<Problem>()> problem = {};  // prepared, without data
    std::map<std::string, std::string> fields = {};          // that its line gives, as texts
};

// A library to compare with that is there.
struct PeerLibrary {
    std::string version;             // "oneDNN 3.2.0"; empty: our own
    std::vector<std::string> names;  // that its contestants may have
};

// Bytes, without a peak, and memcpy to compare with: for what memory bounds.
Unit gigabytes(const Settings &settings);
std::vector<PeerLibrary> memcpy_library(const Settings &settings);

// Operations, on a CPU held against the peak of the settings' type.
Unit arithmetic(const Settings &settings);

struct Family {
    std::string name, description;
    std::function<std::unique_ptr<Problem>()> problem;
    std::string folder;              // of its lists in families/
    std::vector<std::string> usual;  // lists that run where none is named
    std::function<Unit(const Settings &)> unit = gigabytes;
    std::function<std::vector<PeerLibrary>(const Settings &)> peers = memcpy_library;

    std::vector<DataType> types = {DataType::f32, DataType::f16, DataType::bf16};  // of inputs
    std::vector<Layout> layouts = {Layout::any};  // the first where none is named, as of types
    // Output types for an input's, the usual one first; empty: the input's own and no other.
    std::function<std::vector<DataType>(DataType)> output_types = nullptr;
    bool has_rows = true;  // in the table
    // Rows that run beside those; null: none.
    std::function<std::vector<const KernelInfo *>(const Settings &)> helpers = nullptr;

    // What lists run of a field that their lines leave open, each a case of its own.
    std::vector<std::pair<std::string, std::vector<std::string>>> variants = {};
    std::string pass = {};                        // of lines that name the passes that run them
    std::map<std::string, int64_t> batches = {};  // of lists whose own is not what bench runs

    // Names of the lists; "table", the last of families that have rows: for each row of the
    // settings the first case of the others that selection gives to it.
    std::vector<std::string> lists() const;
    // Of a list, a file or sizes (lists.h). Throws InvalidArgument.
    std::vector<CaseInfo> cases(const std::string &list, const Settings &settings) const;
    // Of the settings' types, layout and device; behind them those of another layout that serve it.
    std::vector<const KernelInfo *> rows(const Settings &settings) const;
    // Every type, output type and layout, on a CPU: layout by layout.
    std::vector<Settings> settings() const;
    // A case of one's own: "input=NxHxWxC,…".
    std::string sizes() const;
};

// Those of all folders, in the order of their names.
std::vector<Family> families();

// Throws InvalidArgument, with the names that there are.
Family family_named(const std::string &name);

// The row of a family's table that settings.row names. Throws InvalidArgument where there is none.
const KernelInfo &row_named(const Family &family, const Settings &settings);

}  // namespace hk::bench
