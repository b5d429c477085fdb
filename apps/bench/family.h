#pragma once
// What a family of kernels brings to the benchmark: its lists of cases, and for each case a way to
// run it, to check it, and peers to compare it with. A family plugs in by one entry in families().

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hk/device.h"
#include "hk/kernel_info.h"
#include "hk/tensor.h"
#include "measure.h"

namespace hk::bench {

// What the work of a family's cases is counted in, a nanosecond.
struct Unit {
    std::string name;                            // "GFLOP/s", "GB/s"
    std::function<double(double seconds)> peak;  // measures what the machine can do; may be null
    std::string peak_of;                         // "multiply-adds, AVX-512"
};

struct Settings {
    DataType type = DataType::f32;         // of the input
    DataType output_type = DataType::f32;  // the same, in families that don't offer others
    Layout layout = Layout::nhwc;
    Device device;
    int threads = 1;
    bool peers = true;
    std::string row;                          // empty: what selection takes
    int64_t batch = 0;                        // 0: the list's own
    std::optional<DeviceLimits> limits = {};  // null: the device's own
};

// What selection knows of the settings' device; the usual limits where it is not here. Only what
// runs needs the device.
DeviceLimits limits_of(const Settings &settings);

struct Check {
    double max_error = 0;  // largest difference from the reference over the largest reference
    std::string failure;   // empty: every value that was looked at is within its tolerance
};

// Another library doing the same work.
struct Contestant {
    std::string library;
    std::string variant;
    bool same_task;  // counts in the ratio
    Work work;
    std::shared_ptr<void> owner;  // keeps alive what `work` uses
};

// One case, its data at hand.
class Case {
public:
    virtual ~Case() = default;

    // What runs: the kernel that was asked for, else what selection takes; null: none.
    const KernelInfo *kernel() const { return used_ ? used_ : selected_; }
    const KernelInfo *usual() const { return selected_; }  // what selection takes
    // From now on this kernel runs, of the table or not, which outlives the case; null: what
    // selection takes.
    void use(const KernelInfo *kernel) { used_ = kernel; }

    virtual double work() const = 0;                          // in the family's unit
    virtual std::map<std::string, Shape> shapes() const = 0;  // of its tensors
    virtual Check check() = 0;                                // runs it once
    virtual void run(int count) = 0;                          // returns when the work is done
    virtual std::vector<Contestant> peers() = 0;              // whose results are right

protected:
    explicit Case(const KernelInfo *selected) : selected_(selected) {}

    const KernelInfo *used() const { return used_; }

private:
    const KernelInfo *selected_, *used_ = nullptr;
};

struct CaseInfo {
    std::string list, name;
    std::string kind;   // "depthwise", …: cases of a list that are of interest by themselves
    int64_t count = 1;  // how often the network has it
    std::function<std::unique_ptr<Case>()> prepare;
    std::optional<DataType> type = {};  // of the input, where it is not that of the settings
    const KernelInfo *row = nullptr;    // that runs, whatever selection takes
    // The row that selection takes, found without the case's data; empty: it runs none.
    std::function<const KernelInfo *()> select = {};
};

// A library to compare with that is there.
struct PeerLibrary {
    std::string version;             // "oneDNN 3.2.0"; empty: our own
    std::vector<std::string> names;  // that its contestants may have
};

struct Family {
    std::string name;
    std::vector<DataType> types;     // of inputs; the first where none is named
    std::vector<std::string> lists;  // all of them
    std::vector<std::string> usual;  // those that run where none is named
    std::function<std::vector<CaseInfo>(const std::string &list, const Settings &)> cases;
    // Of the settings' types, layout and device; null: it runs no kernel of the table.
    std::function<std::vector<const KernelInfo *>(const Settings &)> rows;
    std::function<std::vector<PeerLibrary>(const Settings &)> peers;
    std::function<Unit(const Settings &)> unit;
    std::vector<Layout> layouts;  // the first where none is named
    // Output types for an input's, the usual one first; empty: the input's own and no other.
    std::function<std::vector<DataType>(DataType)> output_types = {};
    // What a list's cases run on, in words; null: their names say it.
    std::function<std::string(const std::string &list)> data = {};
    // Sizes of a case of one's own, as a list: "c=64,h=56,…".
    std::string sizes = {};
    // Rows that run beside those; null: none.
    std::function<std::vector<const KernelInfo *>(const Settings &)> helpers = {};
};

Family conv2d_family();
Family conv2d_backward_data_family();
Family conv2d_backward_weight_family();
Family quantized_conv2d_family();
Family topk_family();
Family tensor_product_family();
Family tensor_product_backward_data_family();
Family tensor_product_backward_weight_family();
Family kernel_map_family();
Family activate_family();
Family activate_backward_family();
Family sgd_family();
Family pool2d_family();
Family pool2d_backward_family();
Family softmax_cross_entropy_family();

std::vector<Family> families();

// The row of a family's table that settings.row names. Throws InvalidArgument where there is none.
const KernelInfo &row_named(const Family &family, const Settings &settings);

// The rows of a type, layout and device, those of the settings.
std::vector<const KernelInfo *> rows_of(std::span<const KernelInfo> kernels,
                                        const Settings &settings);

}  // namespace hk::bench
