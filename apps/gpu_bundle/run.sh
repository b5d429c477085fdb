#!/bin/sh
# Checks and measures the CUDA kernels on this machine, which needs nothing but NVIDIA's driver.
#
#   run.sh check [COUNT]      every row against the reference, then COUNT random calls of each family (200)
#   run.sh bench [SECONDS]    every line of cases.txt, SECONDS a case (0.1), beside PyTorch where python3 has it
#
# Results are written to results/ beside this script, or to the folder that RESULTS names. Exits with 77 where there is
# no GPU, with 1 where something failed.

here=$(cd "$(dirname "$0")" && pwd)
results=${RESULTS:-$here/results}
programs=$here/programs

usage() {
    sed -n '2,8s/^# \{0,1\}//p' "$0"
    exit 2
}

prepare() {
    mkdir -p "$results" || exit 2
    [ -d "$programs" ] || tar -xzf "$here/programs.tar.gz" -C "$here" || exit 2
    "$programs/bench" --devices | grep '^cuda:' && return
    echo "there is no CUDA device here"
    exit 77
}

# Tests of rows and of what concerns GPUs, each program in as many parts as there are processors.
tests='*cuda*:*Gpu*:*EveryDevice*:*limit*'
parts=$(nproc)
[ "$parts" -gt 16 ] && parts=16

check_rows() {
    for program in "$programs"/*_test; do
        for part in $(seq 0 $((parts - 1))); do
            echo "$(basename "$program") $part"
        done
    done | xargs -P "$parts" -L 1 sh -c '
        GTEST_TOTAL_SHARDS=$3 GTEST_SHARD_INDEX=$5 HK_LOG=off "$1/$4" --gtest_brief=1 --gtest_filter="$2" \
            >"$0/$4.$5.log" 2>&1 || echo "exit status $?" >>"$0/$4.$5.log"' "$results" "$programs" "$tests" "$parts"
}

check() {
    prepare
    rm -f "$results"/*_test.*.log
    check_rows
    "$programs/fuzz" --device cuda:0 --kind valid --count "$1" >"$results/fuzz.log" 2>&1 ||
        echo "exit status $?" >>"$results/fuzz.log"
    passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$results"/*_test.*.log |
        awk '{ n += $1 } END { print n + 0 }')
    grep -h '^\[  FAILED  \].*(' "$results"/*_test.*.log | sort -u >"$results/failed"
    # What ended without saying which test failed.
    grep -l '^exit status' "$results"/*_test.*.log "$results/fuzz.log" | while read -r log; do
        grep -q '^\[  FAILED  \]' "$log" || echo "$(basename "$log" .log): $(tail -1 "$log")"
    done >>"$results/failed"
    cat "$results/failed"
    grep findings "$results/fuzz.log"
    echo "$passed passed, $(wc -l <"$results/failed") failed"
    [ "$passed" -gt 0 ] && [ ! -s "$results/failed" ]
}

bench() {
    prepare
    rm -f "$results"/bench-*.json
    grep -v '^#' "$here/cases.txt" | (
        status=0
        while read -r family type layout list batch; do
            set -- --device cuda:0 --family "$family" --list "$list" --seconds "$seconds"
            [ "$type" = tf32 ] && set -- "$@" --type f32 --allow-tf32 || set -- "$@" --type "$type"
            [ "$layout" = any ] || set -- "$@" --layout "$layout"
            [ "$batch" = 0 ] || set -- "$@" --batch "$batch"
            "$programs/bench" "$@" --json "$results/bench-$family-$type-$layout-$list-b$batch.json" </dev/null || status=1
        done
        exit $status
    ) >"$results/bench.log" 2>&1
    status=$?
    [ "$status" = 0 ] || grep FAILED "$results/bench.log"
    if command -v python3 >/dev/null; then
        python3 "$here/compare.py" "$results" || status=1
    else
        cat "$results/bench.log"
    fi
    return $status
}

verb=$1
case $verb in
    check) check "${2:-200}" ;;
    bench) seconds=${2:-0.1} && bench ;;
    *) usage ;;
esac
