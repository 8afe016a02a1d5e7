// Visuals of robots and colours of bodies: in the picture they are where kinematics puts them.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { close, file, moreau, open, place, record, shot } from "./browser.mjs";

after(() => close());

const inertial = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>";
const box = (size, at, rgba) =>
  `<visual><origin xyz='${at}'/><geometry><box size='${size}'/></geometry><material name='m${rgba}'><color rgba='${rgba}'/></material></visual>`;
const URDF = `<robot name='arm'>
  <link name='base'/>
  <link name='upper'>${inertial}${box("1 0.2 0.2", "0.5 0 0", "0.9 0.1 0.1 1")}
    <collision><geometry><sphere radius='0.4'/></geometry></collision></link>
  <link name='lower'>${inertial}${box("0.8 0.16 0.16", "0.4 0 0", "0.1 0.2 0.9 1")}</link>
  <joint name='shoulder' type='continuous'><parent link='base'/><child link='upper'/><axis xyz='0 1 0'/></joint>
  <joint name='elbow' type='continuous'><parent link='upper'/><child link='lower'/><origin xyz='1 0 0'/><axis xyz='0 1 0'/></joint>
</robot>`;

const red = ([r, g, b]) => r - g > 60 && r - b > 60, blue = ([r, g, b]) => b - r > 60 && b - g > 40;

test("links are drawn with their visuals, as long as they are and where the joints put them", async () => {
  const shoulder = -0.5, elbow = 1.3; // about y: x turns to -z for positive angles
  writeFileSync(file("arm.urdf"), URDF);
  writeFileSync(file("arm.yaml"), `moreau: 1\ngravity: [0, 0, 0]\ntime: { step: 0.01, end: 0.02 }\nrobots:\n  - { urdf: arm.urdf, name: arm, joints: { shoulder: ${shoulder}, elbow: ${elbow} } }\n`);
  const recording = record("arm.h5", file("arm.yaml"));
  moreau("view", recording, "--html", file("arm.html"));
  const page = await open(`file://${file("arm.html")}#theme=light&grid=0&shadows=0`);
  const image = await shot(page, "visuals-arm");
  const along = (from, angle, s) => [from[0] + s * Math.cos(angle), 0, from[2] - s * Math.sin(angle)];
  const knee = along([0, 0, 0], shoulder, 1);
  const look = async (p) => {
    const at = await place(page, ...p);
    return image.at(at.x, at.y);
  };
  for (const s of [0.05, 0.5, 0.85]) assert.ok(red(await look(along([0, 0, 0], shoulder, s))), `the upper link is red at ${s}`);
  for (const s of [0.2, 0.5, 0.76]) assert.ok(blue(await look(along(knee, shoulder + elbow, s))), `the lower link is blue at ${s}`);
  for (const p of [along([0, 0, 0], shoulder, -0.25), along(knee, shoulder + elbow, 1.0)]) {
    const pixel = await look(p);
    assert.ok(!red(pixel) && !blue(pixel), "nothing is drawn beyond the ends");
  }
  // the sphere that touches comes on request
  const beside = [0, 0, 0.3];
  const before = await look(beside);
  await page.keyboard.press("a");
  await page.evaluate(() => window.moreau.settled());
  const at = await place(page, ...beside), after = (await shot(page, "visuals-arm-collision")).at(at.x, at.y);
  assert.ok(Math.abs(before[0] - after[0]) + Math.abs(before[1] - after[1]) + Math.abs(before[2] - after[2]) > 24, "the collision sphere is drawn");
  assert.deepEqual(page.problems, []);
});

test("bodies have the colours of the scene", async () => {
  writeFileSync(file("colours.yaml"), `moreau: 1\ngravity: [0, 0, 0]\ntime: { step: 0.01, end: 0.02 }\nbodies:
  - { name: a, shape: { box: [1, 1, 1] }, position: [-2, 0, 0], color: "#e01010" }
  - { name: b, shape: { box: [1, 1, 1] }, position: [2, 0, 0], color: [0.1, 0.2, 0.9] }
  - { name: c, shape: { box: [1, 1, 1] }, position: [0, 0, 2], color: "#e01010", opacity: 0.2 }\n`);
  moreau("view", record("colours.h5", file("colours.yaml")), "--html", file("colours.html"));
  const page = await open(`file://${file("colours.html")}#theme=light&grid=0&shadows=0`);
  const image = await shot(page, "visuals-colours");
  const look = async (x, y, z) => {
    const at = await place(page, x, y, z);
    return image.at(at.x, at.y);
  };
  assert.ok(red(await look(-2, 0, 0)));
  assert.ok(blue(await look(2, 0, 0)));
  const [r, g] = await look(0, 0, 2);
  assert.ok(g > 0.5 * r, "one sees through the third");
  assert.deepEqual(page.problems, []);
});
