// What is drawn for those who study methods: groups, half-spaces, joints; and films.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { close, command, file, moreau, open, pixels, place, record, seek, shot } from "./browser.mjs";

after(() => close());

// A particle above the apex of a roof, at rest: near two edges whose lines cross at (0, 1).
const ROOF = (formulation) => `
moreau: 1
dimension: 2
gravity: [0, 0]
time: { step: 0.01, end: 0.05 }
method: { formulation: ${formulation}, solver: lemke, collision: { name: features, epsilon: 2 } }
bodies:
  - { name: roof, shape: { polygon: [[-2, -1], [2, -1], [0, 1]] }, fixed: true }
  - { name: dot, shape: { particle: {} }, mass: 1, position: [0, 1.5] }
`;

async function roof(formulation) {
  writeFileSync(file(`${formulation}.yaml`), ROOF(formulation));
  moreau("view", record(`${formulation}.h5`, file(`${formulation}.yaml`)), "--html", file(`${formulation}.html`));
  const page = await open(`file://${file(`${formulation}.html`)}#theme=light&grid=0&spaces=1&groups=1&t=0.04`);
  const image = await shot(page, `roof-${formulation}`);
  // left of the roof and above its left edge, but below the line of its right edge; and a place that is free of both
  const beyond = await place(page, -1.5, 0.8, 0), free = await place(page, 0, 1.2, 0);
  const tint = (p) => {
    const [r, g, b] = image.at(p.x, p.y);
    return r - (g + b) / 2;
  };
  return { page, seen: await page.evaluate(() => ({ ...window.moreau.models[0].halved, ...window.moreau.models[0].grouped })), beyond: tint(beyond), free: tint(free) };
}

test("half-spaces of st reach beyond the body, exact geometry forbids the body only", async () => {
  const st = await roof("st"), peg = await roof("peg");
  assert.ok(st.seen.spaces >= 2 && st.seen.regions === st.seen.spaces, JSON.stringify(st.seen));
  assert.equal(peg.seen.regions, 1, JSON.stringify(peg.seen));
  assert.ok(peg.seen.spaces >= 2);
  assert.ok(Math.abs(st.beyond - st.free) > 8, `tinted behind the line of an edge: ${st.beyond} against ${st.free}`);
  assert.ok(Math.abs(peg.beyond - peg.free) < 4, `not tinted with exact geometry: ${peg.beyond} against ${peg.free}`);
  assert.deepEqual([...st.page.problems, ...peg.page.problems], []);
  await st.page.close();
  await peg.page.close();
});

