// The documentation site (`make site`): opens from disk, all links lead somewhere, the search finds pages without a server.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { blank, close, file } from "./browser.mjs";

let page, problems = [], asked = [];
const at = (path) => `file://${file("site")}/${path}`;
before(async () => {
  execFileSync(fileURLToPath(new URL("../../scripts/make-site", import.meta.url)), [file("site")], { stdio: "pipe" });
  page = await blank();
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && problems.push(m.text()));
  page.on("pageerror", (e) => problems.push(e.message));
  page.on("request", (r) => asked.push(r.url()));
  await page.goto(at("index.html"));
});
after(() => close());

test("the gallery is the first page, with whole pictures and captions", async () => {
  assert.equal(await page.textContent("h1"), "Gallery");
  const cards = await page.$$eval(".cards li", (all) => all.map((c) => [c.querySelector("img").naturalWidth, c.textContent.trim()]));
  assert.ok(cards.length >= 70, `${cards.length} cards`);
  await page.evaluate(() => Promise.all([...document.images].map((i) => i.complete || new Promise((r) => (i.onload = i.onerror = r)))));
  assert.equal(await page.$$eval(".cards img", (all) => all.filter((i) => i.naturalWidth === 0).length), 0);
  for (const [, caption] of cards) assert.ok(!/\(Fig$|, \.$/.test(caption) && caption.length > 10, caption);
});

test("every link of every page leads to a file", async () => {
  const pages = await page.evaluate(() => window.PAGES.map((p) => p.path));
  assert.ok(pages.length > 50);
  for (const path of pages) {
    await page.goto(at(path));
    const links = await page.$$eval("main a[href], nav a[href], img[src], link[href], script[src]", (all) => all.map((a) => a.href || a.src));
    for (const link of links.filter((l) => l.startsWith("file:"))) assert.ok(existsSync(fileURLToPath(link.split("#")[0])), `${path}: ${link}`);
  }
});

test("the search finds, by keyboard, from any page", async () => {
  await page.goto(at("docs/solvers/lemke.html"));
  await page.keyboard.press("/");
  await page.keyboard.type("self_collision");
  const found = await page.$$eval("#found a", (all) => all.map((a) => a.textContent));
  assert.ok(found.some((t) => t.startsWith("The scene file")), found.join(", "));
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForLoadState();
  assert.ok(page.url().includes("/site/"));
  await page.fill("#search", "zzzyx");
  assert.equal(await page.textContent("#found"), "nothing found");
});

test("text is readable in light and dark, narrow and wide", async () => {
  const contrast = () => page.evaluate(() => {
    const light = (c) => c.match(/[\d.]+/g).slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    const L = (c) => { const [r, g, b] = light(c); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const ratio = (a, b) => (Math.max(L(a), L(b)) + 0.05) / (Math.min(L(a), L(b)) + 0.05);
    const paper = getComputedStyle(document.body).backgroundColor;
    return [...document.querySelectorAll("h1, p, a, nav h2")].map((e) => ratio(getComputedStyle(e).color, paper));
  });
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.goto(at("docs/scene.html"));
    assert.ok(Math.min(...(await contrast())) >= 4.5, colorScheme);
  }
  await page.setViewportSize({ width: 380, height: 800 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 380), "no sideways scrolling on a phone");
});

test("nothing is loaded from elsewhere, nothing is wrong in the console", () => {
  assert.deepEqual(asked.filter((u) => !u.startsWith("file:")), []);
  assert.deepEqual(problems, []);
});
