// Recordings: the page from disk and from the server.
import assert from "node:assert/strict";
import { at } from "./program.mjs";
import { execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { close, colour, command, file, moreau, open, pixels, place, record, seek, serve, shot } from "./browser.mjs";

// A ball in free fall beside a box that slides: where they are is known in closed form.
const SCENE = `
moreau: 1
name: falling ball
gravity: [0, 0, -10]
time: { step: 0.01, end: 1.0 }
bodies:
  - { name: ball, shape: { sphere: 0.2 }, position: [-1, 0, 6] }
  - { name: box, shape: { box: [0.5, 0.5, 0.5] }, position: [1, 0, 3], velocity: [0, 0, 5] }
  - { name: post, shape: { box: [0.3, 0.3, 6] }, position: [2.5, 0, 3], fixed: true }
`;
// semi-implicit steps: z_n = z_0 + v t - g h^2 n (n + 1)/2
const height = (z, v, n) => z + v * 0.01 * n - (10 * 1e-4 * n * (n + 1)) / 2;

let ball, page;
before(() => {
  writeFileSync(file("ball.yaml"), SCENE);
  ball = record("ball.h5", file("ball.yaml"));
});
after(() => close());

test("a page from disk shows bodies where the recording says", async () => {
  moreau("view", ball, "--html", file("ball.html"));
  page = await open(`file://${file("ball.html")}#theme=dark`);
  for (const n of [0, 40, 80, 100]) {
    await seek(page, n * 0.01);
    const image = await shot(page, `ball-${n}`);
    const now = await place(page, -1, 0, height(6, 0, n)), box = await place(page, 1, 0, height(3, 5, n));
    assert.ok(colour(image.at(now.x, now.y)) > 60, `the ball is at its place in step ${n}`);
    assert.ok(colour(image.at(box.x, box.y)) > 60, `the box is at its place in step ${n}`);
    if (n > 0) {
      const old = await place(page, -1, 0, height(6, 0, n) + 0.6);
      assert.ok(colour(image.at(old.x, old.y)) < 40, `the ball is not where it was in step ${n}`);
    }
  }
  assert.deepEqual(page.problems, []);
});

test("the packed numbers are those of the recording to a few micrometres", async () => {
  const poses = await page.evaluate(() => window.moreau.recordings[0].list.map((f) => [f.step, f.time, ...f.pose.slice(0, 14), ...f.velocity.slice(0, 3)]));
  assert.ok(poses.length >= 51);
  for (const [n, t, x, , z, qw, , , , , , boxZ] of poses) {
    assert.ok(Math.abs(t - n * 0.01) < 1e-9);
    assert.ok(Math.abs(x + 1) < 1e-5 && Math.abs(qw - 1) < 1e-5);
    assert.ok(Math.abs(z - height(6, 0, n)) < 5e-6, `${z} at step ${n}`);
    assert.ok(Math.abs(boxZ - height(3, 5, n)) < 5e-6);
  }
  const v = poses.at(-1).at(-1);
  assert.ok(Math.abs(v + 10) < 2e-3, `${v} m/s after 1 s`);
});

test("a click chooses the body under it, and its state and plots appear", async () => {
  await seek(page, 0);
  const p = await place(page, -1, 0, 6);
  await page.mouse.click(p.x, p.y);
  await page.waitForSelector("#body:not([hidden])");
  assert.equal(await page.textContent("#body-name"), "ball");
  assert.match(await page.textContent("#body-state"), /Position \[m\].?−1, 0, 6/);
  await page.waitForSelector('canvas[aria-label^="Position of ball"]');
  assert.match(await page.getAttribute('canvas[aria-label^="Position of ball"]', "aria-label"), /z: from 0\.9\d+ to 6, at the end 0\.9\d+/);
  await page.click('[data-plot="acceleration"]');
  await page.waitForFunction(() => document.querySelector('canvas[aria-label^="Acceleration of ball"]')?.ariaLabel.match(/az: from −10\.?\d* to −9\.9|az: from −10/));
  assert.deepEqual(page.problems, []);
});

test("a click into a plot goes to that time", async () => {
  const box = await page.locator('canvas[aria-label^="Energy"]').boundingBox();
  await page.mouse.click(box.x + box.width - 8, box.y + box.height / 2);
  const t = await page.evaluate(() => window.moreau.state.t);
  assert.ok(t > 0.97 && t <= 1.0, `at ${t} s`);
});

test("keys play, step and show things", async () => {
  await seek(page, 0);
  await page.focus("#canvas");
  await page.keyboard.press("ArrowRight");
  const step = () => page.evaluate(() => window.moreau.models[0].now.step);
  await page.evaluate(() => window.moreau.settled());
  assert.ok((await step()) >= 1);
  await page.keyboard.press("Space");
  await page.waitForFunction(() => window.moreau.state.t > 0.3);
  await page.keyboard.press("Space");
  assert.equal(await page.getAttribute("#play", "aria-label"), "Play");
  await page.keyboard.press("c");
  assert.equal(await page.isChecked('[data-option="contacts"]'), true);
  await page.keyboard.press("?");
  await page.waitForSelector("#help[open]");
  await page.keyboard.press("Escape");
  await page.keyboard.press("t");
  assert.equal(await page.getAttribute("html", "data-theme"), "light");
  assert.deepEqual(page.problems, []);
});

test("everything that can be pressed has a name and the keyboard reaches it", async () => {
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll("button, input, select, canvas")].filter((e) => !(e.ariaLabel || e.textContent.trim() || e.labels?.length || e.title)).map((e) => e.outerHTML));
  assert.deepEqual(nameless, []);
  const seen = new Set();
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press("Tab");
    seen.add(await page.evaluate(() => document.activeElement.id));
  }
  for (const id of ["open-layers", "theme", "open-help", "canvas", "play", "scrub", "speed"]) assert.ok(seen.has(id), id);
});