test("sub-contacts of a group are marked, the primary one is the plane the pair is left on", async () => {
  const { page, seen } = await roof("peg");
  assert.equal(seen.groups, 1);
  assert.equal(seen.primaries, 1);
  assert.ok(seen.members >= 2);
  const marks = await page.evaluate(() => {
    const m = window.moreau.models[0].groupMarks;
    return Array.from({ length: m.count }, (_, k) => m.instanceMatrix.array[16 * k]);
  });
  assert.equal(marks.length, seen.members);
  assert.equal(marks.filter((s) => s > 1.5 * Math.min(...marks)).length, 1, "one mark is large");
  await page.click("#open-layers");
  assert.equal(await page.isVisible("#spaces-label"), true);
  await page.focus("#canvas");
  await page.keyboard.press("s");
  await page.keyboard.press("e");
  await page.evaluate(() => window.moreau.settled());
  assert.deepEqual(await page.evaluate(() => [window.moreau.models[0].halved.spaces, window.moreau.models[0].grouped.groups]), [0, 0]);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test("joints are drawn where they are, and their error is plotted", async () => {
  moreau("view", record("bar.h5", "four_bar", "--time", "1"), "--html", file("bar.html"));
  const page = await open(`file://${file("bar.html")}#theme=dark&joints=1&grid=0`);
  for (const t of [0, 0.5, 1]) {
    await seek(page, t);
    const image = await shot(page, `joints-${t}`);
    // where the first joint between two moving bodies is, seen from each of them
    const points = await page.evaluate(() => {
      const m = window.moreau.models[0], j = m.recording.description.joints.find((j) => j.bodies.every((b) => b >= 0 && m.bodies[b].kind === 0));
      return j.bodies.map((b, s) => {
        const [x, y, z, qw, qx, qy, qz] = m.pose.subarray(7 * b, 7 * b + 7), [a, c, d] = j.points[s];
        const tx = 2 * (qy * d - qz * c), ty = 2 * (qz * a - qx * d), tz = 2 * (qx * c - qy * a);
        return [x + a + qw * tx + qy * tz - qz * ty, y + c + qw * ty + qz * tx - qx * tz, z + d + qw * tz + qx * ty - qy * tx];
      });
    });
    assert.ok(Math.hypot(...points[0].map((x, i) => x - points[1][i])) < 1e-4, `the bodies meet there: ${points}`);
    const p = await place(page, ...points[0]);
    let violet = 0;
    for (let dx = -3; dx <= 3; dx++) for (let dy = -3; dy <= 3; dy++) {
      const [r, g, b] = image.at(p.x + dx, p.y + dy);
      if (r > g + 30 && b > g + 30) violet++;
    }
    assert.ok(violet > 3, `violet at ${t} s: ${violet} of 49 pixels`);
  }
  assert.match(await page.getAttribute('canvas[aria-label^="Joint error"]', "aria-label"), /joint error: from \d.* to \d.*e−1\d/);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test("a robot without shapes is its joints", async () => {
  writeFileSync(file("stick.urdf"), `<robot name="stick"><link name="base"/>
  <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>`);
  writeFileSync(file("stick.yaml"), `
moreau: 1
time: { step: 0.01, end: 0.1 }
robots:
  - { name: stick, urdf: stick.urdf, position: [0, 0, 1] }
`);
  moreau("view", record("stick.h5", file("stick.yaml")), "--html", file("stick.html"));
  const page = await open(`file://${file("stick.html")}`);
  assert.equal(await page.evaluate(() => window.moreau.state.options.joints), true);
  assert.equal(await page.evaluate(() => window.moreau.models[0].joints.filter((j) => j.group.visible).length), 1);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test("a robot's meshes are drawn where its links are", async () => {
  // a square pyramid on a rail, pulled along x by gravity that is level: x = g t^2/2 and a little more
  writeFileSync(file("pyramid.obj"), "v -0.5 -0.5 0\nv 0.5 -0.5 0\nv 0.5 0.5 0\nv -0.5 0.5 0\nv 0 0 1\nf 4 3 2 1\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n");
  writeFileSync(file("slider.urdf"), `<robot name="slider"><link name="base"/>
  <link name="car"><inertial><origin xyz="0 0 0.25"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><mesh filename="pyramid.obj"/></geometry></collision></link>
  <joint name="rail" type="prismatic"><parent link="base"/><child link="car"/><axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="1" velocity="9"/></joint></robot>`);
  writeFileSync(file("slider.yaml"), `
moreau: 1
gravity: [2, 0, 0]
time: { step: 0.01, end: 1 }
bodies:
  - { name: post, shape: { box: [0.1, 0.1, 3] }, position: [-2, 0, 1], fixed: true }
robots:
  - { name: slider, urdf: slider.urdf }
`);
  moreau("view", record("slider.h5", file("slider.yaml")), "--html", file("slider.html"));
  const page = await open(`file://${file("slider.html")}#theme=dark&grid=0`);
  const shape = await page.evaluate(() => {
    const d = window.moreau.recordings[0].description, s = d.shapes.find((s) => d.bodies[s.body].name === "slider/car");
    return { kind: s.kind, vertices: s.vertices.length / 3 };
  });
  assert.deepEqual(shape, { kind: "polyhedron", vertices: 5 });
  for (const n of [0, 100]) {
    await seek(page, 0.01 * n);
    const image = await shot(page, `mesh-${n}`), x = (2 * 1e-4 * n * (n + 1)) / 2;
    const colours = [];
    for (const dx of [0, 1, -1]) {
      const p = await place(page, x + dx, 0, 0.3), [r, g, b] = image.at(p.x, p.y);
      colours.push(Math.max(r, g, b));
    }
    assert.ok(colours[0] > 90 && colours[1] < 60 && colours[2] < 60, `brightness at step ${n}: ${colours}`); // the ground is dark
  }
  assert.deepEqual(page.problems, []);
  await page.close();
});

// The pictures of an animated PNG, each as a PNG of its own; checks order and lengths of its chunks.
function parts(data) {
  let at = 8, head, announced = 0, sequence = 0;
  const frames = [], chunk = (type, body) => {
    const out = Buffer.alloc(12 + body.length);
    out.writeUInt32BE(body.length, 0);
    out.write(type, 4, "latin1");
    body.copy(out, 8);
    return out;
  };
  while (at < data.length) {
    const length = data.readUInt32BE(at), type = data.toString("latin1", at + 4, at + 8), body = data.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") head = body;
    if (type === "acTL") announced = body.readUInt32BE(0);
    if (type === "fcTL" || type === "fdAT") assert.equal(body.readUInt32BE(0), sequence++, "chunks are numbered");
    if (type === "fcTL") {
      assert.equal(body.readUInt16BE(20) / body.readUInt16BE(22), 0.1, "a tenth of a second each");
      frames.push([data.subarray(0, 8), chunk("IHDR", head)]);
    }
    if (type === "IDAT") frames.at(-1).push(chunk("IDAT", body));
    if (type === "fdAT") frames.at(-1).push(chunk("IDAT", body.subarray(4)));
    at += 12 + length;
  }
  assert.equal(frames.length, announced);
  return frames.map((f) => Buffer.concat(f));
}

test("a film has as many pictures as it should, or a sentence says what is missing", () => {
  const recording = record("film.h5", "bounce", "--time", "0.5");
  let film = file("film.mp4");
  const run = (env, ...args) => spawnSync(command, ["view", recording, "--video", film, "--pixels", "320x200", ...args], { encoding: "utf8", env: { ...process.env, ...env } });
  const none = run({ MOREAU_FFMPEG: "/no/such/ffmpeg" });
  assert.equal(none.status, 3);
  assert.match(none.stderr, /--video needs ffmpeg.*apt install ffmpeg/);
  const neither = run({ MOREAU_FFMPEG: "/no/such/ffmpeg", MOREAU_CHROMIUM: "", PATH: "/nowhere" });
  assert.match(neither.stderr, /Chromium and ffmpeg/);
  assert.equal(existsSync(film), false);
  // a stand-in for ffmpeg that keeps what it is given
  writeFileSync(file("ffmpeg"), '#!/bin/sh\nfor last; do :; done\ncat > "${last#file:}"\n', { mode: 0o755 });
  const made = run({ MOREAU_FFMPEG: file("ffmpeg") }, "--fps", "10");
  assert.equal(made.status, 0, made.stderr);
  assert.match(made.stdout, /6 pictures, 0\.60 s/);
  const data = readFileSync(film), signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), starts = [];
  for (let at = data.indexOf(signature); at >= 0; at = data.indexOf(signature, at + 8)) starts.push(at);
  assert.equal(starts.length, 6);
  const images = starts.map((s, i) => data.subarray(s, starts[i + 1]));
  assert.deepEqual([pixels(images[0]).width, pixels(images[0]).height], [320, 200]);
  assert.ok(!images[0].equals(images[5]), "something moves");
  // an animated PNG needs no encoder: the same pictures, the later ones in numbered chunks
  film = file("film.apng");
  const own = run({ MOREAU_FFMPEG: "/no/such/ffmpeg" }, "--fps", "10");
  assert.equal(own.status, 0, own.stderr);
  const frames = parts(readFileSync(film));
  assert.equal(frames.length, 6);
  frames.forEach((png, k) => {
    const a = pixels(png), b = pixels(images[k]);
    for (let y = 5; y < 200; y += 13) for (let x = 3; x < 320; x += 17) assert.deepEqual(a.at(x, y), b.at(x, y), `picture ${k} at ${x}, ${y}`);
  });
  film = file("film.mp4");
  if (spawnSync("ffmpeg", ["-version"]).status !== 0) return console.log("SKIP ffmpeg is not installed: its part was not tried");
  const real = run({}, "--fps", "10");
  assert.equal(real.status, 0, real.stderr);
  assert.ok(statSync(film).size > 1000);
  const probe = execFileSync("ffprobe", ["-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames,width", "-of", "csv=p=0", film], { encoding: "utf8" });
  assert.equal(probe.trim(), "320,6");
});
