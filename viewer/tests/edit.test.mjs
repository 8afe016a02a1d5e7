// A running scene changed by hand: step, methods, bodies, joints.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { close, file, open, serve, shot } from "./browser.mjs";

after(() => close());

const until = (page, f, arg) => page.waitForFunction(f, arg, { timeout: 60000 });
const bodies = (page) => page.evaluate(() => window.moreau.live.description.bodies.map((b) => b.name));
// Types into a field and leaves it.
async function type(page, id, text) {
  await page.fill(id, String(text));
  await page.press(id, "Enter");
}

const SLOPE = `
moreau: 1
gravity: [3, 0, -9.5]
time: { step: 0.005, end: 100 }
materials: { rough: { friction: 0.9 } }
bodies:
  - { name: floor, shape: plane, material: rough, fixed: true }
  - { name: left stone, shape: { box: [1, 1, 0.4] }, material: rough, position: [0, -1.5, 0.2] }
  - { name: right stone, shape: { box: [1, 1, 0.4] }, material: rough, position: [0, 1.5, 0.2] }
`;

test("step, collision method and epsilon are changed, nonsense is refused with a sentence", async () => {
  writeFileSync(file("slope.yaml"), SLOPE);
  const server = await serve(file("slope.yaml"), "--paused"), page = await open(server.url + "#shadows=0");
  assert.equal(await page.inputValue("#step-length"), "0.005");
  assert.equal(await page.inputValue("#epsilon"), "auto");
  await type(page, "#step-length", 0.002);
  await until(page, () => window.moreau.live.state.step === 0.002);
  await page.click("#forward");
  await until(page, () => Math.abs(window.moreau.live.list.at(-1).time - 0.002) < 1e-12);
  await type(page, "#epsilon", 0.03);
  await until(page, () => window.moreau.live.state.epsilon === 0.03);
  await page.selectOption("#collision", "features");
  await until(page, () => window.moreau.live.state.collision === "features");
  await type(page, "#step-length", 5);
  await until(page, () => window.moreau.live.state.note.includes("out of range"));
  assert.match(await page.textContent("#live-state"), /5 s is out of range/);
  assert.equal(await page.evaluate(() => window.moreau.live.state.step), 0.002);
  await page.click("#reset");
  await until(page, () => window.moreau.live.list.length === 1 && window.moreau.live.list[0].step === 0);
  const kept = await page.evaluate(() => window.moreau.live.state);
  assert.deepEqual([kept.step, kept.collision], [0.002, "features"], "a reset keeps them");
  await page.click("#original");
  await until(page, () => window.moreau.live.state.edits === 0 && window.moreau.live.state.step === 0.005);
  assert.equal(await page.isVisible("#original"), false);
  assert.deepEqual(page.problems, []);
  await page.close();
  await server.stop();
});

test("mass and friction of one body are changed", async () => {
  const server = await serve(file("slope.yaml")), page = await open(server.url + "#shadows=0");
  await until(page, () => window.moreau.live.list.at(-1).step > 60);
  assert.ok(await page.evaluate(() => Math.abs(window.moreau.live.list.at(-1).pose[7]) < 1e-3), "both stick");
  await page.selectOption("#bodies", "1", { force: true }).catch(() => page.evaluate(() => window.moreau.choose(1)));
  await page.waitForSelector("#edit-body:not([hidden])");
  assert.equal(await page.inputValue("#body-mass"), "400");
  await type(page, "#body-mass", 25);
  await until(page, () => window.moreau.live.description.bodies[1].mass === 25);
  await until(page, () => document.getElementById("body-state").textContent.includes("25"));
  await type(page, "#body-friction", 0.01);
  await until(page, () => window.moreau.live.list.at(-1).pose[7] > 0.1);
  const x = await page.evaluate(() => [...window.moreau.live.list.at(-1).pose].filter((_, i) => i % 7 === 0));
  assert.ok(Math.abs(x[2]) < 1e-3, `the other one still sticks: ${x}`);
  // its weight is what the floor carries now, mass times 9.5
  const force = await page.evaluate(() => {
    const { contacts: c } = window.moreau.live.list.at(-1);
    let sum = 0;
    for (let i = 0; i < c.count; i++) if (c.body[2 * i] === 1 || c.body[2 * i + 1] === 1) sum += Math.abs(c.force[3 * i + 2]);
    return sum;
  });
  assert.ok(Math.abs(force - 25 * 9.5) < 0.5, `the floor carries ${force} N`);
  assert.deepEqual(page.problems, []);
  await page.close();
  await server.stop();
});

