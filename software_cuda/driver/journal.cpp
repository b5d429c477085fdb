#include "software_cuda/driver/journal.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace software_cuda {

Status Journal::enter(std::string_view function) {
    const std::lock_guard lock(mutex_);
    const auto known = calls_.find(function);
    if (known == calls_.end()) {
        calls_.emplace(function, 1);
    } else {
        known->second++;
    }
    const auto entry = faults_.find(function);
    if (entry == faults_.end()) return CUDA_SUCCESS;
    Fault &fault = entry->second;
    if (fault.skip > 0) {
        fault.skip--;
        return CUDA_SUCCESS;
    }
    const Status status = fault.status;
    if (fault.times != UINT64_MAX && --fault.times == 0) faults_.erase(entry);
    return status;
}

uint64_t Journal::calls(std::string_view function) const {
    const std::lock_guard lock(mutex_);
    const auto entry = calls_.find(function);
    return entry == calls_.end() ? 0 : entry->second;
}

void Journal::fail(std::string_view function, Status status, uint64_t skip, uint64_t times) {
    const std::lock_guard lock(mutex_);
    if (status == CUDA_SUCCESS || times == 0) {
        faults_.erase(std::string(function));
    } else {
        faults_[std::string(function)] = {status, skip, times};
    }
}

void Journal::clear_faults() {
    const std::lock_guard lock(mutex_);
    faults_.clear();
}

void Journal::record(bool on) { recording_ = on; }

void Journal::note(const SoftwareCudaOperation &operation) {
    if (!recording_) return;
    const std::lock_guard lock(mutex_);
    operations_.push_back(operation);
}

std::vector<SoftwareCudaOperation> Journal::operations() const {
    const std::lock_guard lock(mutex_);
    return operations_;
}

const char *Journal::intern(std::string_view text) {
    const std::lock_guard lock(mutex_);
    const auto known = names_.find(text);
    if (known != names_.end()) return known->c_str();
    return names_.emplace(text).first->c_str();
}

void Journal::add(const Launch &launch, const Outcome &outcome, Total &total) {
    const Program &program = *launch.entry->program;
    if (total.launches++ == 0) {
        total.loops = loops_of(program);
        for (const Loop &loop : total.loops)
            total.loop_totals.push_back(
                {program.code[program.blocks[loop.header].first].line, {}, {}});
    }
    total.shared_bytes =
        std::max(total.shared_bytes, launch.entry->shared_bytes + launch.dynamic_shared_bytes);
    total.counts.add(outcome.counts);
    for (size_t n = 0; n < total.loops.size(); n++) {
        for (const uint32_t block : total.loops[n].own)
            add_block(program, block, outcome.basic_blocks[block], total.loop_totals[n].own);
        for (const uint32_t block : total.loops[n].inner)
            add_block(program, block, outcome.basic_blocks[block], total.loop_totals[n].inner);
    }
}

std::vector<Finding> Journal::note(const Launch &launch, const std::string &module,
                                   const Outcome &outcome) {
    const std::string &kernel = launch.entry->name;
    const std::lock_guard lock(mutex_);
    add(launch, outcome, totals_[{kernel, module}]);
    std::vector<Finding> firsts;
    for (const Finding &finding : outcome.findings) {
        const auto [entry, first] =
            findings_.try_emplace({kernel, module, finding.line, finding.kind}, finding);
        if (first) {
            firsts.push_back(finding);
        } else {
            entry->second.times += finding.times;
        }
    }
    return firsts;
}

namespace {

nlohmann::json json_of(const MemoryCounts &counts) {
    return {{"requests", counts.requests}, {"bytes", counts.bytes},
            {"moved", counts.moved},       {"least", counts.least},
            {"distinct", counts.distinct}, {"second_cache", counts.second_cache}};
}

// Of threads and of warps, by class.
nlohmann::json instructions_of(const Counts &counts) {
    nlohmann::json threads, warps;
    for (size_t i = 0; i < counts.thread_instructions.size(); i++) {
        const char *name = class_name(static_cast<InstructionClass>(i));
        threads[name] = counts.thread_instructions[i];
        warps[name] = counts.warp_instructions[i];
    }
    return {{"thread_instructions", threads}, {"warp_instructions", warps}};
}

nlohmann::json json_of(const Counts &counts) {
    nlohmann::json result = instructions_of(counts);
    nlohmann::json lines = nlohmann::json::object();
    for (const auto &[line, count] : counts.lines) lines[std::to_string(line)] = count;
    result.update({{"branches", counts.branches},
                   {"divergent_branches", counts.divergent_branches},
                   {"barriers", counts.barriers},
                   {"lines", lines},
                   {"blocks", counts.blocks},
                   {"threads", counts.threads},
                   {"global_loads", json_of(counts.global_loads)},
                   {"global_stores", json_of(counts.global_stores)},
                   {"shared_loads", json_of(counts.shared_loads)},
                   {"shared_stores", json_of(counts.shared_stores)},
                   {"seconds", counts.seconds}});
    return result;
}

}  // namespace

std::string Journal::counts_json() const {
    const std::lock_guard lock(mutex_);
    nlohmann::json result = nlohmann::json::array();
    for (const auto &[place, total] : totals_) {
        nlohmann::json entry = json_of(total.counts);
        entry["kernel"] = place.first;
        entry["module"] = place.second;
        entry["launches"] = total.launches;
        entry["shared_bytes"] = total.shared_bytes;
        entry["loops"] = nlohmann::json::array();
        for (const LoopTotal &loop : total.loop_totals) {
            Counts all = loop.own;
            all.add(loop.inner);
            entry["loops"].push_back(instructions_of(all));
            entry["loops"].back()["line"] = loop.line;
            entry["loops"].back()["own_thread_instructions"] = loop.own.all_thread_instructions();
        }
        result.push_back(entry);
    }
    return result.dump();
}

uint64_t Journal::finding_count() const {
    const std::lock_guard lock(mutex_);
    return findings_.size();
}

std::string Journal::findings_json() const {
    const std::lock_guard lock(mutex_);
    nlohmann::json result = nlohmann::json::array();
    for (const auto &[place, finding] : findings_) {
        result.push_back({{"kernel", std::get<0>(place)},
                          {"module", std::get<1>(place)},
                          {"kind", kind_name(finding.kind)},
                          {"shared", finding.shared},
                          {"times", finding.times},
                          {"line", finding.line},
                          {"message", finding.message}});
    }
    return result.dump();
}

void Journal::clear() {
    const std::lock_guard lock(mutex_);
    calls_.clear();
    operations_.clear();
    totals_.clear();
    findings_.clear();
}

}  // namespace software_cuda
