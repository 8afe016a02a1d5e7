"""A controller in a process of its own: holds every joint of a robot where it was. Start it beside the simulator:

    moreau run plate_arm --control unix:/tmp/arm.sock &
    build/python/venv/bin/python examples/control/hold.py /tmp/arm.sock
"""
import sys

import moreau

start = {}
with moreau.connect(sys.argv[1]) as link:
    for state in link:
        target = start.setdefault(state.robot, state.s.copy())
        joints = state.nu[-len(state.s):]
        link.send(200 * (target - state.s) - 20 * joints, state.robot)
print("held %d robot(s)" % len(start))
