"""Units for co-simulation: their description, and FMPy's verdict where it is installed."""
import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml
import zipfile

import moreau


class Units(unittest.TestCase):
    def export(self, folder, scene, version):
        path = os.path.join(folder, "%s %d.fmu" % (scene, version))
        subprocess.run([moreau.command(), "export-fmu", scene, "-o", path, "--fmi", str(version)], check=True,
                       stdout=subprocess.DEVNULL)
        return path

    def test_the_description_is_consistent(self):
        with tempfile.TemporaryDirectory() as folder:
            for version in (2, 3):
                path = self.export(folder, "humanoid_stand", version)
                with zipfile.ZipFile(path) as archive:
                    self.assertIsNone(archive.testzip())
                    root = xml.fromstring(archive.read("modelDescription.xml"))
                    names = archive.namelist()
                self.assertEqual(root.get("fmiVersion"), "%d.0" % version)
                self.assertTrue(any(n.endswith("moreau.so") for n in names))
                variables = list(root.find("ModelVariables"))
                self.assertEqual(len({v.get("name") for v in variables}), len(variables))
                self.assertEqual([int(v.get("valueReference")) for v in variables], list(range(len(variables))))
                units = {u.get("name") for u in root.find("UnitDefinitions")}
                for v in variables:
                    number = v.find("Real") if version == 2 else v
                    self.assertIn(number.get("unit"), units | {None})
                    needs_start = v.get("causality") in ("input", "parameter")
                    self.assertEqual(number.get("start") is not None, needs_start, v.get("name"))
                outputs = [i for i, v in enumerate(variables) if v.get("causality") == "output"]
                structure = root.find("ModelStructure")
                listed = [int(u.get("index")) - 1 for u in structure.find("Outputs")] if version == 2 else \
                    [int(u.get("valueReference")) for u in structure.findall("Output")]
                self.assertEqual(listed, outputs)

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
