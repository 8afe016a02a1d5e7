// The report of `moreau compare`: it renders, sorts, filters and prints, and loads nothing.
import assert from "node:assert/strict";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { close, file, launch, moreau } from "./browser.mjs";

let page, problems = [], asked = [];
before(async () => {
  moreau("dataset", "build", "-o", file("problems"), "--family", "box-stack,mass-ratio,ring");
  moreau("compare", file("problems"), "s4_slide_45", "--formulations", "ncp,st,convex", "--solvers", "nsgs,nsn-tree,lemke,pgs,apgd,convex-newton,auto",
    "--frames", "1", "--time-limit", "1", "--out", file("report.html"), "--quiet");
  page = await (await launch()).newPage({ viewport: { width: 1280, height: 900 } });
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && problems.push(m.text()));
  page.on("pageerror", (e) => problems.push(e.message));
  page.on("request", (r) => asked.push(r.url()));
  await page.goto(`file://${file("report.html")}`);
});
after(() => close());

// Pictures stay when a folder is given: MOREAU_PICTURES=dir make test-browser
async function picture(name, options = {}) {
  const folder = process.env.MOREAU_PICTURES ?? file("pictures");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `report-${name}.png`);
  await page.screenshot({ path, ...options });
  return statSync(path).size;
}

const column = (table, index) => page.$$eval(`${table} tbody tr`, (rows, i) => rows.map((r) => r.cells[i].dataset.v !== undefined ? +r.cells[i].dataset.v : r.cells[i].textContent), index);
const ascending = (v) => v.every((x, i) => i === 0 || v[i - 1] <= x);
const descending = (v) => v.every((x, i) => i === 0 || v[i - 1] >= x);

test("the report renders without errors and asks for nothing", async () => {
  assert.deepEqual(problems, []);
  assert.deepEqual(asked.filter((u) => !u.startsWith("file:") && !u.startsWith("data:")), []);
  assert.equal(asked.length, 1);
  for (const id of ["glance", "formulations", "scenes", "problems", "runs", "rules"]) assert.ok(await page.$(`#${id}`), `the section ${id} is there`);
  assert.ok(await picture("top") > 30000);
});

test("curves lie inside their charts and no text runs out of the page", async () => {
  const bad = await page.evaluate(() => {
    const out = [];
    for (const svg of document.querySelectorAll("svg.chart")) {
      const frame = svg.getBoundingClientRect();
      for (const e of svg.querySelectorAll("path, circle, text")) {
        const r = e.getBoundingClientRect();
        if (r.width + r.height === 0) continue;
        if (r.left < frame.left - 2 || r.right > frame.right + 2 || r.top < frame.top - 2 || r.bottom > frame.bottom + 2) out.push(`${svg.querySelector(".title")?.textContent}: ${e.tagName} ${e.textContent}`);
      }
      if (/NaN|Infinity|inf/.test(svg.innerHTML)) out.push("numbers that are none");
    }
    if (document.documentElement.scrollWidth > innerWidth + 1) out.push(`the page is ${document.documentElement.scrollWidth} wide`);
    return out;
  });
  assert.deepEqual(bad, []);
  assert.ok(await page.$$eval("svg.chart", (all) => all.length) > 15);
});

test("tables sort up and down by a click on their head", async () => {
  await page.$eval("#problems", (e) => e.scrollIntoView());
  const table = "#problems ~ .tall table.sort", head = page.locator(`${table} th`).nth(5);
  await head.click();
  const up = await column(table, 5);
  assert.ok(up.length > 8 && new Set(up).size > 3 && ascending(up), "rows ascend");
  await head.click();
  assert.ok(descending(await column(table, 5)), "rows descend");
  assert.match(await head.getAttribute("class"), /down/);
});

test("the table of runs filters by words and sorts", async () => {
  const count = () => page.$$eval("#runs-table tbody tr", (rows) => rows.length);
  const all = await count();
  await page.fill("#filter", "mass-ratio lemke 1e-8");
  const few = await count();
  assert.ok(few > 0 && few < all);
  assert.ok((await page.$$eval("#runs-table tbody tr", (rows) => rows.map((r) => r.textContent))).every((t) => t.includes("mass-ratio") && t.includes("lemke")));
  assert.match(await page.textContent("#count"), new RegExp(`^${few} of `));
  await page.fill("#filter", "no such thing");
  assert.equal(await count(), 0);
  await page.fill("#filter", "");
  await page.locator("#runs-table th").nth(5).click();
  assert.ok(ascending(await page.$$eval("#runs-table tbody tr", (rows) => rows.map((r) => +r.cells[5].textContent))));
  await page.$eval("#runs", (e) => e.scrollIntoView());
  assert.ok(await picture("runs") > 20000);
});

test("a legend entry highlights its curve", async () => {
  const key = page.locator("svg.chart .key").first();
  await key.scrollIntoViewIfNeeded();
  await key.hover();
  assert.ok(await page.$("svg.chart.pick .s.on"));
  await page.mouse.move(2, 2);
  assert.equal(await page.$("svg.chart.pick"), null);
});

test("it prints, with nothing cut off", async () => {
  await page.emulateMedia({ media: "print" });
  const hidden = await page.evaluate(() => ({
    nav: getComputedStyle(document.querySelector("nav")).display,
    tall: [...document.querySelectorAll(".tall")].map((e) => e.scrollHeight - e.clientHeight),
  }));
  assert.equal(hidden.nav, "none");
  assert.ok(hidden.tall.every((d) => d <= 1), "scrolling boxes are open");
  const pdf = await page.pdf({ format: "A4" });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  assert.ok(pdf.length > 50000);
  await page.emulateMedia({ media: "screen" });
});

test("it can be read on a narrow screen", async () => {
  await page.setViewportSize({ width: 420, height: 800 });
  await page.evaluate(() => scrollTo(0, 0));
  assert.ok(await picture("narrow") > 10000);
  await page.setViewportSize({ width: 1280, height: 900 });
  assert.deepEqual(problems, []);
});
