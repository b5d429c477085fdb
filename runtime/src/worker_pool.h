#pragma once
// The threads that parallel loops of CPU kernels share.

#include "HalideRuntime.h"

namespace hk::detail {

// Runs task(user_context, i, closure) for `count` numbers from `first`, as halide_do_par_for()
// does, on the calling thread and on workers, which are started when they are first wanted:
// halide_get_num_threads() - 1 of them. Returns when all tasks are done; after one that fails no
// other begins, and its status is returned. From any thread, tasks included.
int run_loop(void *user_context, halide_task_t task, int first, int count, uint8_t *closure);

// Joins the workers. The next loop starts new ones.
void stop_workers();

}  // namespace hk::detail
