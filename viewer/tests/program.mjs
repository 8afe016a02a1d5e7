// The program under test: run it, record with it, serve with it. Needs nothing but node.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const command = process.env.MOREAU_COMMAND ?? new URL("../../build/moreau", import.meta.url).pathname;
export const work = mkdtempSync(join(tmpdir(), "moreau-browser-"));
process.on("exit", () => rmSync(work, { recursive: true, force: true }));

export const file = (name) => join(work, name);
export const moreau = (...args) => execFileSync(command, args, { encoding: "utf8" });

// A scene recorded to a file.
export function record(name, scene, ...args) {
  const path = file(name);
  try {
    moreau("run", scene, "--quiet", "--record", path, ...args);
  } catch (error) {
    if (error.status !== 1) throw error; // a step that missed its tolerance is still a recording
  }
  return path;
}

export const children = new Set();
process.on("exit", () => children.forEach((c) => c.kill("SIGKILL")));

// What the server of this address calls `path`, with its token.
export function at(url, path) {
  const { origin, search } = new URL(url);
  return `${origin}/${path}${path.includes("?") ? "&" : "?"}${search.slice(1)}`;
}

// `moreau view ...` until stop(): { url, stop, process }
export function serve(...args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, ["view", ...args], { stdio: ["ignore", "pipe", "pipe"] });
    children.add(child);
    child.on("exit", () => children.delete(child));
    let out = "", err = "";
    child.stdout.on("data", (data) => {
      out += data;
      if (out.includes("\n")) resolve({ url: out.split("\n")[0], process: child, stop, log: () => err });
    });
    child.stderr.on("data", (data) => (err += data));
    child.on("exit", (status) => reject(new Error(`moreau view ended with ${status}: ${err}`)));
    const ended = new Promise((done) => child.on("exit", done));
    const stop = () => {
      child.kill("SIGINT");
      return ended;
    };
  });
}
