// What the tests share: the program, a browser, and pixels.
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { chromium } from "playwright-core";
import { children } from "./program.mjs";

export * from "./program.mjs";

let browser;
export async function launch() {
  browser ??= await chromium.launch({
    executablePath: process.env.MOREAU_CHROMIUM || "/usr/bin/chromium",
    args: [
      "--headless", "--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic",
      "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    ],
  });
  return browser;
}
export async function close() {
  await browser?.close();
  for (const child of children) child.kill("SIGKILL"); // of tests that failed
}

// An empty page. A loaded machine is slow, not wrong: it is waited for.
export async function blank(viewport = { width: 1280, height: 900 }, options = {}) {
  const page = await (await launch()).newPage({ viewport, ...options });
  page.setDefaultTimeout(120000);
  return page;
}
// Whether others have the processors, so that times say nothing.
export const busy = () => loadavg()[0] > 2 * availableParallelism();

// What was asked for is drawn by the next frame of the browser, which may be late: this waits for it. A page that waits for a
// server is not waited for longer than half a minute.
const drawn = (page) =>
  page.evaluate(() => window.moreau?.settled && Promise.race([window.moreau.settled(), new Promise((resolve) => setTimeout(resolve, 30000))]));

// A page that fails the test on any error of its own: page.problems must stay empty. What it says is read once it is drawn.
export async function open(url, { width = 800, height = 640, ...options } = {}) {
  const page = await blank({ width, height }, options);
  page.problems = [];
  page.on("console", (m) => {
    if (m.type() === "error" || (m.type() === "warning" && !m.text().includes("GL Driver Message"))) page.problems.push(m.text());
  });
  page.on("pageerror", (e) => page.problems.push(e.message));
  page.on("dialog", (d) => {
    page.problems.push("dialog: " + d.message());
    d.dismiss();
  });
  await page.goto(url);
  await page.waitForFunction(() => document.body.dataset.ready);
  if ((await page.evaluate(() => document.body.dataset.ready)) !== "1") throw new Error("not ready: " + (await page.textContent("#message")));
  await drawn(page);
  for (const ask of ["textContent", "isVisible", "inputValue"]) {
    const read = page[ask].bind(page);
    page[ask] = async (...what) => {
      await drawn(page);
      return read(...what);
    };
  }
  return page;
}

export async function seek(page, t) {
  await page.evaluate((t) => {
    window.moreau.seek(t);
    return window.moreau.settled();
  }, t);
}

// A PNG of Chromium (8 bits, no interlace) as { width, height, at(x, y) -> [r, g, b] }.
export function pixels(png) {
  let at = 8, width, height, channels, data = [];
  while (at < png.length) {
    const length = png.readUInt32BE(at), type = png.toString("latin1", at + 4, at + 8), body = png.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") [width, height, channels] = [body.readUInt32BE(0), body.readUInt32BE(4), body[9] === 6 ? 4 : 3];
    if (type === "IDAT") data.push(body);
    at += 12 + length;
  }
  const raw = inflateSync(Buffer.concat(data)), stride = width * channels, out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const a = x >= channels ? out[y * stride + x - channels] : 0, b = y ? out[(y - 1) * stride + x] : 0, c = x >= channels && y ? out[(y - 1) * stride + x - channels] : 0;
      const p = a + b - c, pa = Math.abs(p - a), pb = Math.abs(p - b), pc = Math.abs(p - c);
      const predicted = [0, a, b, (a + b) >> 1, pa <= pb && pa <= pc ? a : pb <= pc ? b : c][filter];
      out[y * stride + x] = (raw[y * (stride + 1) + 1 + x] + predicted) & 255;
    }
  }
  return { width, height, at: (x, y) => [...out.subarray((Math.round(y) * width + Math.round(x)) * channels).subarray(0, 3)] };
}

export async function shot(page, name) {
  await drawn(page);
  const png = await page.screenshot();
  if (process.env.MOREAU_SCREENSHOTS) {
    const { mkdirSync, writeFileSync } = await import("node:fs");
    mkdirSync(process.env.MOREAU_SCREENSHOTS, { recursive: true });
    writeFileSync(join(process.env.MOREAU_SCREENSHOTS, name + ".png"), png);
  }
  return pixels(png);
}

// Where a point of the world is on the page.
export const place = (page, x, y, z, tile = 0) =>
  page.evaluate(([x, y, z, tile]) => {
    const p = window.moreau.project(x, y, z, tile), box = document.getElementById("canvas").getBoundingClientRect();
    return { x: p.x + box.left, y: p.y + box.top };
  }, [x, y, z, tile]);

// How colourful: bodies are, ground and sky are not.
export const colour = ([r, g, b]) => Math.max(r, g, b) - Math.min(r, g, b);
