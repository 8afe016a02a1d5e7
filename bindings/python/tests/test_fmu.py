"""Units for co-simulation: their description, and FMPy's verdict where it is installed."""
import json
import os
import platform
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml
import zipfile

import moreau


class Units(unittest.TestCase):
    def export(self, folder, scene, version):
        path = os.path.join(folder, "%s %d.fmu" % (os.path.basename(scene), version))
        subprocess.run([moreau.command(), "export-fmu", scene, "-o", path, "--fmi", str(version)], check=True,
                       stdout=subprocess.DEVNULL)
        return path

    def description(self, path):
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
            return xml.fromstring(archive.read("modelDescription.xml")), archive.namelist()

    def check(self, path, version):
        """What an importer's validation looks at: sections 2.2 of the standard 2.0, 2.4 of 3.0."""
        root, names = self.description(path)
        self.assertEqual(root.get("fmiVersion"), "%d.0" % version)
        order = ["CoSimulation", "UnitDefinitions", "LogCategories", "DefaultExperiment", "ModelVariables", "ModelStructure"]
        self.assertEqual([part.tag for part in root], order)
        place = "binaries/linux64/%s.so" if version == 2 else "binaries/%s-linux/%%s.so" % platform.machine()
        self.assertIn(place % root.find("CoSimulation").get("modelIdentifier"), names)
        self.assertTrue(root.get("guid" if version == 2 else "instantiationToken"))
        experiment = {k: float(x) for k, x in root.find("DefaultExperiment").attrib.items()}
        self.assertTrue(experiment["startTime"] < experiment["stopTime"] and experiment["stepSize"] > 0)
        variables = list(root.find("ModelVariables"))
        self.assertEqual(len({v.get("name") for v in variables}), len(variables))
        self.assertEqual([int(v.get("valueReference")) for v in variables], list(range(len(variables))))
        units = {u.get("name") for u in root.find("UnitDefinitions")}
        allowed = {("independent", "continuous", None, False), ("parameter", "fixed", "exact", True),
                   ("parameter", "tunable", "exact", True), ("input", "continuous", None, True),
                   ("output", "continuous", "calculated", False)}  # causality, variability, initial, has a start value
        for v in variables:
            number = v.find("Real") if version == 2 else v
            self.assertIn(number.get("unit"), units | {None})
            self.assertIn((v.get("causality"), v.get("variability"), v.get("initial"), number.get("start") is not None),
                          allowed, v.get("name"))
            self.assertNotIn("inf", number.get("start") or "")
            if v.get("name").startswith(("robots.", "joints.")):
                self.assertTrue(number.get("unit"), v.get("name"))
        self.assertEqual([v.get("name") for v in variables if v.get("causality") == "independent"], ["time"])
        outputs = [i for i, v in enumerate(variables) if v.get("causality") == "output"]
        structure = root.find("ModelStructure")
        for one, many in (("Output", "Outputs"), ("InitialUnknown", "InitialUnknowns")):  # all of them, in ascending order
            listed = [int(u.get("index")) - 1 for u in structure.find(many)] if version == 2 else \
                [int(u.get("valueReference")) for u in structure.findall(one)]
            self.assertEqual(listed, outputs)
        return {v.get("name"): (v.find("Real") if version == 2 else v).attrib for v in variables}

    def test_descriptions_are_valid(self):
        odd = {"moreau": 1, "name": 'a "b" <c> & d ü', "bodies": [
            {"name": "floor", "shape": "plane", "fixed": True},
            {"name": 'ball "1" <x> & ü', "shape": {"sphere": 0.5}, "mass": 1, "position": [0, 0, 2]}]}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "odd.yaml")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(odd, file)
            for scene in ("humanoid_stand", "bounce", "flat_discs", "delta", "conveyor", path):
                for version in (2, 3):
                    self.check(self.export(folder, scene, version), version)

    def test_joints_between_bodies_have_positions(self):
        scene = moreau.Scene(step=0.002).method(coordinates="maximal")
        scene.body("slider", shape={"box": [0.1] * 3}, mass=1, position=[1, 0, 0])
        scene.body("rod", shape={"box": [0.5, 0.02, 0.02]}, mass=1, position=[0.25, 0, 0])
        scene.joint("rail", type="prismatic", bodies=["world", "slider"], point=[1, 0, 0], axis=[0, 0, 1])
        scene.joint("pivot", type="revolute", bodies=["world", "rod"], point=[0, 0, 0], axis=[0, 1, 0])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "two.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(scene.text())
            for version in (2, 3):
                variables = self.check(self.export(folder, path, version), version)
                self.assertEqual(variables["joints.rail.position"]["unit"], "m")
                self.assertEqual(variables["joints.pivot.position"]["unit"], "rad")

    def test_fmpy_gives_the_same_trajectory(self):
        try:
            import fmpy
        except ImportError:
            self.skipTest("SKIP FMPy is not installed")
        world = moreau.World("bounce")
        world.step(50)
        with tempfile.TemporaryDirectory() as folder:
            for version in (2, 3):
                path = self.export(folder, "bounce", version)
                self.assertEqual(fmpy.validation.validate_fmu(path), [])
                name = "bodies.wood.position[3]"
                result = fmpy.simulate_fmu(path, stop_time=50 * world.h, output_interval=world.h, output=[name])
                self.assertEqual(result[name][-1], world.body("wood").position[2])


if __name__ == "__main__":
    unittest.main()
