"""What the tests share."""
import os

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))

#: Scenes of every folder, small enough for a test: contacts, joints, robots, controllers, planar worlds, exact geometry.
SCENES = ["bounce", "stack", "peg_in_hole", "sphere_drop", "sliding_block", "sphere_on_sphere", "spheres_on_cube", "simtest",
          "spheres_8", "s2", "s4_slide", "conveyor", "flat_discs", "flat_sawtooth", "incline", "tumbling_box", "four_bar",
          "slider_crank", "hanging_rod", "cart", "chain_10", "humanoid_stand", "quadruped_trot", "plate_arm", "delta"]
