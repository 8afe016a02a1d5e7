// A scene that runs while browsers watch and command it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { close, colour, file, open, place, serve, shot } from "./browser.mjs";

after(() => close());

const state = (page) => page.evaluate(() => ({ ...window.moreau.live.state, step: window.moreau.live.list.at(-1)?.step, frames: window.moreau.live.frames }));
const until = (page, f, arg) => page.waitForFunction(f, arg, { timeout: 120000 });

test("a scene runs, pauses, steps, resets and changes its method", async () => {
  const server = await serve("bounce"), page = await open(server.url + "#theme=dark");
  await until(page, () => window.moreau.live.list.at(-1).step > 100);
  await page.click("#play");
  await until(page, () => window.moreau.live.state.running === false);
  await page.waitForTimeout(150);
  const paused = (await state(page)).step;
  await page.waitForTimeout(300);
  assert.equal((await state(page)).step, paused, "nothing moves while it is paused");
  await page.click("#forward");
  await until(page, (n) => window.moreau.live.list.at(-1).step > n, paused);
  const stepped = (await state(page)).step;
  await page.click("#forward");
  await until(page, (n) => window.moreau.live.list.at(-1).step === n + 1, stepped);

  const image = await shot(page, "live");
  const [x, y, z] = await page.evaluate(() => [...window.moreau.models[0].pose.slice(14, 17)]); // a panel may hide the first ball, the last two fly
  const p = await place(page, x, y, z);
  assert.ok(colour(image.at(p.x, p.y)) > 50, "a ball is where the stream says");

  await page.selectOption("#formulation", "ap");
  await page.selectOption("#solver", "pgs");
  await until(page, () => window.moreau.live.state.formulation === "ap" && window.moreau.live.state.solver === "pgs");
  await page.fill("#gravity", "1.62");
  await page.press("#gravity", "Enter");
  await until(page, () => window.moreau.live.state.gravity === 1.62);
  await page.click("#reset");
  await until(page, () => window.moreau.live.list.length === 1 && window.moreau.live.list[0].step === 0);
  assert.equal((await state(page)).formulation, "ap", "a reset keeps what was chosen");
  await page.click("#play");
  await until(page, () => window.moreau.live.list.at(-1).step > 20);
  assert.deepEqual(page.problems, []);
  await page.close();
  await server.stop();
});

test("a body can be pulled", async () => {
  writeFileSync(file("free.yaml"), `
moreau: 1
gravity: [0, 0, 0]
time: { step: 0.005, end: 10 }
bodies:
  - { name: stone, shape: { box: [1, 1, 1] }, position: [0, 0, 0] }
`);
  const server = await serve(file("free.yaml")), page = await open(server.url);
  const p = await place(page, 0, 0, 0);
  await page.keyboard.down("Shift");
  await page.mouse.move(p.x, p.y);
  await page.mouse.down();
  await page.mouse.move(p.x + 120, p.y, { steps: 5 });
  await until(page, () => Math.hypot(...window.moreau.live.list.at(-1).pose.slice(0, 3)) > 0.3);
  await page.mouse.up();
  await page.keyboard.up("Shift");
  assert.deepEqual(page.problems, []);
  await page.close();
  await server.stop();
});

test("friction can be changed, and the keyboard can pull a body", async () => {
  writeFileSync(file("slope.yaml"), `
moreau: 1
gravity: [3, 0, -9.5]
time: { step: 0.005, end: 100 }
materials: { rough: { friction: 0.9 } }
bodies:
  - { name: floor, shape: plane, material: rough, fixed: true }
  - { name: stone, shape: { box: [1, 1, 0.4] }, material: rough, position: [0, 0, 0.2] }
`);
  const server = await serve(file("slope.yaml")), page = await open(server.url + "#shadows=0", { width: 360, height: 640 });
  const x = () => page.evaluate(() => window.moreau.live.list.at(-1).pose[7]);
  await until(page, () => window.moreau.live.list.at(-1).step > 60);
  assert.ok(Math.abs(await x()) < 1e-3, "it sticks");
  assert.equal(await page.isVisible("#live"), false, "a phone shows the scene first");
  await page.click("#open-live");
  await page.fill("#friction", "0.05");
  await page.press("#friction", "Enter");
  await until(page, () => window.moreau.live.list.at(-1).pose[7] > 0.05);
  await page.focus("#canvas");
  await page.keyboard.press("]");
  await page.keyboard.press("]");
  await page.waitForFunction(() => document.getElementById("body-name").textContent === "stone");
  await page.keyboard.press("u");
  await until(page, () => window.moreau.live.list.some((f) => f.pose[9] > 0.25));
  assert.deepEqual(page.problems, []);
  await page.close();
  await server.stop();
});

