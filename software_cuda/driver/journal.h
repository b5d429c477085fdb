// What a test wants to know of the calls that were made, and faults that it puts in.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "software_cuda/control.h"
#include "software_cuda/driver/status.h"
#include "software_cuda/machine/machine.h"
#include "software_cuda/ptx/loops.h"

namespace software_cuda {

class Journal {
public:
    // Counts a call; what it is to fail with instead of being made.
    Status enter(std::string_view function);
    uint64_t calls(std::string_view function) const;
    // Its next calls but the first `skip` fail, `times` of them.
    void fail(std::string_view function, Status status, uint64_t skip, uint64_t times);
    void clear_faults();

    // What is put on streams is noted while `on`.
    void record(bool on);
    void note(const SoftwareCudaOperation &operation);
    std::vector<SoftwareCudaOperation> operations() const;
    // A copy of a name that lives as long as the process.
    const char *intern(std::string_view text);

    // Returns the findings that are the first of their kind at an instruction.
    std::vector<Finding> note(const Launch &launch, const std::string &module,
                              const Outcome &outcome);
    std::string counts_json() const;
    // One a kind and instruction.
    uint64_t finding_count() const;
    std::string findings_json() const;

    // Calls, operations, counts and findings.
    void clear();

private:
    struct Fault {
        Status status;
        uint64_t skip, times;
    };
    // Of a finding: kernel, module, line, kind.
    using Place = std::tuple<std::string, std::string, uint32_t, int>;
    struct LoopTotal {
        uint32_t line;      // of its first instruction
        Counts own, inner;  // of instructions alone
    };
    struct Total {
        uint64_t launches = 0;
        uint32_t shared_bytes = 0;  // of a block, at most
        Counts counts;
        std::vector<Loop> loops;
        std::vector<LoopTotal> loop_totals;
    };

    static void add(const Launch &launch, const Outcome &outcome, Total &total);

    mutable std::mutex mutex_;
    std::map<std::string, Fault, std::less<>> faults_;
    std::map<std::string, uint64_t, std::less<>> calls_;
    std::atomic<bool> recording_ = false;
    std::vector<SoftwareCudaOperation> operations_;
    std::map<std::pair<std::string, std::string>, Total> totals_;  // of kernel and module
    std::map<Place, Finding> findings_;  // the first of each, and the times of all
    std::set<std::string, std::less<>> names_;
};

}  // namespace software_cuda
