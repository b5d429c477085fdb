// Control of a software CUDA device by the program that uses it. Its library is loaded as
// libcuda.so.1; look up software_cuda_control there with dlsym: where it is missing, the driver is
// another one.
#ifndef SOFTWARE_CUDA_CONTROL_H
#define SOFTWARE_CUDA_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOFTWARE_CUDA_CONTROL_VERSION 1

// What was put on a stream, waited for, or waited with. Handles are as they were given; names live
// as long as the process.
typedef struct {
    const char *function;  // of the driver, without _v2
    int status;            // of the call
    void *context, *stream, *event;
    // Of launches.
    const char *entry;
    unsigned grid[3], block[3];
    unsigned dynamic_shared_bytes, static_shared_bytes, registers;
} SoftwareCudaOperation;

// What is alive.
typedef enum {
    SOFTWARE_CUDA_ALLOCATIONS,
    SOFTWARE_CUDA_CONTEXTS,
    SOFTWARE_CUDA_STREAMS,
    SOFTWARE_CUDA_EVENTS,
    SOFTWARE_CUDA_MODULES
} SoftwareCudaObjects;

// Functions may be called at any time and by any thread. Those that return text write it to `out`,
// ended with a zero, where it and the zero fit into `room` bytes; they return its length without
// the zero.
typedef struct {
    uint32_t version;

    // A setting by its name without SOFTWARE_CUDA_, such as "CHECK" and "all". 0, or 1: the reason
    // is the last line of the report.
    int (*set)(const char *name, const char *value);

    // Of the driver's function `function` (without _v2) the next calls but the first `skip` return
    // `status` and do nothing, `times` of them; UINT64_MAX: all. Status 0: none.
    void (*fail)(const char *function, int status, uint64_t skip, uint64_t times);
    void (*clear_faults)(void);

    // How often a function was called since the start or the last clear(), failing calls too.
    uint64_t (*calls)(const char *function);

    // Notes operations while on is not 0; those noted, at most `room` of them, and how many there
    // are.
    void (*record)(int on);
    size_t (*operations)(SoftwareCudaOperation *out, size_t room);

    // Forgets calls, operations, counts and findings.
    void (*clear)(void);

    uint64_t (*alive)(SoftwareCudaObjects kind);

    // The last line of the report.
    size_t (*report)(char *out, size_t room);
    // What checks found since clear(): their number, and a JSON list of them with kernel, line,
    // kind, times and message.
    uint64_t (*finding_count)(void);
    size_t (*findings)(char *out, size_t room);
    // What launches executed since clear(), by kernel and module, as JSON.
    size_t (*counts)(char *out, size_t room);

    // While a device is held it begins no work: queues grow, and who waits for them waits.
    void (*hold)(int device, int held);
} SoftwareCudaControl;

// Null where the library does not have this version.
const SoftwareCudaControl *software_cuda_control(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
