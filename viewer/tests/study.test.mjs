// What is measured in the picture: states of contacts, centre of mass over its support, distances; the ground; films of the browser.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { close, command, file, moreau, open, place, record, seek, serve, shot } from "./browser.mjs";

after(() => close());

function page(name, scene, look = "", size = {}, ...args) {
  writeFileSync(file(`${name}.yaml`), scene);
  moreau("view", record(`${name}.h5`, file(`${name}.yaml`), ...args), "--html", file(`${name}.html`));
  return open(`file://${file(`${name}.html`)}#shadows=0&${look}`, size);
}

// Gravity leans by 3/9.5: mu 0.9 holds, mu 0.1 does not.
const SLOPE = `
moreau: 1
gravity: [3, 0, -9.5]
time: { step: 0.01, end: 0.5 }
materials: { rough: { friction: 0.9 }, ice: { friction: 0.1 } }
pairs: [ { materials: [rough, ice], friction: 0.1 } ]
bodies:
  - { name: floor, shape: plane, material: rough, fixed: true }
  - { name: still, shape: { box: [1, 1, 0.4] }, material: rough, position: [0, -1.5, 0.2] }
  - { name: slider, shape: { box: [1, 1, 0.4] }, material: ice, position: [0, 1.5, 0.2] }
  - { name: flyer, shape: { sphere: 0.2 }, position: [0, 4, 2] }
`;

test("contacts have the colour of their state, and a legend", async () => {
  const p = await page("states", SLOPE, "contacts=1&theme=dark&t=0.4");
  const seen = await p.evaluate(() => {
    const m = window.moreau.models[0], c = m.now.contacts, out = [];
    for (let i = 0; i < c.count; i++) {
      const [r, g, b] = m.markers.instanceColor.array.slice(3 * i, 3 * i + 3);
      out.push({ bodies: [c.body[2 * i], c.body[2 * i + 1]], red: r > 0.9, green: g > r && g > b });
    }
    return out;
  });
  const of = (body) => seen.filter((s) => s.bodies.includes(body));
  assert.ok(of(1).length >= 3 && of(1).every((s) => s.green && !s.red), `sticking is green: ${JSON.stringify(of(1))}`);
  assert.ok(of(2).length >= 3 && of(2).every((s) => s.red && !s.green), `sliding is orange: ${JSON.stringify(of(2))}`);
  assert.equal(await p.isVisible("#legend"), true);
  assert.match(await p.textContent("#legend"), /sticking.*sliding/);
  await shot(p, "states");
  assert.deepEqual(p.problems, []);
  await p.close();
});

// A plank of 2 m on a block of 1 m: its centre is 0.3 m beside the middle of the block, so 0.2 m from the edge; then 0.7 m.
const PLANK = (x) => `
moreau: 1
time: { step: 0.01, end: 0.03 }
bodies:
  - { name: block, shape: { box: [1, 1, 1] }, position: [0, 0, 0.5], fixed: true }
  - { name: plank, shape: { box: [2, 0.4, 0.1] }, position: [${x}, 0, 1.05] }
`;

test("the centre of mass is over its support, or it is not", async () => {
  for (const [x, margin] of [[0.3, 0.2], [0.7, -0.2]]) {
    const p = await page(`plank${x}`, PLANK(x), "balance=1&t=0.03");
    const [b] = await p.evaluate(() => window.moreau.models[0].balanced.map((b) => ({ com: b.com.toArray(), inside: b.inside, margin: b.margin, corners: b.polygon.length })));
    assert.ok(Math.abs(b.com[0] - x) < 0.01 && Math.abs(b.com[2] - 1.05) < 0.01, JSON.stringify(b));
    assert.equal(b.inside, margin > 0);
    assert.ok(Math.abs(b.margin - margin) < 0.02, JSON.stringify(b));
    assert.equal(b.corners, margin > 0 ? 4 : b.corners);
    assert.match(await p.textContent("#legend"), /centre of mass/);
    await shot(p, `plank${x}`);
    await p.focus("#canvas");
    await p.keyboard.press("k");
    await p.evaluate(() => window.moreau.settled());
    assert.equal(await p.evaluate(() => window.moreau.models[0].balanced.length), 0);
    assert.deepEqual(p.problems, []);
    await p.close();
  }
});

