// Steps of race cells of a whole warp, vector code.
namespace software_cuda::SOFTWARE_CUDA_INSTRUCTION_SET {

// Of 32 lanes whose cells lie side by side, `bytes` each: where all cells say the same, of the lane
// itself or of others of one warp, one step is that of all. False, with no cell changed, where they
// do not or where it would be a race.
bool step_cells(uint64_t *cells, uint32_t bytes, const CellAccess &access, uint64_t first_thread) {
    using namespace race_cell;
    constexpr uint64_t of_lane = uint64_t{kLanes - 1} << kThreadShift;
    const auto shift = static_cast<uint32_t>(__builtin_ctz(bytes));
    const uint32_t count = kLanes * bytes;
    const uint64_t first = cells[0];
    uint64_t unlike = 0, of_others = 0, of_themselves = 0;
    for (uint32_t n = 0; n < count; n++) {
        const uint64_t cell = cells[n], lane = uint64_t{n >> shift} << kThreadShift;
        const uint64_t apart = (cell ^ lane) & of_lane;
        unlike |= (cell ^ first) & ~of_lane;
        of_others |= apart;
        of_themselves |= apart - 1;  // the highest bit where it is zero
    }
    if (unlike) return false;
    const bool same_warp = (first >> kThreadShift & kThreadMask) / kLanes == first_thread / kLanes;
    if (same_warp && of_others && of_themselves >> 63) return false;
    uint64_t race = 0;
    const uint64_t next = cell_after(first, access, first_thread, race);
    if (race) return false;
    if (access.kind == kRead && ((next ^ first) & ~(kThreadMask << kThreadShift)) == 0) return true;
    for (uint32_t n = 0; n < count; n++) cells[n] = next + (uint64_t{n >> shift} << kThreadShift);
    return true;
}

// Lanes with cells anywhere, the first of them at cells + addresses[lane]. Where all say the same,
// one step is that of all, unless two lanes have the same cells: an access is aligned to its size,
// so that these are all of them or none.
template<uint32_t bytes>
HOT bool step_alike(ByAddress<uint64_t> cells, const uint64_t *addresses, uint32_t lanes,
                    const CellAccess &access, uint64_t first_thread) {
    using namespace race_cell;
    constexpr uint64_t of_lane = uint64_t{kLanes - 1} << kThreadShift;
    const auto lowest = static_cast<uint32_t>(__builtin_ctz(lanes));
    const uint64_t like = cells[addresses[lowest]];
    uint64_t before[kLanes], unlike = 0, of_others = 0, of_themselves = 0;
    each_lane(lanes, [&](uint32_t lane) HOT_LAMBDA {
        const uint64_t *const own = cells + addresses[lane];
        const uint64_t cell = own[0], apart = (cell ^ uint64_t{lane} << kThreadShift) & of_lane;
        before[lane] = cell;
        unlike |= (cell ^ like) & ~of_lane;
        for (uint32_t n = 1; n < bytes; n++) unlike |= own[n] ^ cell;
        of_others |= apart;
        of_themselves |= apart - 1;
    });
    const bool same_warp = (like >> kThreadShift & kThreadMask) / kLanes == first_thread / kLanes;
    if (unlike || (same_warp && of_others && of_themselves >> 63)) return false;
    uint64_t race = 0;
    const uint64_t next = cell_after(like, access, first_thread + lowest, race) & ~of_lane;
    if (race) return false;
    each_lane(lanes, [&](uint32_t lane) HOT_LAMBDA {
        cells[addresses[lane]] = next | uint64_t{lane} << kThreadShift;
    });
    uint64_t shared = 0;
    each_lane(lanes, [&](uint32_t lane) HOT_LAMBDA {
        shared |= cells[addresses[lane]] ^ (next | uint64_t{lane} << kThreadShift);
    });
    if (shared) {
        each_lane(lanes, [&](uint32_t lane) HOT_LAMBDA { cells[addresses[lane]] = before[lane]; });
        return false;
    }
    each_lane(lanes, [&](uint32_t lane) HOT_LAMBDA {
        uint64_t *const own = cells + addresses[lane];
        for (uint32_t n = 1; n < bytes; n++) own[n] = next | uint64_t{lane} << kThreadShift;
    });
    return true;
}

// The same of any access. Else each lane is for itself, a step for each four bytes, which most are
// written by: those of which four do not say the same, or with a race, are returned. Lanes often
// read the same places, and what others have read, of which nothing is to be changed.
template<uint32_t bytes>
HOT uint32_t step_each(ByAddress<uint64_t> cells, const uint64_t *addresses, uint32_t lanes,
                       const CellAccess &access, uint64_t first_thread) {
    const bool reads = access.kind == kRead && !access.several;
    if (!reads && !access.several &&
        step_alike<bytes>(cells, addresses, lanes, access, first_thread))
        return 0;
    uint32_t left = 0;
    constexpr uint32_t word = bytes < 4 ? bytes : 4;
    each_lane(lanes, [&](uint32_t lane) HOT_LAMBDA {
        uint64_t *const of_lane = cells + addresses[lane];
        if (reads && was_read_before(of_lane, bytes, access, first_thread + lane)) return;
        uint64_t next[bytes / word], unlike = 0, races = 0;
        for (uint32_t w = 0; w < bytes / word; w++) {
            const uint64_t *const of_word = of_lane + w * word;
            uint64_t race = 0;
            for (uint32_t n = 1; n < word; n++) unlike |= of_word[n] ^ of_word[0];
            next[w] = cell_after(of_word[0], access, first_thread + lane, race);
            races |= race;
        }
        if (unlike | races) {
            left |= 1u << lane;
            return;
        }
        for (uint32_t n = 0; n < bytes; n++) of_lane[n] = next[n / word];
    });
    return left;
}

uint32_t step_lanes(ByAddress<uint64_t> cells, const uint64_t *addresses, uint32_t lanes,
                    uint32_t bytes, const CellAccess &access, uint64_t first_thread) {
    switch (bytes) {
        case 1:
            return step_each<1>(cells, addresses, lanes, access, first_thread);
        case 2:
            return step_each<2>(cells, addresses, lanes, access, first_thread);
        case 4:
            return step_each<4>(cells, addresses, lanes, access, first_thread);
        case 8:
            return step_each<8>(cells, addresses, lanes, access, first_thread);
        default:
            return step_each<16>(cells, addresses, lanes, access, first_thread);
    }
}

}  // namespace software_cuda::SOFTWARE_CUDA_INSTRUCTION_SET
