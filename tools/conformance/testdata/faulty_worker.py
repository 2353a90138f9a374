#!/usr/bin/env python3
"""A worker by docs/protocol.md alone, without the C library. It keeps all rules but one that MPSPROBE_FAULT names."""

import argparse
import array
import hashlib
import json
import mmap
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time

FAULT = os.environ.get("MPSPROBE_FAULT", "")
RECORDER, EVENTS, GATE = 3, 4, 5
BYTES, PHASE, INSIDE, MOST_INSIDE, THREADS, MAIN = 840384, 16, 20, 24, 64, 256
RUN, CHECK, TEARDOWN = 2, 3, 4
IDLE, WAITING, LOCKING, LAUNCHING, FINISHED = 0, 1, 2, 3, 5
SHARED = mmap.mmap(-1, 8)  # what a server and all that it forks have in common

OPERATION = {
    "name": "sum", "summary": "adds numbers", "source": "test", "paths": ["default"], "has_parameters": False,
    "dtypes": ["default"], "shape": "default", "dimensions": "",
}  # fmt: skip


def describe():
    answer = {
        "mpsprobe_worker": 2,
        "known_good": "sum",
        "spoils": True,
        "axes": ["iterations", "threads", "lock"],
        "starts": ["fork"] if sys.platform == "linux" else [],
        "operations": [OPERATION],
        "backends": [{"name": "cpu", "available": True, "reason": "", "device": "CPU"}],
    }
    print(json.dumps(answer))


def serve():
    """Forks a process for each request and returns in each of them, with what its gate says."""
    control = socket.socket(fileno=RECORDER)
    while True:
        request, given, _, _ = socket.recv_fds(control, 4096, 5)
        if not request:
            sys.exit(0)
        back, forth = os.pipe()
        between = os.fork()
        if between == 0:
            trial = os.fork()
            if trial == 0:
                break
            os.write(forth, str(trial).encode())
            os._exit(0)
        os.waitpid(between, 0)
        control.send(json.dumps({"pid": int(os.read(back, 32))}).encode())
        for descriptor in (back, forth, *given):
            os.close(descriptor)
    os.setpgid(0, 0)
    control.close()
    high = [os.dup2(descriptor, 100 + k) for k, descriptor in enumerate(given)]
    for k, descriptor in enumerate(high):
        os.dup2(descriptor, 1 + k)
        os.close(descriptor)
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(GATE, 1)
        if not byte:
            os._exit(77)
        line += byte
    return argparse.Namespace(**json.loads(line))