test("distances are measured with the pointer and with the keyboard, and follow the bodies", async () => {
  const p = await page("two", `
moreau: 1
gravity: [0, 0, 0]
time: { step: 0.01, end: 1 }
bodies:
  - { name: one, shape: { box: [0.4, 0.4, 0.4] }, position: [0, 0, 0] }
  - { name: two, shape: { box: [0.4, 0.4, 0.4] }, position: [2, 1, 0], velocity: [1, 0, 0] }
`, "t=0&theme=light");
  await p.focus("#canvas");
  await p.keyboard.press("m");
  for (const key of ["]", "Enter", "]", "Enter"]) await p.keyboard.press(key);
  await p.evaluate(() => window.moreau.settled());
  const distance = () => p.evaluate(() => window.moreau.measure.result?.distance);
  assert.ok(Math.abs((await distance()) - Math.sqrt(5)) < 1e-5);
  assert.match(await p.textContent("#measured"), /^2\.236\d* m \(2, 1, 0\)/);
  await seek(p, 1); // two has gone one metre further
  assert.ok(Math.abs((await distance()) - Math.sqrt(10)) < 1e-4);
  await shot(p, "measure");
  await seek(p, 0);
  // the tops of both boxes, by clicks; the panel of a chosen body would lie over one
  await p.evaluate(async () => {
    window.moreau.choose(-1);
    await window.moreau.settled();
  });
  for (const [x, y] of [[0, 0], [2, 1]]) {
    const at = await place(p, x, y, 0.2);
    await p.mouse.click(at.x, at.y);
    await p.evaluate(() => window.moreau.settled()); // the panel of the first goes before the second is clicked
  }
  assert.ok(Math.abs((await distance()) - Math.sqrt(5)) < 0.03, `clicked ${await distance()}`);
  await p.keyboard.press("Escape");
  await p.evaluate(() => window.moreau.settled());
  assert.equal(await p.isVisible("#measured"), false);
  assert.deepEqual(p.problems, []);
  await p.close();
});

test("the ground is drawn as the scene says", async () => {
  const scene = (style) => `
moreau: 1
${style ? `ground: ${style}` : ""}
time: { step: 0.01, end: 0.02 }
bodies:
  - { name: floor, shape: plane, fixed: true }
  - { name: box, shape: { box: [1, 1, 1] }, position: [0, 0, 0.5] }
`;
  const shades = {};
  for (const style of ["", "checker", "plain", "none"]) {
    const p = await page(`ground-${style}`, scene(style), "theme=light&view=z&ui=0&t=0");
    const image = await shot(p, `ground-${style}`), found = new Map();
    for (let y = 10; y < image.height - 10; y += 3)
      for (let x = 10; x < 0.3 * image.width; x += 3) {
        const key = image.at(x, y).map((c) => c >> 2).join();
        found.set(key, (found.get(key) ?? 0) + 1);
      }
    // shades that cover at least an eighth of what was looked at
    const all = [...found.values()].reduce((a, b) => a + b, 0);
    shades[style] = [...found.values()].filter((n) => n > all / 8).length;
    assert.equal(await p.evaluate(() => window.moreau.state.options.grid), style === "");
    assert.equal(await p.evaluate(() => window.moreau.models[0].batches.find((b) => b.plane).mesh.visible), style !== "none");
    assert.deepEqual(p.problems, []);
    await p.close();
  }
  assert.ok(shades.checker >= 2, JSON.stringify(shades));
  assert.ok(shades.plain <= 1 || shades.plain < shades.checker, JSON.stringify(shades));
  writeFileSync(file("bad.yaml"), scene("chequer"));
  const bad = spawnSync(command, ["run", file("bad.yaml")], { encoding: "utf8" });
  assert.equal(bad.status, 2);
  assert.match(bad.stderr, /ground.*checker/s);
});

test("no plot of joint errors where joints cannot open", async () => {
  const server = await serve("arm6_grasp", "--paused"), p = await open(server.url + "#shadows=0");
  assert.equal(await p.locator('#chips [data-plot="joint_error"]').count(), 0);
  await p.close();
  await server.stop();
  const loop = await serve("four_bar", "--paused"), q = await open(loop.url + "#shadows=0");
  assert.equal(await q.locator('#chips [data-plot="joint_error"]').count(), 1);
  await q.close();
  await loop.stop();
});

test("the browser writes a film itself", async () => {
  moreau("view", record("film.h5", "bounce", "--time", "0.6"), "--html", file("film.html"));
  const p = await open(`file://${file("film.html")}#shadows=0`, { width: 480, height: 480 });
  const download = p.waitForEvent("download", { timeout: 120000 });
  await p.click("#film");
  const saved = await download;
  assert.match(saved.suggestedFilename(), /\.webm$/);
  const data = readFileSync(await saved.path());
  assert.ok(data.subarray(0, 4).equals(Buffer.from([0x1a, 0x45, 0xdf, 0xa3])), "a Matroska file");
  assert.ok(data.length > 5000, `${data.length} bytes`);
  assert.equal(await p.getAttribute("#film", "aria-pressed"), "false");
  assert.deepEqual(p.problems, []);
  await p.close();
});