test("the clock is whole on a phone", async () => {
  moreau("view", record("phone.h5", "stack"), "--html", file("phone.html"));
  const page = await open(`file://${file("phone.html")}`, { width: 320, height: 640 });
  const [shown, wanted, right] = await page.evaluate(() => {
    const clock = document.querySelector("#clock");
    return [clock.clientWidth, clock.scrollWidth, clock.getBoundingClientRect().right];
  });
  assert.ok(wanted <= shown && right <= 320, `${wanted} of ${shown} pixels, to ${right}`);
  assert.deepEqual(page.problems, []);
});

test("texts have contrast in both themes", async () => {
  for (const theme of ["dark", "light"]) {
    const ratios = await page.evaluate((theme) => {
      document.documentElement.dataset.theme = theme;
      const css = getComputedStyle(document.documentElement), value = (name) => css.getPropertyValue(name).trim();
      const luminance = (hex) => {
        const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const contrast = (a, b) => {
        const [x, y] = [luminance(value(a)), luminance(value(b))].sort((p, q) => q - p);
        return (x + 0.05) / (y + 0.05);
      };
      return [contrast("--text", "--surface"), contrast("--quiet", "--surface"), contrast("--accent", "--surface"), contrast("--on-accent", "--accent")];
    }, theme);
    for (const r of ratios) assert.ok(r >= 4.5, `${theme}: ${ratios}`);
  }
});

test("it fits a phone", async () => {
  const phone = await open(`file://${file("ball.html")}#body=ball`, { width: 360, height: 700 });
  const over = await phone.evaluate(() => [document.documentElement.scrollWidth, [...document.querySelectorAll("button, select, input")].filter((e) => e.offsetParent && !e.closest("#chips") && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.id)]);
  assert.deepEqual(over, [360, []]);
  const canvas = await phone.locator("#canvas").boundingBox();
  assert.ok(canvas.height > 200, `the scene has ${canvas.height} pixels`);
  await shot(phone, "phone");
  assert.deepEqual(phone.problems, []);
  await phone.close();
});

test("a second recording is a ghost, or stands beside the first", async () => {
  const slow = record("slow.h5", file("ball.yaml"), "--set", "gravity=[0,0,-2]");
  moreau("view", ball, slow, "--html", file("two.html"));
  const two = await open(`file://${file("two.html")}#theme=dark`);
  await seek(two, 1);
  let image = await shot(two, "ghost");
  const ghost = await place(two, -1, 0, 6 - 1.01);
  assert.ok(colour(image.at(ghost.x, ghost.y)) > 20, "the ghost is where the second recording says");
  assert.match(await two.textContent("#tiles"), /ghost: /);
  await two.click("#layout");
  await two.evaluate(() => window.moreau.settled());
  image = await shot(two, "side");
  const right = await place(two, -1, 0, 6 - 1.01, 1), left = await place(two, -1, 0, 6 - 5.05, 0), empty = await place(two, -1, 0, 6 - 1.01, 0);
  assert.ok(colour(image.at(right.x, right.y)) > 60 && colour(image.at(left.x, left.y)) > 60);
  assert.ok(colour(image.at(empty.x, empty.y)) < 40);
  assert.equal(await two.locator("#tiles div").count(), 2);
  assert.deepEqual(two.problems, []);
  await two.close();
});

test("contacts and forces are drawn at their place", async () => {
  writeFileSync(file("rest.yaml"), `
moreau: 1
time: { step: 0.01, end: 0.5 }
bodies:
  - { name: floor, shape: plane, fixed: true }
  - { name: ball, shape: { sphere: 0.5 }, position: [0, 0, 0.5] }
`);
  moreau("view", record("rest.h5", file("rest.yaml")), "--html", file("rest.html"));
  const rest = await open(`file://${file("rest.html")}#theme=dark&t=0.4&contacts=1&forces=1`);
  const contact = await rest.evaluate(() => {
    const c = window.moreau.models[0].now.contacts, sign = c.body[0] === 0 ? 1 : -1;
    return { count: c.count, point: [...c.point], force: sign * c.force[2], arrows: window.moreau.models[0].shafts.count };
  });
  assert.equal(contact.count, 1);
  assert.equal(contact.arrows, 1);
  assert.ok(Math.abs(contact.force - 9.81 * 1000 * (4 / 3) * Math.PI * 0.125) < 20, `the floor carries the ball: ${contact.force} N`);
  const p = await place(rest, ...contact.point), image = await shot(rest, "contact");
  const [r, g, b] = image.at(p.x, p.y);
  assert.ok((g > 120 && g > r && g > b) || (r > 180 && g > 120 && b < 120), `green or the arrow's yellow, not ${[r, g, b]}`);
  assert.deepEqual(rest.problems, []);
  await rest.close();
});

test("a picture is the scene at its time", () => {
  moreau("view", ball, "--png", file("ball.png"), "--at", "0.8", "--look", "theme=dark", "--pixels", "400x300");
  const image = pixels(readFileSync(file("ball.png")));
  assert.deepEqual([image.width, image.height], [400, 300]);
  let coloured = 0;
  for (let y = 0; y < 300; y++) for (let x = 0; x < 400; x++) coloured += colour(image.at(x, y)) > 60;
  assert.ok(coloured > 100 && coloured < 20000, `${coloured} coloured pixels`);
  moreau("view", ball, "--png", file("end.png"), "--look", "theme=dark", "--pixels", "400x300");
  moreau("view", ball, "--png", file("start.png"), "--at", "0", "--look", "theme=dark", "--pixels", "400x300");
  assert.ok(!readFileSync(file("end.png")).equals(readFileSync(file("start.png"))), "without --at the end is shown");
  assert.throws(() => execFileSync(command, ["view", ball, "--png", file("none.png")], { env: { PATH: "/nowhere" }, stdio: "pipe" }), (e) => e.status === 3 && /Chromium/.test(e.stderr));
});

test("a planar world has a flat view", async () => {
  moreau("view", record("flat.h5", "flat_discs", "--time", "1"), "--html", file("flat.html"));
  const flat = await open(`file://${file("flat.html")}#theme=dark`);
  const where = await flat.evaluate(() => [...window.moreau.recordings[0].frame(0).pose.slice(7, 10)]); // a disc; its spoke points along x
  const p = await place(flat, where[0], where[1] + 0.09, 0), image = await shot(flat, "flat");
  assert.ok(colour(image.at(p.x, p.y)) > 60);
  assert.equal(await flat.evaluate(() => window.moreau.stage.camera.isOrthographicCamera), true);
  assert.deepEqual(flat.problems, []);
  await flat.close();
});

test("names that look like markup stay names", async () => {
  const hostile = '<img src=x onerror=alert(1)></script><script>alert(2)</script>';
  writeFileSync(file("hostile.yaml"), SCENE.replace("name: falling ball", `name: '${hostile}'`).replace("name: ball", `name: '${hostile}'`));
  const path = record("hostile.h5", file("hostile.yaml"));
  moreau("view", path, "--html", file("hostile.html"));
  assert.ok(!readFileSync(file("hostile.html"), "utf8").includes("alert("));
  const server = await serve(path);
  for (const url of [`file://${file("hostile.html")}`, server.url]) {
    const bad = await open(url);
    await bad.evaluate(() => window.moreau.choose(0));
    await bad.waitForTimeout(200);
    assert.equal(await bad.textContent("#title"), hostile);
    assert.equal(await bad.textContent("#body-name"), hostile.slice(0, 63));
    assert.equal(await bad.locator("img").count(), 0);
    assert.deepEqual(bad.problems, []);
    await bad.close();
  }
  await server.stop();
});

test("the server gives recordings by ranges and nothing else", async () => {
  const server = await serve(ball);
  assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{32}$/);
  const remote = await open(server.url + "#theme=dark");
  await seek(remote, 0.8);
  const image = await shot(remote, "served"), now = await place(remote, -1, 0, height(6, 0, 80));
  assert.ok(colour(image.at(now.x, now.y)) > 60);
  assert.deepEqual(remote.problems, []);
  await remote.close();
  const page = await fetch(server.url);
  assert.match(page.headers.get("content-security-policy"), /default-src 'none'.*frame-ancestors 'none'/);
  assert.equal((await fetch(server.url.split("?")[0])).status, 403); // other users of this machine
  for (const path of ["etc/passwd", "..%2f..%2fetc%2fpasswd", "api/1/series", "api/0/nothing", "viewer.html", "api/0/"]) {
    const answer = await fetch(at(server.url, path));
    assert.equal(answer.status, 404, path);
  }
  for (const path of ["api/0/frames", "api/0/frames?first=0&count=999999999", "api/0/frames?first=99999999999&count=1", "api/0/frames?first=x&count=1", "api/0/body?number=-1"]) {
    assert.equal((await fetch(at(server.url, path))).status, 400, path);
  }
  assert.equal((await fetch(server.url, { method: "POST", body: "x" })).status, 405);
  await server.stop();
});

