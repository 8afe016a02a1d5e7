// The camera at first: every vertex of what moves, and every joint that is drawn, lies inside its pane.
// MOREAU_LONG=1: all scenes that came with the program and all robots of ../shared.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { close, file, moreau, open, record, shot } from "./browser.mjs";

after(close);
const ROBOTS = new URL("../../../shared/data/robots", import.meta.url).pathname;
const LONG = Boolean(process.env.MOREAU_LONG);

// What lies outside of its pane, by the vertices that are drawn: [["body 3 of pane 0", how far in panes], ...]. `room`:
// how much of the larger side of a pane the scene takes.
const outside = (page) =>
  page.evaluate(() => {
    const { models, stage } = window.moreau, found = new Map(), { width, height } = stage.tileSize(), { columns } = stage.tiles();
    let taken = 0;
    const look = (name, tile, x, y, z) => {
      const p = stage.project(x, y, z, tile), u = (p.x - (tile % columns) * width) / width, v = (p.y - Math.floor(tile / columns) * height) / height;
      const by = Math.max(-u, u - 1, -v, v - 1);
      taken = Math.max(taken, Math.abs(2 * u - 1), Math.abs(2 * v - 1));
      if (!(by <= 0) && !(by <= (found.get(name) ?? 0))) found.set(name, by);
    };
    models.forEach((m, k) => {
      const tile = stage.side ? k : 0;
      const mesh = (name, geometry, matrix) => {
        const at = geometry.attributes.position, p = stage.controls.target.clone(), every = Math.max(1, Math.floor(at.count / 3000));
        for (let i = 0; i < at.count; i += every) {
          p.fromBufferAttribute(at, i).applyMatrix4(matrix);
          look(name, tile, p.x, p.y, p.z);
        }
      };
      for (const b of m.batches) {
        if (b.plane || b.fixed || !b.mesh.visible || b.shape.kind === "custom") continue;
        b.items.forEach((item, i) => {
          const matrix = b.mesh.matrixWorld.clone();
          b.mesh.getMatrixAt(i, matrix);
          if (item.body >= 0 && matrix.elements[0] === matrix.elements[0]) mesh(m.bodies[item.body].name, b.made.geometry, matrix);
        });
      }
      for (const { joint, group } of m.joints ?? []) if (group.visible) for (const part of group.children) mesh(`joint ${joint.name}`, part.geometry, group.matrix);
    });
    return { found: [...found].sort((a, b) => b[1] - a[1]).slice(0, 5), taken };
  });

async function check(name, pages, sizes, looks = [""]) {
  for (const [width, height] of sizes)
    for (const look of looks) {
      const page = await open(`file://${file(pages)}#t=0${look}`, { width, height });
      const { found, taken } = await outside(page);
      assert.deepEqual(found, [], `${name} at ${width} x ${height}${look}`);
      assert.ok(taken < 1, `${name} touches the edge`);
      await shot(page, `fit-${name}-${width}${look.replace(/[^a-z0-9]+/g, "-")}`);
      assert.deepEqual(page.problems, []);
      await page.close();
    }
}
const WIDE = [1000, 700], NARROW = [390, 780], LOW = [1000, 360];

const few = [
  ["stack", [WIDE, NARROW, LOW]],
  ["four_bar", [WIDE, NARROW], ["", "&joints=1"]],
  ["flat_discs", [WIDE, NARROW]],
  ["bounce", [NARROW], ["&view=x", "&view=z"]],
];
for (const [scene, sizes, looks] of few)
  test(`${scene} is whole in its pane`, async () => {
    moreau("view", scene, "--time", "0.2", "--html", file("fit.html"));
    await check(scene, "fit.html", sizes, looks);
  });

test("a picture of a later time has all that moves at that time", async () => {
  moreau("view", "cart", "--time", "3", "--html", file("fit.html"));
  const page = await open(`file://${file("fit.html")}#t=1.5`, { width: 480, height: 520 });
  assert.deepEqual((await outside(page)).found, []);
  await page.close();
});

test("four panes show the whole scene each, also after the window has become narrow", async () => {
  const runs = ["st", "ap", "ncp", "mncp"].map((f) => record(`fit-${f}.h5`, "four_bar", "--time", "0.1", "--set", `method.formulation.name=${f}`));
  moreau("view", ...runs, "--html", file("fit.html"));
  const page = await open(`file://${file("fit.html")}#t=0&layout=side&joints=1`, { width: 1200, height: 800 });
  assert.deepEqual((await outside(page)).found, []);
  const before = (await outside(page)).taken;
  await page.setViewportSize({ width: 420, height: 800 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  assert.deepEqual((await outside(page)).found, []);
  await shot(page, "fit-four-panes-narrow");
  // moved by hand, the camera stays where it is
  await page.evaluate(() => window.moreau.stage.zoom(3));
  await page.setViewportSize({ width: 1200, height: 800 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  assert.ok((await outside(page)).taken > 1.5 * before);
  await page.close();
});

const robots = existsSync(ROBOTS) ? readdirSync(ROBOTS, { recursive: true }).filter((f) => /\.(urdf|sdf|xml)$/.test(f)) : [];
const wanted = robots.filter((f) => LONG || /^cassie/.test(f));
test("robots are whole, with the joints at their top", { skip: wanted.length ? false : "../shared/data/robots is missing" }, async () => {
  let seen = 0;
  for (const robot of wanted) {
    try {
      moreau("view", join(ROBOTS, robot), "--time", "0.02", "--html", file("fit.html"));
    } catch {
      continue; // not a model by itself: a part that others include
    }
    seen++;
    await check(robot.replace(/[^a-z0-9_]+/gi, "-"), "fit.html", [WIDE, NARROW], ["", "&joints=1"]);
  }
  assert.ok(seen > 0);
});

test("all scenes that came with the program", { skip: LONG ? false : "MOREAU_LONG=1 shows them all" }, async () => {
  for (const scene of moreau("list", "scenes", "--names").trim().split("\n")) {
    record("fit.h5", scene, "--steps", "2", "--time-limit", "20");
    moreau("view", file("fit.h5"), "--html", file("fit.html"));
    await check(scene, "fit.html", [WIDE, NARROW]);
  }
});
