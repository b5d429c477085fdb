#include "schedules/partial_sums.h"

#include "schedules/schedule.h"

namespace hk::schedules {

PartialSums partial_sums(const Conv2dSizes &sizes) {
    PartialSums sums = {sizes.nhwc ? 1 : sizes.target.natural_vector_size<float>(), 8};
    Knobs knobs(sizes.knobs);
    knobs.take("lanes", sums.lanes);
    knobs.take("parts", sums.parts);
    knobs.end();
    return sums;
}

}  // namespace hk::schedules
