// Builds the page into one file, dist/viewer.html: no network at run time, nothing to install on the viewing side.
//   node build.mjs           writes it
//   node build.mjs --check   fails if the file in the tree is not what the sources give
import { createHash } from "node:crypto";
import { readFile, writeFile, mkdir } from "node:fs/promises";
import { build } from "esbuild";

const here = (name) => new URL(name, import.meta.url);

async function bundle(entry) {
  const result = await build({
    entryPoints: [here(entry).pathname],
    bundle: true,
    minify: true,
    write: false,
    charset: "ascii",
    format: "iife",
    target: "es2022",
    legalComments: "none",
  });
  return result.outputFiles[0].text.trim();
}

const script = await bundle("src/main.js");
const style = await bundle("src/style.css");
if (script.includes("<!--")) throw new Error("the script contains an HTML comment");
const hash = createHash("sha256").update(script).digest("base64");
const policy = [
  "default-src 'none'",
  `script-src 'sha256-${hash}'`,
  "style-src 'unsafe-inline'",
  "img-src data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const notice = "three.js: Copyright 2010-2026 three.js authors, MIT licence, https://threejs.org";
const html = (await readFile(here("src/index.html"), "utf8"))
  .replace("{{policy}}", () => policy)
  .replace("{{notice}}", () => notice)
  .replace("{{style}}", () => style)
  .replace("{{script}}", () => script);

const target = here("dist/viewer.html");
if (process.argv.includes("--check")) {
  const there = await readFile(target, "utf8").catch(() => "");
  if (there !== html) {
    console.error("viewer/dist/viewer.html is not what the sources give: run `npm run build` in viewer/");
    process.exit(1);
  }
  console.log("viewer/dist/viewer.html is up to date");
} else {
  await mkdir(here("dist"), { recursive: true });
  await writeFile(target, html);
  console.log(`viewer/dist/viewer.html: ${(html.length / 1e3).toFixed(0)} kB`);
}
