"""Derivatives through contact and goals, from Python: closed forms and differences of steps."""
import unittest

import numpy as np

import moreau

PUCK = {"time": {"step": 0.02}, "materials": {"ice": {"friction": 0.1}}, "bodies": [
    {"name": "floor", "shape": "plane", "fixed": True, "material": "ice"},
    {"name": "puck", "shape": {"box": [0.2, 0.2, 0.05]}, "mass": 0.5, "material": "ice", "position": [0, 0, 0.025],
     "velocity": [2, 0.3, 0]}]}


class Derivatives(unittest.TestCase):
    def test_a_sliding_puck(self):
        world = moreau.World(PUCK)
        world.step(2)
        before = world.state_hash
        d = world.derivative(["force:puck.x", "friction:ice", "gravity:z", "mass:puck"])
        self.assertEqual(world.state_hash, before)
        self.assertTrue(d.differentiable, d.why)
        self.assertEqual(d.matrix.shape, (12, 16))
        self.assertEqual(d.state.shape, (12, 12))
        self.assertEqual(d.sliding, 4)
        v = world.v[:2]
        along = v / np.linalg.norm(v)
        h, g, m = 0.02, 9.81, 0.5
        # v+ = v (1 - mu g h / |v|) + h F/m, to what turning of the slip adds
        np.testing.assert_allclose(d.inputs[6:8, 1], -g * h * along, rtol=1e-3)
        self.assertAlmostEqual(d.inputs[6, 0], h / m, delta=h / m * 0.02)

    def test_smoothed_goes_to_the_exact_one(self):
        world = moreau.World(PUCK)
        exact = world.derivative()
        far = [np.abs(world.derivative(smooth=k).matrix - exact.matrix).max() for k in (1e-2, 1e-3, 1e-4)]
        self.assertLess(far[1], 0.3 * far[0])
        self.assertLess(far[2], 0.3 * far[1])
        self.assertGreater(world.derivative(smooth=1e-2).smoothed, 0.0)
        with self.assertRaises(ValueError):
            world.derivative(smooth=1e-2, side=1)

    def test_differences_of_steps(self):
        world = moreau.World(PUCK, set={"method.solver.tol": 1e-13})
        world.step(2)
        d = world.derivative()
        start, v = world.save(), world.v.copy()
        for k in (0, 1, 5):
            ends = []
            for by in (1e-5, -1e-5):
                world.restore(start)
                moved = v.copy()
                moved[k] += by
                world.v = moved
                world.step()
                ends.append(world.v.copy())
            np.testing.assert_allclose(d.matrix[6:, 6 + k], (ends[0] - ends[1]) / 2e-5, atol=1e-6)

    def test_forward_and_backward(self):
        world = moreau.World(PUCK)
        start = world.save()
        d = world.derivative(["force:puck.x"], steps=20)
        self.assertEqual(world.steps, 20)
        world.restore(start)
        gradient = np.sin(1.0 + np.arange(12))
        by_state, by_force = world.adjoint(gradient, 20, ["force:puck.x"])
        np.testing.assert_allclose(by_state, gradient @ d.state, atol=1e-8)
        self.assertEqual(by_force.shape, (20, 1))
        self.assertAlmostEqual(by_force.sum(), float(gradient @ d.inputs[:, 0]), delta=1e-8)

    def test_what_is_wrong_is_told(self):
        world = moreau.World(PUCK)
        for word in ("force:nobody.x", "force:puck.w", "friction:snow", "colour:puck", "puck", "kp:arm.j"):
            with self.assertRaises((ValueError, KeyError, moreau.Error), msg=word):
                world.derivative([word])
        with self.assertRaises(moreau.BadInput):
            world.derivative(["mass:floor"])

    def test_a_puck_is_brought_to_a_spot(self):
        world = moreau.World(PUCK)
        before = world.state_hash
        best = world.optimise(["velocity:puck.x", "velocity:puck.y"],
                              {"position:puck.x": 2.0, "position:puck.y": (0.5, 1.0)}, steps=150)
        self.assertEqual(world.state_hash, before)
        self.assertTrue(best.reached)
        self.assertAlmostEqual(np.hypot(*best.x), np.sqrt(2 * 0.1 * 9.81 * np.hypot(2, 0.5)), delta=0.02)
        self.assertLess(best.simulations, 20)


if __name__ == "__main__":
    unittest.main()
