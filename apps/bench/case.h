#pragma once
// One case of a benchmark, its data at hand: what runs it, checks it, and takes part beside it.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "hk/device.h"
#include "hk/kernel_info.h"
#include "hk/tensor.h"
#include "measure.h"

namespace hk::bench {

struct Settings {
    DataType type = DataType::f32;         // of the input
    DataType output_type = DataType::f32;  // the same, in families that don't offer others
    Layout layout = Layout::nhwc;
    Device device;
    int threads = 1;
    bool peers = true;
    std::string row;                          // empty: what selection takes
    int64_t batch = 0;                        // 0: the list's own
    bool allow_tf32 = false;                  // Conv2dOptions::allow_tf32, of all cases
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

}  // namespace hk::bench
