// Sends rubbish to the server for a while: broken and strange HTTP requests, websocket frames, commands. The server must live on, answer
// properly afterwards, and end well; a build with sanitizers (make fuzz-viewer) must have nothing to say.
//   MOREAU_COMMAND=build-asan/moreau node tests/fuzz.mjs [SECONDS] [SEED]
import assert from "node:assert/strict";
import { connect } from "node:net";
import { at, record, serve } from "./program.mjs";
import { socket } from "./stream.mjs";

const METHODS = ["GET", "GET", "GET", "GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "G\0T", "PRI", "CONNECT", ""];
const PATHS = ["/", "/api/info", "/api/0/description", "/api/0/series", "/api/0/frames?first=0&count=3", "/api/0/frames?first=3&count=90", "/api/0/body?number=1", "/live", "/../../etc/passwd",
  "/%2e%2e/%2e%2e/etc/passwd", "/%00", "/%", "/%zz", "/api/0/../../x", "/api/0/frames?" + "a=".repeat(300), "/api/0/frames?first=&count=", "/api/0/frames?first=18446744073709551616&count=-1",
  "/api/0/frames?first=0&count=2147483647", "/api/0/frames?count=1", "/api/0/frames?first=0&first=1&count=1&count=2", "/" + "x".repeat(5000), "/api/9/frames?first=0&count=1", "/api/00/info", "//", "/?token=" + "f".repeat(400), "*",
  "http://evil.example/", "/api/0/body?number=99999999999", "/api/0/body?number=0x1", "/?" + "&".repeat(500), "/#", "/api/0/description?" + "%41".repeat(200)];
const HEADERS = ["Connection: keep-alive", "Connection: close", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: moreau-live\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 99\r\nSec-WebSocket-Key: x", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: a, moreau-live, b\r\nSec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=99",
  "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA", "Content-Length: 99999999999", "Content-Length: -1", "Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n",
  "Range: bytes=0-1,-5", "X: " + "y".repeat(9000), "Origin: null", "Expect: 100-continue", "Cookie: " + "a=b; ".repeat(500), ": nothing", "Host: twice", " folded: line", "Accept-Encoding: gzip, br, \xff", "If-Modified-Since: never"];
const WORDS = ["run", "pause", "step", "reset", "drag", "drop", "solver", "formulation", "gravity", "friction", "speed", "pgs", "lemke", "st", "ap", "peg", "penalty", "1e9", "-1e308", "nan", "inf", "0", "1", "-1", "99999999999", "0.1", "\u0000", "%s%n", "\u{1f4a9}", "x".repeat(300)];

// Rubbish for `seconds`, at least one round; throws when the server has ended. Returns how many connections were made.
export async function fuzz(server, seconds, seed) {
  const { hostname, port, search } = new URL(server.url);
  const random = (n) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * n);
  };
  const pick = (list) => list[random(list.length)];
  const noise = (n) => Buffer.from(Array.from({ length: random(n) }, () => random(256)));
  const wait = (ms) => new Promise((r) => setTimeout(r, ms));
  let ended = null;
  server.process.on("exit", (code, signal) => (ended = `${code ?? signal}`));

  const request = () => {
    const path = pick(PATHS), token = random(4) ? (path.includes("?") ? "&" : "?") + search.slice(1) : "";
    const lines = [`${pick(METHODS)} ${path}${token} HTTP/${pick(["1.1", "1.1", "1.1", "1.0", "2.0", "9", ""])}`, `Host: ${pick([`${hostname}:${port}`, `${hostname}:${port}`, `${hostname}:${port}`, "x", "", "h".repeat(400)])}`];
    for (let i = random(3); i > 0; i--) lines.push(pick(HEADERS));
    return Buffer.from(lines.join("\r\n") + "\r\n" + (random(5) ? "\r\n" : ""), "latin1");
  };
  const spoil = (data) => {
    for (let i = random(4); i > 0 && data.length; i--) data[random(data.length)] = random(256);
    return random(6) ? data : Buffer.concat([data.subarray(0, random(data.length)), noise(60), data.subarray(random(data.length))]);
  };
  const http = () =>
    new Promise((resolve) => {
      const s = connect(Number(port), hostname);
      let data = Buffer.concat(Array.from({ length: 1 + (random(3) ? 0 : random(4)) }, request)); // some in a row, none waited for
      if (random(3) === 0) data = spoil(data);
      s.on("connect", () => {
        const cut = random(data.length);
        s.write(data.subarray(0, cut));
        setTimeout(() => (s.writable && s.write(data.subarray(cut)), random(3) === 0 && s.writable && s.write(noise(300))), random(5));
        if (random(8) === 0) s.pause(); // a reader that does not read
      });
      s.on("data", () => {});
      s.on("error", () => {});
      s.on("close", resolve);
      setTimeout(() => s.destroy(), 20 + random(60));
    });

  // A frame of the websocket protocol with any of its fields wrong.
  const frame = () => {
    const body = random(2) ? Buffer.from(Array.from({ length: random(9) }, () => pick(WORDS)).join(" ")) : noise(pick([10, 125, 126, 200, 2000]));
    const first = (random(4) ? 0x80 : 0) | (random(8) ? 0 : random(8) << 4) | pick([0, 1, 1, 1, 2, 3, 7, 8, 9, 10, 11, 15]), masked = random(8) ? 0x80 : 0;
    let size;
    switch (random(5)) {
      case 0:
        size = Buffer.from([masked | random(128)]); // any length at all
        break;
      case 1: {
        size = Buffer.alloc(9, 0); // eight bytes, often absurd
        size[0] = masked | 127;
        size.writeBigUInt64BE(pick([BigInt(body.length), 0n, 1n << 62n, (1n << 64n) - 1n, 70000n]), 1);
        break;
      }
      default:
        size = body.length < 126 ? Buffer.from([masked | body.length]) : Buffer.from([masked | 126, body.length >> 8, body.length & 255]);
    }
    const mask = noise(5).subarray(0, 4), key = Buffer.concat([mask, Buffer.alloc(4)]).subarray(0, 4);
    return Buffer.concat([Buffer.from([first]), size, masked ? key : Buffer.alloc(0), masked ? body.map((b, i) => b ^ key[i % 4]) : body]);
  };
  const ws = async () => {
    let s;
    try {
      s = await Promise.race([socket(server.url, () => {}), new Promise((_, no) => setTimeout(no, 800))]);
    } catch {
      return;
    }
    s.raw.on("error", () => {});
    for (let i = random(20); i > 0 && s.raw.writable; i--) {
      if (random(3) === 0) s.send(Array.from({ length: random(9) }, () => pick(WORDS)).join(" "));
      else {
        const data = random(4) ? frame() : spoil(frame());
        for (let at = 0; at < data.length; ) {
          const n = random(3) ? data.length : 1 + random(data.length);
          s.raw.write(data.subarray(at, at + n));
          at += n;
        }
      }
      if (random(6) === 0) await wait(random(4));
    }
    if (random(8) === 0) s.raw.pause();
    await wait(random(40));
    if (random(2)) s.close();
    else s.raw.end();
  };

  const end = performance.now() + 1000 * seconds;
  let count = 0;
  do {
    await Promise.all(Array.from({ length: 8 }, () => (random(2) ? http() : ws())));
    count += 8;
  } while (performance.now() < end && ended === null);
  assert.equal(ended, null, `the server ended: ${ended}\n${server.log()}`);
  const answer = await fetch(at(server.url, "api/info"), { signal: AbortSignal.timeout(120000) });
  assert.equal(answer.status, 200);
  await answer.text();
  return count;
}

// Both servers at once: of a running scene, and of a recording.
export async function fuzzBoth(seconds, seed) {
  const servers = [await serve("bounce"), await serve(record("fuzz.h5", "bounce", "--time", "0.5"))];
  const counts = await Promise.all(servers.map((s, i) => fuzz(s, seconds, seed + i)));
  for (const s of servers) {
    assert.equal(await s.stop(), 0, s.log());
    assert.ok(!/ERROR|runtime error/.test(s.log()), s.log());
  }
  return counts;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [seconds = process.env.MOREAU_FUZZ_SECONDS ?? "20", seed = "1"] = process.argv.slice(2);
  const counts = await fuzzBoth(Number(seconds), Number(seed));
  console.log(`${seconds} s of rubbish: ${counts[0]} connections to a running scene, ${counts[1]} to a recording; both servers lived on and ended well`);
  process.exit(0);
}
