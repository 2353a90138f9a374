#!/bin/sh
# Builds what is spoilt on purpose, each by the rules of the build, and sees it fail for the right reason.
#
#   cmake/macos/check_images_test.sh BUILD-FOLDER OLDER-LIBTORCH
#
# And the worker of that build is verified against a LibTorch older than its own, which has no pool of streams.
# Its sound twin is part of the build and has been verified there. The last line is "N passed, M failed".
# Exit codes: 0 all passed; 1 something failed; 2 wrong usage.
set -eu
[ $# = 2 ] || { echo "usage: $0 BUILD-FOLDER OLDER-LIBTORCH" >&2 && exit 2; }
passed=0
failed=0

# expect_failure TARGET CULPRIT: it does not build, and an error names the culprit
expect_failure() {
  if output=$(cmake --build "$build" --target "$1" 2>&1); then
    echo "FAILED: $1 was built, and $2 in it was not noticed"
    failed=$((failed + 1))
  elif ! echo "$output" | grep -q "error: .*$2"; then
    echo "$output"
    echo "FAILED: $1 was not built, but no error names $2"
    failed=$((failed + 1))
  else
    echo "$1: $(echo "$output" | grep -m 1 "error: .*$2" | sed 's/.*error: //')"
    passed=$((passed + 1))
  fi
}

# expect_named IMAGE WORDS: what was built is found, with these words
expect_named() {
  if ! output=$(cmake --build "$build" --target "$1" 2>&1); then
    echo "$output"
    echo "FAILED: $1 was not built"
    failed=$((failed + 1))
    return 0
  fi
  output=$("$macos/check_images.py" --library "$older/lib/libc10.dylib" --stubs "$macos/testdata" --stubs "$deps" \
    --headers "$(echo "$deps"/zig-*/ziglang/lib/libc/include/any-darwin-any)" -- "$build/spoilt/$1" 2>&1) || :
  if named=$(echo "$output" | grep "$1: $2"); then
    echo "$named"
    passed=$((passed + 1))
  else
    echo "$output"
    echo "FAILED: $1 was built, and that '$2' was not noticed"
    failed=$((failed + 1))
  fi
}

build=$1
older=$2
macos=${0%/*}
deps=$macos/../../.deps/macos
expect_failure selector_spoilt newQueueOfCommands
expect_failure symbol_spoilt linear_of_another_release
expect_failure linux_call_spoilt memfd_create
expect_named homebrew_spoilt 'loads /opt/homebrew/opt/spoilt/lib/libspoilt.dylib, which a plain macOS'
expect_named newer_spoilt '_strchrnul is in macOS from 15.4 on'
expect_named run_path_spoilt '@rpath/libc10.dylib is in none of the folders .*it has no LC_RPATH'

if output=$("$macos/check_images.py" --library "$older/lib/libtorch_cpu.dylib" --library "$older/lib/libc10.dylib" \
  -- "$build/bin/mpsprobe-worker" 2>&1); then
  echo 'FAILED: a worker that uses streams of a pool was found good for a LibTorch that has none'
  failed=$((failed + 1))
elif missing=$(echo "$output" | grep 'getStreamFromPool.* is not exported by .*libtorch_cpu'); then
  echo "older LibTorch: $missing"
  passed=$((passed + 1))
else
  echo "$output"
  echo 'FAILED: getStreamFromPool is not named as missing in an older LibTorch'
  failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
