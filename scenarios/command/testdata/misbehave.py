"""A plain script that misbehaves as its first argument says, and knows nothing of mpsprobe."""
import ctypes
import multiprocessing
import os
import sys
import threading
import time

how, threads = sys.argv[1], int(sys.argv[2])
lock = threading.Lock()


def read_nowhere():
    ctypes.string_at(0)


def raise_in_thread():
    raise ValueError("queue 7 is full")


def take_twice():
    lock.acquire()
    lock.acquire()


def run_in_pool():
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(1) as pool:
        pool.submit(read_nowhere).result()


if __name__ == "__main__":
    if how == "segv":
        read_nowhere()
    if how == "thread":
        thread = threading.Thread(target=read_nowhere)
        thread.start()
        thread.join()
    if how == "raise":
        raise_in_thread()
    if how == "raises_in_thread":
        thread = threading.Thread(target=raise_in_thread)
        thread.start()
        thread.join()
    if how == "abort":
        os.abort()
    if how == "hang":
        take_twice()
    if how == "joins_a_hang":
        thread = threading.Thread(target=take_twice)
        thread.start()
        thread.join()
    if how == "pool":
        run_in_pool()
    if how == "exit":
        sys.exit(4)
    print(threads, sys.argv[1:])