test("bodies are removed and added, by the keyboard too, for every browser", async () => {
  const server = await serve(file("slope.yaml"), "--paused");
  const page = await open(server.url + "#shadows=0"), other = await open(server.url + "#shadows=0", { width: 320, height: 320 });
  await page.focus("#canvas");
  await page.keyboard.press("]");
  await page.keyboard.press("]");
  assert.equal(await page.textContent("#body-name"), "left stone");
  await page.keyboard.press("Delete");
  for (const p of [page, other]) await until(p, () => window.moreau.live.description.bodies.length === 2 && window.moreau.models.length === 1);
  assert.deepEqual(await bodies(other), ["floor", "right stone"]);
  assert.equal(await page.isVisible("#body"), false, "what is gone is not chosen");
  await page.evaluate(() => (document.getElementById("add-shape").closest("details").open = true));
  await page.selectOption("#add-shape", "box");
  await page.click("#add");
  for (const p of [page, other]) await until(p, () => window.moreau.live.description.bodies.length === 3 && window.moreau.models[0]?.bodies.length === 3 && window.moreau.live.frames > 0);
  assert.deepEqual(await bodies(page), ["floor", "right stone", "added_1"]);
  await until(page, () => window.moreau.models[0].now);
  const image = await shot(page, "edit");
  assert.ok(image.width > 0);
  await page.click("#play");
  await until(page, () => window.moreau.live.list.at(-1).time > 1 && Math.abs(window.moreau.live.list.at(-1).velocity[6 * 2 + 2]) < 0.2);
  const names = await page.evaluate(() => [...document.getElementById("bodies").options].map((o) => o.text));
  assert.deepEqual(names, ["none", "floor", "right stone", "added_1"]);
  await page.click("#original");
  for (const p of [page, other]) await until(p, () => window.moreau.live.description.bodies.length === 3 && window.moreau.models[0]?.bodies[1]?.name === "left stone");
  for (const p of [page, other]) {
    assert.deepEqual(p.problems, []);
    await p.close();
  }
  await server.stop();
});

test("sliders move joints of robots and of mechanisms", async () => {
  writeFileSync(file("arm.yaml"), `
moreau: 1
gravity: [0, 0, 0]
time: { step: 0.005, end: 100 }
bodies:
  - { name: upper, shape: { box: [1, 0.1, 0.1] }, position: [0.5, 0, 1] }
  - { name: lower, shape: { box: [1, 0.1, 0.1] }, position: [1.5, 0, 1] }
joints:
  - { name: shoulder, type: revolute, bodies: [world, upper], point: [0, 0, 1], axis: [0, 0, 1] }
  - { name: elbow, type: revolute, bodies: [upper, lower], point: [1, 0, 1], axis: [0, 0, 1], limits: [-2, 2] }
`);
  const server = await serve(file("arm.yaml"), "--paused"), page = await open(server.url + "#shadows=0");
  await page.click("#joints-part summary");
  const sliders = page.locator("#sliders input");
  assert.equal(await sliders.count(), 2);
  assert.equal(await sliders.nth(1).getAttribute("max"), "2");
  const set = (k, q) => sliders.nth(k).evaluate((input, q) => {
    input.value = q;
    input.dispatchEvent(new Event("input"));
  }, q);
  // a quarter turn of both: by hand the upper part ends at (0, 0.5), the lower at (-0.5, 1), up to the sense of the turn
  await set(0, Math.PI / 2);
  await until(page, () => Math.abs(window.moreau.live.list.at(-1).pose[0]) < 1e-6);
  await set(1, Math.PI / 2);
  await until(page, () => Math.abs(Math.abs(window.moreau.live.list.at(-1).pose[7]) - 0.5) < 1e-6);
  const p = await page.evaluate(() => [...window.moreau.live.list.at(-1).pose]);
  assert.ok(Math.abs(Math.abs(p[1]) - 0.5) < 1e-6 && Math.abs(Math.abs(p[8]) - 1) < 1e-6, `upper ${p.slice(0, 3)}, lower ${p.slice(7, 10)}`);
  await until(page, () => document.querySelector("#sliders output").textContent.startsWith("1.57"));
  await page.evaluate(() => window.moreau.live.send("joint 1 2.5 elbow"));
  await until(page, () => window.moreau.live.state.note.includes("limits"));
  await page.evaluate(() => window.moreau.live.send("joint 1 0.5 shoulder"));
  await until(page, () => window.moreau.live.state.note.includes("any more"));
  assert.deepEqual(page.problems, []);
  await page.close();
  await server.stop();
});