test("several browsers see the same simulation", async () => {
  const server = await serve("bounce"), small = { width: 320, height: 320 };
  const pages = [];
  for (let i = 0; i < 3; i++) pages.push(await open(server.url + "#shadows=0", small));
  await until(pages[0], () => window.moreau.live.state.clients === 3);
  await pages[1].click("#play");
  for (const page of pages) await until(page, () => window.moreau.live.state.running === false);
  await pages[0].waitForTimeout(300);
  const steps = await Promise.all(pages.map(async (p) => (await state(p)).step));
  assert.equal(new Set(steps).size, 1, `steps ${steps}`);
  for (const page of pages) {
    assert.deepEqual(page.problems, []);
    await page.close();
  }
  await server.stop();
});

test("strangers get nothing", async () => {
  const server = await serve("bounce"), { port, hostname, search } = new URL(server.url);
  const { request } = await import("node:http");
  const status = (headers, path = `/${search}`) => new Promise((resolve) => {
    request({ hostname, port, path, headers }, (r) => (r.resume(), resolve(r.statusCode))).on("upgrade", () => resolve(101)).on("error", () => resolve(0)).end();
  });
  assert.equal(await status({ Host: "evil.example" }), 403);
  const upgrade = { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Protocol": "moreau-live" };
  assert.equal(await status({ ...upgrade, Host: `127.0.0.1:${port}`, Origin: `http://127.0.0.1:${port}` }, `/live${search}`), 101);
  assert.notEqual(await status({ ...upgrade, Host: `127.0.0.1:${port}`, Origin: `http://127.0.0.1:${port}` }, "/live"), 101); // no token
  assert.notEqual(await status({ ...upgrade, Host: `127.0.0.1:${port}`, Origin: "http://evil.example" }, `/live${search}`), 101);
  assert.notEqual(await status({ ...upgrade, Host: "evil.example" }, `/live${search}`), 101);
  await server.stop();

  const open_ = await serve("bounce", "--listen", "127.0.0.2");
  const url = new URL(open_.url);
  assert.match(url.searchParams.get("token"), /^[0-9a-f]{32}$/);
  assert.equal((await fetch(url)).status, 200);
  assert.equal((await fetch(`http://${url.host}/`)).status, 403);
  assert.equal((await fetch(`http://${url.host}/?token=0123`)).status, 403);
  const page = await open(open_.url);
  await until(page, () => window.moreau.live.list.at(-1).step > 10);
  assert.deepEqual(page.problems, []);
  await page.close();
  await open_.stop();
});

test("words that are no commands do nothing", async () => {
  const server = await serve("bounce", "--paused"), page = await open(server.url + "#shadows=0");
  await page.evaluate(() => {
    for (const text of ["", "run\0", "drag 0", "drag 99999999 0 0 0 0 0 0", "drag 1 nan 0 0 inf 0 0", "gravity nan", "gravity 1e300", "friction -1", "speed 0", "solver", "solver " + "x".repeat(200), "%s%n%s%n", "x".repeat(900), "\u{1f4a9}"]) window.moreau.live.send(text);
    window.moreau.live.send("solver nothing");
  });
  await until(page, () => window.moreau.live.state.note.includes("nothing"));
  const now = await state(page);
  assert.equal(now.step, 0);
  assert.equal(now.gravity, 9.81);
  await page.click("#forward");
  await until(page, () => window.moreau.live.list.at(-1).step === 1);
  assert.deepEqual(page.problems, []);
  await page.close();
  await server.stop();
});
