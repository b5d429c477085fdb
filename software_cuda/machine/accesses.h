// Handlers of loads and stores.
namespace software_cuda::SOFTWARE_CUDA_INSTRUCTION_SET {

struct Place {
    alignas(64) uint64_t at[kLanes];
    ByAddress<uint8_t> host;
    uint32_t lanes;
    Pattern pattern;
};

HOT void find_addresses(const Frame &frame, const Instruction &i, Place &place) {
    const auto offset = static_cast<uint64_t>(i.offset);
    if (i.wide_address) {
        const auto *const a = row<const uint64_t>(frame, i.a);
        for (uint32_t l = 0; l < kLanes; l++) place.at[l] = a[l] + offset;
    } else {
        const auto *const a = row<const uint32_t>(frame, i.a);
        for (uint32_t l = 0; l < kLanes; l++) place.at[l] = static_cast<uint32_t>(a[l] + offset);
    }
}

// Addresses, checked: lanes whose address is wrong are dropped.
HOT void find_place(Frame &frame, const Instruction &i, uint32_t lanes, Place &place) {
    find_addresses(frame, i, place);
    BlockState &block = *frame.block;
    const uint32_t bytes = uint32_t{i.bytes} * i.vector;
    const Site site = block.sites[i.site];
    const uint64_t first = place.at[0], low = bytes - 1;
    uint64_t wrong[kLanes];
    uint64_t apart = 0, jumps = 0, any = 0;
    for (uint32_t l = 0; l < kLanes; l++) {
        const uint64_t from = place.at[l] - first;
        apart |= from;
        jumps |= from ^ uint64_t { l } * bytes;
        wrong[l] = !site.holds(place.at[l]) | ((place.at[l] & low) != 0);
        any |= wrong[l];
    }
    place.lanes = lanes;
    if (any) [[unlikely]] {
        uint32_t bits = 0;
        for (uint32_t l = 0; l < kLanes; l++) bits |= static_cast<uint32_t>(wrong[l]) << l;
        if (bits & lanes)
            place.lanes = block.observer->resolve(block, frame.warp, {&i, place.at, lanes});
    }
    place.pattern = place.lanes != kAll ? Pattern::kScattered
                    : apart == 0        ? Pattern::kSame
                    : jumps == 0        ? Pattern::kDense
                                        : Pattern::kScattered;
    place.host = i.space == Space::kShared ? ByAddress(block.shared)
                                           : ByAddress(block.memory.bytes, block.memory.base);
    if (block.observes) [[unlikely]]
        block.observer->observe(block, frame.warp, {&i, place.at, place.lanes, place.pattern});
}

template<typename M>
HOT M value_at(const uint8_t *p) {
    M value;
    __builtin_memcpy(&value, p, sizeof value);
    return value;
}

template<typename F>
HOT void each_lane(uint32_t lanes, F f) {
    for (uint32_t left = lanes; left; left &= left - 1)
        f(static_cast<uint32_t>(__builtin_ctz(left)));
}

template<typename M, typename Row, uint32_t V>
HOT void load_as(Frame &frame, const Instruction &i, const Place &place) {
    Row *d[V];
    for (uint32_t v = 0; v < V; v++) d[v] = row<Row>(frame, i.d[v]);
    if (place.pattern == Pattern::kDense) {
        const uint8_t *const p = place.host + place.at[0];
        M values[kLanes * V];
        __builtin_memcpy(values, p, sizeof values);
        for (uint32_t v = 0; v < V; v++) {
            for (uint32_t l = 0; l < kLanes; l++) d[v][l] = static_cast<Row>(values[l * V + v]);
        }
    } else if (place.pattern == Pattern::kSame) {
        const uint8_t *const p = place.host + place.at[0];
        for (uint32_t v = 0; v < V; v++) {
            const Row value = static_cast<Row>(value_at<M>(p + v * sizeof(M)));
            for (uint32_t l = 0; l < kLanes; l++) d[v][l] = value;
        }
    } else {
        each_lane(place.lanes, [&](uint32_t l) HOT_LAMBDA {
            const uint8_t *const p = place.host + place.at[l];
            for (uint32_t v = 0; v < V; v++)
                d[v][l] = static_cast<Row>(value_at<M>(p + v * sizeof(M)));
        });
    }
}

template<typename M, uint32_t V>
HOT void store_as(Frame &frame, const Instruction &i, const Place &place) {
    using Row = std::conditional_t<sizeof(M) == 8, uint64_t, uint32_t>;
    const uint32_t step = i.wide_value && sizeof(M) < 8 ? 2 : 1;  // the low half of a wide row
    const Row *d[V];
    for (uint32_t v = 0; v < V; v++) d[v] = row<const Row>(frame, i.d[v]);
    if (place.pattern == Pattern::kDense && step == 1) {
        M values[kLanes * V];
        for (uint32_t l = 0; l < kLanes; l++) {
            for (uint32_t v = 0; v < V; v++) values[l * V + v] = static_cast<M>(d[v][l]);
        }
        __builtin_memcpy(place.host + place.at[0], values, sizeof values);
        return;
    }
    each_lane(place.lanes, [&](uint32_t l) HOT_LAMBDA {
        uint8_t *const p = place.host + place.at[l];
        for (uint32_t v = 0; v < V; v++) {
            const M value = static_cast<M>(d[v][l * step]);
            __builtin_memcpy(p + v * sizeof(M), &value, sizeof(M));
        }
    });
}

template<typename M, typename Row>
void load_vector(Frame &frame, const Instruction &i, const Place &place) {
    switch (i.vector) {
        case 1:
            return load_as<M, Row, 1>(frame, i, place);
        case 2:
            return load_as<M, Row, 2>(frame, i, place);
        default:
            if constexpr (sizeof(M) <= 4) return load_as<M, Row, 4>(frame, i, place);
    }
}
template<typename M>
void store_vector(Frame &frame, const Instruction &i, const Place &place) {
    switch (i.vector) {
        case 1:
            return store_as<M, 1>(frame, i, place);
        case 2:
            return store_as<M, 2>(frame, i, place);
        default:
            if constexpr (sizeof(M) <= 4) return store_as<M, 4>(frame, i, place);
    }
}

template<typename Row>
HOT void load_row(Frame &frame, const Instruction &i, const Place &place) {
    switch (i.bytes) {
        case 1:
            return i.is_signed ? load_vector<int8_t, Row>(frame, i, place)
                               : load_vector<uint8_t, Row>(frame, i, place);
        case 2:
            return i.is_signed ? load_vector<int16_t, Row>(frame, i, place)
                               : load_vector<uint16_t, Row>(frame, i, place);
        case 4:
            return i.is_signed ? load_vector<int32_t, Row>(frame, i, place)
                               : load_vector<uint32_t, Row>(frame, i, place);
        default:
            return load_vector<uint64_t, Row>(frame, i, place);
    }
}

void run_load(Frame &frame, const Instruction &i, uint32_t lanes) {
    Place place;
    find_place(frame, i, lanes, place);
    if (i.wide_value)
        load_row<uint64_t>(frame, i, place);
    else
        load_row<uint32_t>(frame, i, place);
}

void run_store(Frame &frame, const Instruction &i, uint32_t lanes) {
    Place place;
    find_place(frame, i, lanes, place);
    switch (i.bytes) {
        case 1:
            return store_vector<uint8_t>(frame, i, place);
        case 2:
            return store_vector<uint16_t>(frame, i, place);
        case 4:
            return store_vector<uint32_t>(frame, i, place);
        default:
            return store_vector<uint64_t>(frame, i, place);
    }
}

void run_atomic(Frame &frame, const Instruction &i, uint32_t lanes) {
    Place place;
    find_place(frame, i, lanes, place);
    do_atomics(frame, i, place.at, place.host, place.lanes);
}

// Reads what it writes later.
void run_copy(Frame &frame, const Instruction &i, uint32_t lanes) {
    BlockState &block = *frame.block;
    const AsyncCopy &copy = block.program->copies[i.target];
    uint32_t sizes[kLanes];
    Place from, to;
    find_place(frame, copy.store, lanes, to);
    if (find_copy_sizes(frame, i, lanes, sizes)) {
        find_place(frame, copy.load, lanes, from);
    } else {
        find_addresses(frame, copy.load, from);
        from.lanes = block.observer->observe_parts(
            block, frame.warp, {&copy.load, from.at, lanes, Pattern::kScattered, sizes});
    }
    issue_copies(frame, i, {from.at, to.at, sizes}, from.lanes & to.lanes);
}

}  // namespace software_cuda::SOFTWARE_CUDA_INSTRUCTION_SET