class Process:
    def __init__(self, asked):
        for descriptor in (RECORDER, EVENTS, GATE):
            os.set_inheritable(descriptor, False)
        self.recorder = mmap.mmap(RECORDER, BYTES)
        if struct.unpack_from("<8sII", self.recorder) != (b"mpsprob2", 2, BYTES):
            sys.exit(3)
        # Each is stored at once, as struct does not.
        self.words = memoryview(self.recorder).cast("Q")
        self.halves = memoryview(self.recorder).cast("I")
        _, self.op, _, *axes = asked.cell.split("/")
        cell = dict(axis.split("=") for axis in axes)
        otherwise = 3 if FAULT == "defaults" else 10
        self.iterations = 1 if cell.get("lifetime") == "fresh" else int(cell.get("iterations", otherwise))
        self.threads = int(cell["threads"])
        self.lock = threading.Lock() if cell.get("lock") == "forward" and FAULT != "axes" else None
        self.seed = asked.seed + asked.iteration
        if FAULT != "numbers":
            self.seed += 1000003 * asked.process
        self.counters = threading.Lock()
        self.progress = [0] * 257
        self.start = threading.Event()
        self.barrier = threading.Barrier(self.threads)
        self.wrong = []

    def send(self, event, **keys):
        os.write(EVENTS, json.dumps({"event": event, **keys}).encode() + b"\n")

    def phase(self, number):
        if FAULT != "phases":
            self.halves[PHASE // 4] = number

    def at(self, slot, iteration, step):
        self.progress[slot] += 1
        first = (THREADS + 64 * slot) // 8
        self.words[first] = iteration << 32 | step << 1 | 1
        self.words[first + 1] = self.progress[slot]

    def name(self, slot, text):
        struct.pack_into("<32s", self.recorder, THREADS + 64 * slot + 32, text)

    def count(self, offset, by):
        self.halves[offset // 4] += by
        return self.halves[offset // 4]

    def leash(self):
        try:
            while os.read(GATE, 1):
                self.start.set()
        finally:
            os._exit(77)

    def numbers(self, thread):
        source = random.Random(self.seed * 1009 + thread)
        return [source.randrange(1000) for _ in range(1000)]

    def launch(self, slot, numbers, done):
        self.words[(THREADS + 64 * slot + 16) // 8] = done + 1
        with self.counters:
            inside = self.count(INSIDE, 1)
            if inside > 1:
                self.halves[MOST_INSIDE // 4] = max(inside, self.halves[MOST_INSIDE // 4])
        total = 0
        for number in numbers:
            total += number
        time.sleep(0)
        with self.counters:
            self.count(INSIDE, -1)
        return total

    def work(self, thread):
        slot = thread + 1 if FAULT == "slots" else thread
        self.name(slot, b"sum")
        self.at(slot, 0, WAITING)
        if FAULT != "meeting":
            self.barrier.wait()
        numbers = self.numbers(thread)
        for i in range(self.iterations):
            if self.lock:
                self.at(slot, i, LOCKING)
                self.lock.acquire()
            self.at(slot, i, LAUNCHING)
            total = self.launch(slot, numbers, i)
            if self.lock:
                self.lock.release()
            spoilt = os.environ.get("MPSPROBE_SPOIL") == "1"
            if FAULT != "comparing" and (total != sum(numbers) or spoilt):
                self.wrong.append((thread, i))
        self.at(slot, self.iterations - 1, FINISHED)

    def wait_for_start(self):
        if FAULT == "leash":
            os.read(GATE, 1)
            return
        threading.Thread(target=self.leash, daemon=True).start()
        self.send("ready")
        self.start.wait()

    def run(self):
        self.name(MAIN, b"main")
        self.at(MAIN, 0, IDLE)
        if FAULT == "channels":
            os.write(EVENTS, b"starting\n")
        self.send("hello", protocol=2, provenance={"device": "CPU"})
        if self.op != "sum":
            self.send("failure", kind="unsupported", text=f"only sum, and not {self.op}", phase="startup")
            return
        if FAULT == "leash":
            self.send("ready")
        self.wait_for_start()
        self.phase(RUN)
        began = time.monotonic()
        threads = [threading.Thread(target=self.work, args=(k,)) for k in range(self.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if FAULT == "ending":
            os._exit(0)
        self.phase(CHECK)
        for thread, iteration in self.wrong[:1]:
            self.send("failure", kind="wrong_result", text="the sum is wrong", phase="run", thread=thread,
                      iteration=iteration, operation="sum")  # fmt: skip
        done = self.threads * self.iterations
        if FAULT == "forks":
            done += int.from_bytes(SHARED[:8], "little")
            SHARED[:8] = done.to_bytes(8, "little")
        drawn = b"".join(array.array("i", self.numbers(k)).tobytes() for k in range(self.threads))
        self.send("result", operations=done, seconds=time.monotonic() - began, checked=done, unchecked=0,
                  observed_path="none", numbers=hashlib.sha256(drawn).hexdigest()[:16])  # fmt: skip
        if FAULT == "children":
            subprocess.Popen(["sleep", "30"], start_new_session=True)
        self.phase(TEARDOWN)


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("describe")
    commands.add_parser("fork").add_argument("--backend")
    run = commands.add_parser("run")
    run.add_argument("--cell", required=True)
    for name, default in (("process", 0), ("iteration", 0), ("seed", 1)):
        run.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    if asked.command == "describe":
        describe()
        return
    Process(serve() if asked.command == "fork" else asked).run()
    sys.stdout.flush()
    os._exit(0)


main()
