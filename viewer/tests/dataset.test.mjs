// The pages of the database: `moreau dataset serve` in a browser, its index, links and downloads.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { blank, children, close, command, file, moreau } from "./browser.mjs";

let page, url, server, problems = [];
before(async () => {
  moreau("dataset", "build", "-o", file("database"), "--family", "box-stack,ring");
  server = spawn(command, ["dataset", "serve", file("database")], { stdio: ["ignore", "pipe", "ignore"] });
  children.add(server);
  url = await new Promise((resolve, reject) => {
    let out = "";
    server.stdout.on("data", (data) => (out += data).includes("\n") && resolve(out.trim()));
    server.on("exit", (status) => reject(new Error(`ended with ${status}`)));
  });
  page = await blank();
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && problems.push(m.text()));
  page.on("pageerror", (e) => problems.push(e.message));
  await page.goto(url);
});
after(() => close());

async function picture(name) {
  const folder = process.env.MOREAU_PICTURES ?? file("pictures");
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `dataset-${name}.png`) });
}

test("an index of families leads to problems with picture, size, rank, condition and provenance", async () => {
  assert.deepEqual(await page.$$eval("#families tbody tr td:first-child", (all) => all.map((e) => e.textContent)), ["box-stack", "ring"]);
  await picture("light");
  await page.click("#families a[href^='#f']:last-of-type");
  assert.match(page.url(), /#f\d+$/);
  const rows = await page.$$eval("table.sort:not(#families) tbody tr", (all) => all.map((r) => ({ picture: !!r.querySelector("svg[aria-label]"), cells: [...r.cells].map((c) => c.textContent) })));
  assert.ok(rows.length >= 18 && rows.every((r) => r.picture && +r.cells[3] > 0 && +r.cells[7] > 0 && r.cells[8] !== ""));
  assert.match(await page.textContent("body"), /licence MIT.*command moreau dataset build/s);
});

test("tables sort by key and mouse, nothing runs out of the page, dark and narrow", async () => {
  const head = page.locator("#families th").nth(3);
  await head.focus();
  await page.keyboard.press("Enter");
  assert.match(await head.getAttribute("class"), /up/);
  await page.emulateMedia({ colorScheme: "dark" });
  await picture("dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 420, height: 800 });
  await picture("narrow");
  await page.setViewportSize({ width: 1280, height: 900 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1));
});

test("every form can be taken away, and nothing else", async () => {
  const links = await page.$$eval("a[href^='files/']", (all) => all.map((a) => a.href));
  for (const end of [".h5", ".hdf5", ".dat", ".m"]) {
    const answer = await fetch(links.find((l) => l.endsWith(end)));
    assert.equal(answer.status, 200);
    const bytes = Buffer.from(await answer.arrayBuffer());
    assert.ok(bytes.length > 100);
    if (end === ".h5") assert.deepEqual(bytes, readFileSync(join(file("database"), links.find((l) => l.endsWith(end)).split("/").pop())));
  }
  for (const path of ["files/../../../../etc/passwd", "files/none.h5", "files/", "%2e%2e/secret"]) assert.equal((await fetch(url + path)).status, 404);
  assert.equal((await fetch(new URL(url).origin + "/index.html")).status, 404); // without the token
  assert.equal((await fetch(url, { method: "POST", body: "x" })).status, 405);
});

test("it ends at once, and leaves nothing behind", async () => {
  const ended = new Promise((resolve) => server.on("exit", (status) => resolve(status)));
  server.kill("SIGINT");
  assert.equal(await ended, 0);
  assert.deepEqual(problems, []);
});
