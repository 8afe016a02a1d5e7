// Follow camera, trails and the length of force arrows, by the keyboard alone.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { close, file, moreau, open, place, seek, shot } from "./browser.mjs";

after(close);
let page;
before(async () => {
  // the ball flies 3 m/s along x over a floor; 100 kg and 1000 kg rest beside it
  writeFileSync(file("look.yaml"), `moreau: 1
time: { step: 0.005, end: 1 }
bodies:
  - { name: floor, shape: plane, fixed: true }
  - { name: ball, shape: { sphere: 0.2 }, mass: 1, position: [-1, 0, 2], velocity: [3, 0, 4.905] }
  - { name: large, shape: { sphere: 0.5 }, mass: 1000, position: [0, 1.5, 0.5] }
  - { name: small, shape: { sphere: 0.3 }, mass: 100, position: [0, -1, 0.3] }
`);
  moreau("view", file("look.yaml"), "--html", file("look.html"));
  page = await open(`file://${file("look.html")}#t=0`, { width: 900, height: 700 });
  await page.focus("#canvas");
});
const settled = () => page.evaluate(() => window.moreau.settled());
const chosen = () => page.evaluate(() => window.moreau.models[0].bodies[window.moreau.state.selected]?.name);
async function choose(name) {
  for (let i = 0; i < 6 && (await chosen()) !== name; i++) await page.keyboard.press("]");
  assert.equal(await chosen(), name);
}
const at = (t) => [-1 + 3 * t, 0, 2 + 4.905 * t - 4.905 * t * t]; // of the ball, without the floor

test("a followed body stays where it is on the screen", async () => {
  await choose("ball");
  await page.keyboard.press("v");
  await settled();
  const middle = await page.evaluate(() => {
    const box = document.getElementById("canvas").getBoundingClientRect();
    return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  });
  for (const t of [0, 0.3, 0.8]) {
    await seek(page, t);
    const p = await place(page, ...at(t));
    assert.ok(Math.hypot(p.x - middle.x, p.y - middle.y) < 12, `${t} s: ${p.x - middle.x}, ${p.y - middle.y}`);
  }
  await page.keyboard.press("v");
  await seek(page, 0);
  const p = await place(page, ...at(0));
  assert.ok(Math.hypot(p.x - middle.x, p.y - middle.y) > 40, "no longer followed");
  await page.keyboard.press("Home");
});

test("trails go where bodies went, until now", async () => {
  await choose("ball");
  await page.keyboard.press("r"); // of the chosen body
  await page.waitForFunction(() => window.moreau.models[0].trails.children.length === 1);
  await seek(page, 0.5);
  const drawn = await page.evaluate(() => {
    const g = window.moreau.models[0].trails.children[0].geometry, n = g.drawRange.count, p = g.attributes.position;
    return [...Array(n).keys()].map((i) => [p.getX(i), p.getY(i), p.getZ(i)]);
  });
  assert.ok(drawn.length >= 20, `${drawn.length} points`);
  const last = drawn.at(-1), wanted = at(0.5);
  assert.ok(Math.hypot(...last.map((x, k) => x - wanted[k])) < 0.05, last.join());
  for (const [x, , z] of drawn) assert.ok(Math.abs(z - at((x + 1) / 3)[2]) < 0.03, `${x} ${z}`);
  await shot(page, "look-trails");
  await page.keyboard.press("r");
  await page.waitForFunction(() => window.moreau.models[0].trails.children.length === 3);
  await page.keyboard.press("r");
  await page.waitForFunction(() => window.moreau.models[0].trails.children.length === 0);
});

test("arrows of forces are measured by the weight of the scene, and none is longer than the scene", async () => {
  await page.keyboard.press("f");
  await seek(page, 0.5);
  const lengths = () => page.evaluate(() => {
    const m = window.moreau.models[0], heads = m.heads, matrix = m.group.matrixWorld.clone(), { contacts } = m.now;
    return [...Array(heads.count).keys()].map((i) => {
      heads.getMatrixAt(i, matrix);
      return Math.hypot(matrix.elements[12] - contacts.point[3 * i], matrix.elements[13] - contacts.point[3 * i + 1], matrix.elements[14] - contacts.point[3 * i + 2]) / m.extent;
    });
  });
  const rest = (await lengths()).sort();
  assert.equal(rest.length, 2);
  assert.ok(Math.abs(rest[1] - 0.35) < 0.01 && Math.abs(rest[0] - 0.035) < 0.002, rest.join()); // the heaviest: a third
  await page.evaluate(() => (window.moreau.state.options.forceScale = 50, window.moreau.setOption("forces", true)));
  await settled();
  assert.ok((await lengths()).every((x) => x <= 0.8001), (await lengths()).join());
  await shot(page, "look-forces");
  assert.deepEqual(page.problems, []);
});
