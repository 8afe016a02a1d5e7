// Sends rubbish to the server for a while: broken and strange HTTP requests, websocket frames, commands. The server must live on.
//   node tests/fuzz.mjs SECONDS SCENE|FILE.h5       (MOREAU_COMMAND: a build with sanitizers)
import assert from "node:assert/strict";
import { connect } from "node:net";
import { serve } from "./browser.mjs";
import { socket } from "./stream.mjs";

const [seconds = "10", subject = "bounce"] = process.argv.slice(2);
let seed = Number(process.env.SEED ?? 1);
const random = (n) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
};
const pick = (list) => list[random(list.length)];
const noise = (n) => Buffer.from(Array.from({ length: random(n) }, () => random(256)));

const server = await serve(subject), { hostname, port } = new URL(server.url);
let ended = null, log = "";
server.process.stderr.on("data", (d) => (log += d));
server.process.on("exit", (code, signal) => (ended = `${code ?? signal}`));

const paths = ["/", "/api/info", "/api/0/description", "/api/0/series", "/api/0/frames?first=0&count=3", "/api/0/body?number=1", "/live", "/../../etc/passwd", "/%2e%2e/%00", "/api/0/frames?" + "a=".repeat(300),
  "/api/0/frames?first=&count=", "/api/0/frames?first=18446744073709551616&count=-1", "/" + "x".repeat(5000), "/api/9/frames?first=0&count=1", "//", "/?token=" + "f".repeat(400)];
const heads = ["Connection: keep-alive", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: moreau-live\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Content-Length: 99999999999", "Transfer-Encoding: chunked", "Range: bytes=0-1,-5", "X: " + "y".repeat(9000), "Origin: null", "Expect: 100-continue"];

function http() {
  return new Promise((resolve) => {
    const s = connect(Number(port), hostname);
    const text = `${pick(["GET", "GET", "GET", "POST", "HEAD", "OPTIONS", "PUT", "G\0T", "PRI"])} ${pick(paths)} HTTP/${pick(["1.1", "1.1", "1.0", "2.0", "9"])}\r\nHost: ${pick([`${hostname}:${port}`, `${hostname}:${port}`, "x", ""])}\r\n${pick(heads)}\r\n${random(4) ? "\r\n" : ""}`;
    let data = Buffer.from(text);
    for (let i = random(3); i > 0; i--) if (random(2)) data[random(data.length)] = random(256);
    s.on("connect", () => {
      const cut = random(data.length);
      s.write(data.subarray(0, cut));
      setTimeout(() => (s.write(data.subarray(cut)), random(2) && s.write(noise(300))), random(5));
    });
    s.on("data", () => {});
    s.on("error", () => {});
    s.on("close", resolve);
    setTimeout(() => s.destroy(), 20 + random(60));
  });
}

async function ws() {
  let s;
  try {
    s = await Promise.race([socket(server.url, () => {}), new Promise((_, no) => setTimeout(no, 500))]);
  } catch {
    return;
  }
  s.raw.on("error", () => {});
  for (let i = random(20); i > 0; i--) {
    if (random(2)) s.send(Array.from({ length: random(9) }, () => pick(["run", "pause", "step", "reset", "drag", "drop", "solver", "pgs", "gravity", "1e9", "nan", "0", "-1", "\u0000", "friction", "speed", "0.1"])).join(" "));
    else s.raw.write(Buffer.concat([Buffer.from([random(256), random(256)]), noise(200)])); // a broken frame
  }
  await new Promise((r) => setTimeout(r, random(40)));
  s.close();
}

const end = performance.now() + 1000 * Number(seconds);
let count = 0;
while (performance.now() < end && ended === null) {
  await Promise.all(Array.from({ length: 8 }, () => (random(3) ? http() : ws())));
  count += 8;
}
assert.equal(ended, null, `the server ended: ${ended}\n${log}`);
const answer = await fetch(server.url + "api/info");
assert.equal(answer.status, 200);
await answer.text();
await server.stop();
assert.ok(!/ERROR|runtime error/.test(log), log);
console.log(`${count} connections, the server lives and said: ${JSON.stringify(log.trim())}; exit ${ended}`);
process.exit(ended === "0" ? 0 : 1);