test("a websocket to a server of recordings is refused and harms nothing", async () => {
  const server = await serve(ball), { hostname, port } = new URL(server.url);
  for (const protocol of [{ "Sec-WebSocket-Protocol": "moreau-live" }, {}]) {
    const status = await new Promise((resolve) => {
      request({ hostname, port, path: "/live", headers: { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version": "13", ...protocol } },
        (r) => (r.resume(), resolve(r.statusCode))).on("upgrade", () => resolve(101)).on("error", () => resolve(0)).end();
    });
    assert.notEqual(status, 101);
    assert.equal((await fetch(at(server.url, "api/info"))).status, 200);
  }
  await server.stop();
});

test("every scene has its picture in the gallery", () => {
  execFileSync(new URL("../../scripts/make-gallery", import.meta.url).pathname, ["--check"], { stdio: ["ignore", "inherit", "inherit"] });
});

test("ten seconds of a hundred bodies are below 3 MB", async () => {
  writeFileSync(file("many.yaml"), `
moreau: 1
time: { step: 0.01, end: 10 }
seed: 1
method: { formulation: st, solver: { name: pgs, tol: 1.0e-4 } }
bodies:
  - { name: floor, shape: plane, fixed: true }
  - { name: ball, shape: { sphere: 0.2 }, grid: { count: [5, 5, 4], spacing: [0.45, 0.45, 0.45], origin: [0, 0, 0.5] }, random: { position: 0.05 } }
`);
  const out = moreau("view", record("many.h5", file("many.yaml")), "--html", file("many.html"));
  assert.ok(statSync(file("many.html")).size < 3e6, out);
  const many = await open(`file://${file("many.html")}#t=5`);
  assert.equal(await many.evaluate(() => window.moreau.recordings[0].description.bodies.length), 101);
  await shot(many, "many");
  assert.deepEqual(many.problems, []);
  await many.close();
});

test("a long recording scrubs without being loaded whole", async () => {
  const path = record("long.h5", file("ball.yaml"), "--steps", "100000", "--set", "gravity=[0,0,0]", "--set", "bodies.box.velocity=[0,0,0.001]");
  const server = await serve(path), long = await open(server.url);
  let bytes = 0;
  long.on("response", async (r) => (bytes += Number(r.headers()["content-length"] ?? 0)));
  for (const t of [100, 500, 900, 333, 999.99]) {
    await seek(long, t);
    assert.ok(Math.abs((await long.evaluate(() => window.moreau.models[0].now.time)) - t) < 0.02, `at ${t} s`);
  }
  assert.equal(await long.evaluate(() => window.moreau.recordings[0].frames), 100001);
  assert.ok(bytes < 2e6, `${bytes} bytes for five places of 100001 frames`);
  assert.deepEqual(long.problems, []);
  await long.close();
  await server.stop();
});

test("plots of a body show its sensitivity band", async () => {
  // z = z_0 + v t - g h^2 n (n + 1)/2: gravity off by 0.5 moves the ball by 0.5 h^2 n (n + 1)/2 and its velocity by 0.5 t
  moreau("view", ball, "--band", "gravity:z=0.5", "--html", file("band.html"));
  const banded = await open(`file://${file("band.html")}#theme=light&body=ball`);
  const label = (name) => banded.getAttribute(`canvas[aria-label^="${name} of ball"]`, "aria-label");
  for (const key of ["position", "velocity"]) {
    const chip = banded.locator(`[data-plot="${key}"]`);
    if ((await chip.getAttribute("aria-pressed")) !== "true") await chip.click();
  }
  await banded.waitForSelector('canvas[aria-label^="Velocity of ball"]');
  await banded.waitForFunction(() => document.querySelector('canvas[aria-label^="Position of ball"]')?.ariaLabel.includes("give or take"));
  assert.match(await label("Position"), /z: from .* at the end .* give or take 0\.252/);
  assert.match(await label("Position"), /x: from .* give or take 0[;,. ]/);
  assert.match(await label("Velocity"), /vz: from .* give or take 0\.5/);
  assert.match(await label("Position"), /gravity:z off by 0\.5/);
  await seek(banded, 1.0);
  assert.match(await banded.textContent("#figures"), /\u00b1 0\.25/);
  await shot(banded, "band");
  assert.deepEqual(banded.problems, []);
});
