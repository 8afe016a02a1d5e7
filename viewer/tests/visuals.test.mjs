// Visuals of robots and colours of bodies: in the picture they are where kinematics puts them.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
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

// A picture of two columns, red and blue, and two rows, the lower one dark.
function picture() {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]), out = Buffer.alloc(body.length + 8);
    let crc = ~0;
    for (const byte of body) for (let k = 0, c = (crc ^= byte); k < 8; k++) crc = c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(~crc >>> 0, body.length + 4);
    return out;
  };
  const head = Buffer.from([0, 0, 0, 2, 0, 0, 0, 2, 8, 2, 0, 0, 0]);
  const rows = Buffer.from([0, 230, 20, 20, 20, 40, 230, 0, 90, 5, 5, 5, 10, 90]);
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk("IHDR", head), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]);
}

// A square of 2 m across y at y = -0.01, seen from there: x to the right, z up, the picture once on it.
const OBJ = "mtllib square.mtl\nv -1 -0.01 -1\nv 1 -0.01 -1\nv 1 -0.01 1\nv -1 -0.01 1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nusemtl card\nf 1/1 2/2 3/3 4/4\n";
const DAE = `<COLLADA><asset><up_axis>Z_UP</up_axis></asset><library_images><image id='i'><init_from>card.png</init_from></image></library_images>
<library_effects><effect id='e'><profile_COMMON><newparam sid='s'><surface type='2D'><init_from>i</init_from></surface></newparam>
<newparam sid='p'><sampler2D><source>s</source></sampler2D></newparam><technique sid='t'><lambert><diffuse><texture texture='p' texcoord='u'/></diffuse></lambert></technique></profile_COMMON></effect></library_effects>
<library_materials><material id='m'><instance_effect url='#e'/></material></library_materials>
<library_geometries><geometry id='g'><mesh><source id='x'><float_array id='xa' count='12'>-1 -0.01 -1 1 -0.01 -1 1 -0.01 1 -1 -0.01 1</float_array><technique_common><accessor source='#xa' count='4' stride='3'/></technique_common></source>
<source id='u'><float_array id='ua' count='8'>0 0 1 0 1 1 0 1</float_array><technique_common><accessor source='#ua' count='4' stride='2'/></technique_common></source>
<vertices id='v'><input semantic='POSITION' source='#x'/></vertices>
<triangles material='c' count='2'><input semantic='VERTEX' source='#v' offset='0'/><input semantic='TEXCOORD' source='#u' offset='1'/><p>0 0 1 1 2 2 0 0 2 2 3 3</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id='w'><node><instance_geometry url='#g'><bind_material><technique_common><instance_material symbol='c' target='#m'/></technique_common></bind_material></instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url='#w'/></scene></COLLADA>`;
const SHOWN = (mesh) => `<robot name='card'><link name='card'>${inertial}<visual><geometry><mesh filename='${mesh}'/></geometry></visual></link></robot>`;
const MJCF = `<mujoco model='card'><option gravity='0 0 0'/><asset><texture name='t' type='2d' file='card.png'/><material name='m' texture='t'/><mesh name='q' file='square.obj'/></asset>
<worldbody><body name='card'><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/><geom type='mesh' mesh='q' material='m' contype='0' conaffinity='0' mass='0'/></body></worldbody></mujoco>`;

test("textures of OBJ, COLLADA and MJCF meshes are on their places", async () => {
  writeFileSync(file("card.png"), picture());
  writeFileSync(file("square.obj"), OBJ);
  writeFileSync(file("square.mtl"), "newmtl card\nmap_Kd card.png\n");
  writeFileSync(file("square.dae"), DAE);
  writeFileSync(file("obj.urdf"), SHOWN("square.obj"));
  writeFileSync(file("dae.urdf"), SHOWN("square.dae"));
  writeFileSync(file("card.xml"), MJCF);
  for (const model of ["urdf: obj.urdf, base: floating", "urdf: dae.urdf, base: floating", "mjcf: card.xml"]) {
    writeFileSync(file("card.yaml"), `moreau: 1\ngravity: [0, 0, 0]\ntime: { step: 0.01, end: 0.02 }\nrobots:\n  - { name: card, ${model} }\n`);
    moreau("view", record("card.h5", file("card.yaml")), "--html", file("card.html"));
    const page = await open(`file://${file("card.html")}#theme=light&grid=0&shadows=0&view=y`);
    const image = await shot(page, "visuals-card");
    const look = async (x, z) => {
      const at = await place(page, x, -0.01, z);
      return image.at(at.x, at.y);
    };
    const corners = [await look(-0.5, 0.5), await look(0.5, 0.5), await look(-0.5, -0.5), await look(0.5, -0.5)];
    assert.ok(red(corners[0]), `${model}: red on the left, ${corners[0]}`);
    assert.ok(blue(corners[1]), `${model}: blue on the right, ${corners[1]}`);
    assert.ok(corners[2][0] < 0.7 * corners[0][0] && corners[3][2] < 0.7 * corners[1][2], `${model}: dark below, ${corners}`);
    assert.ok(corners[2][0] > corners[2][2] && corners[3][2] > corners[3][0], `${model}: red and blue below too`);
    assert.deepEqual(page.problems, []);
  }
});
