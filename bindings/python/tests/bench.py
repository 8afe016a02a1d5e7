"""Overheads of the package: one call of step(1) above the step in C, poses of 1000 bodies, throughput of batches.

    build/python/venv/bin/python bindings/python/tests/bench.py
"""
import os
import time

import numpy as np

import moreau


def best(function, repeat=7):
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def step_overhead():
    world = moreau.World(step=1e-9)
    n = 20000

    def single():
        step = world.step
        for _ in range(n):
            step()

    def loop():
        for _ in range(n):
            pass
    inside = best(lambda: world.step(n))
    return (best(single) - best(loop) - inside) / n * 1e6, inside / n * 1e6


def poses():
    world = moreau.World({"bodies": [{"name": "b", "shape": {"sphere": 0.1}, "mass": 1, "collide": False,
                                      "grid": {"count": [10, 10, 10], "spacing": [1, 1, 1]}}]})
    n = 2000

    def read():
        for _ in range(n):
            world.poses
    return best(read) / n / 1000 * 1e9


def batch(count=256, steps=20, scene="humanoid_stand"):
    found: dict = {}
    cores = len(os.sched_getaffinity(0))
    batches = {t: moreau.Batch(scene, count, threads=t) for t in {1, cores}}
    for b in batches.values():
        b.step(5)
    for t in sorted(batches) * 3:  # in turns
        start, cpu = time.perf_counter(), time.process_time()
        failed = batches[t].step(steps)
        found.setdefault(t, []).append((count * steps / (time.perf_counter() - start), time.process_time() - cpu))
        assert not failed
    return {t: (max(x[0] for x in rows), min(x[1] for x in rows)) for t, rows in found.items()}


if __name__ == "__main__":
    overhead, inside = step_overhead()
    print("step(1): %.3f us above C (a step of an empty world in C: %.3f us)" % (overhead, inside))
    print("poses of 1000 bodies: %.2f ns per body" % poses())
    rates = batch()
    for t, (rate, cpu) in rates.items():
        print("batch of 256 humanoids, %d thread(s): %.0f steps/s, %.2f s of CPU" % (t, rate, cpu))
    print("speed-up %.2f; CPU time of all threads over that of one %.2f (1: nothing is lost)" %
          (rates[max(rates)][0] / rates[1][0], rates[max(rates)][1] / rates[1][1]))
