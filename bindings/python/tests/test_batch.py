"""Batches and environments."""
import unittest

import numpy as np

import moreau


class Batches(unittest.TestCase):
    def test_every_world_has_the_bits_of_one_alone(self):
        alone = moreau.World("humanoid_stand")
        alone.step(15)
        for threads in (1, 2, 3):
            batch = moreau.Batch("humanoid_stand", 5, threads=threads)
            self.assertEqual(batch.step(15, poses=True), 0)
            self.assertEqual({batch.state_hash(i) for i in range(5)}, {alone.state_hash})
            np.testing.assert_array_equal(batch.q[3], alone.q)
            np.testing.assert_array_equal(batch.poses[4], alone.poses)

    def test_states_in_torques_in_states_out(self):
        batch = moreau.Batch("plate_arm", 4, threads=2)
        v = np.zeros_like(batch.v)
        v[2] = 0.1
        batch.v = v
        np.testing.assert_array_equal(batch.v, v)
        tau = np.zeros((4, batch.joint_count))
        tau[1] = 0.5
        batch.step(5, tau=tau)
        one = moreau.World("plate_arm")
        for _ in range(5):
            one.robots[0].apply(tau[1])
            one.step()
        np.testing.assert_array_equal(batch.q[1], one.q)
        self.assertFalse(np.array_equal(batch.q[0], batch.q[1]))
        batch.reset([1])
        batch.step(5, tau=tau)
        np.testing.assert_array_equal(batch.q[1], one.q)
        snapshot = batch.save(0)
        batch.restore(3, snapshot)
        self.assertEqual(batch.state_hash(0), batch.state_hash(3))
        with self.assertRaises(IndexError):
            batch.save(4)
        with self.assertRaises(moreau.BadInput):
            batch.step(1, tau=np.zeros(3))
        with self.assertRaises(moreau.BadInput):
            batch.step(1, tau=tau * np.nan)

    def test_a_world_that_fails_does_not_stop_the_others(self):
        batch = moreau.Batch("stack", 3, formulation="st", set={"method.solver": {"name": "pgs", "max_iter": 1}})
        failed = batch.step(50)
        self.assertEqual(failed, 3)
        self.assertIn("was not taken", batch.errors[0])

    def test_an_environment_follows_the_usual_interface(self):
        env = moreau.Environment("plate_arm", frame_skip=2, max_steps=3, noise=0.01, limits=2.0,
                                 reward=lambda e: -float(np.abs(e.world.v).sum()), terminated=lambda e: False)
        a, info = env.reset(seed=7)
        b, _ = env.reset(seed=7)
        np.testing.assert_array_equal(a, b)
        self.assertTrue(env.observation_space.contains(a))
        action = env.action_space.sample(np.random.default_rng(1))
        for k in range(3):
            observation, reward, terminated, truncated, info = env.step(action)
            self.assertEqual(observation.shape, env.observation_space.shape)
        self.assertTrue(truncated and not terminated and reward <= 0)
        env.close()


if __name__ == "__main__":
    unittest.main()
