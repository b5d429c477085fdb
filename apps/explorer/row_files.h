#pragma once
// What the build has of a row's kernel: its line of kernels.cmake, the command that compiles it,
// and what the last build made of it.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "candidate.h"

namespace hk::explorer {

// What is not in the table of the library: the conditions as kernels.cmake writes them, the
// budget, shared:BYTES,registers:NUMBER, and the contract, conflicts:RATIO,sectors:RATIO,fma:SHARE.
struct RowText {
    std::string where, budget, contract;
};
RowText text_of(const KernelInfo &kernel);
// Of a budget, or of knobs: tile_x:8,tile_k:32, well-formed.
std::map<std::string, int> values_of(const std::string &text);
// Of a thread, in a GPU row's budget.
int registers_of(const KernelInfo &row);

// Of its archive and its report; nothing where it is not built.
struct LastBuild {
    KernelResources resources;
    int64_t bytes = 0;   // of compiled code
    double seconds = 0;  // of a core, to compile it
};
std::optional<LastBuild> last_build_of(const KernelInfo &kernel);

// The generator's command line, without a budget; `outputs`: those of Halide, and `resources`.
std::vector<std::string> generator_command(const Candidate &candidate, const std::string &target,
                                           const std::string &function, const std::string &folder,
                                           const std::string &outputs);

}  // namespace hk::explorer
