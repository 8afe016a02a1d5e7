// Measures a running scene without a browser: frames received, skipped, bytes, what showing costs the simulation, memory.
//   node tests/stream.mjs [SCENE [SECONDS]]       a thousand bodies, unless a scene is given
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { file, serve } from "./program.mjs";

// A websocket by hand: calls onMessage(opcode, payload); send(text).
export function socket(url, onMessage) {
  const { hostname, port, search } = new URL(url);
  return new Promise((resolve, reject) => {
    const s = connect(Number(port), hostname, () =>
      s.write(`GET /live${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: moreau-live\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`));
    let buffer = Buffer.alloc(0), open = false;
    s.on("error", reject);
    s.on("close", () => reject(new Error("closed")));
    s.on("data", (data) => {
      buffer = Buffer.concat([buffer, data]);
      if (!open) {
        const end = buffer.indexOf("\r\n\r\n");
        if (end < 0) return;
        if (!buffer.toString("latin1", 0, 12).endsWith("101")) return s.destroy(), reject(new Error("refused"));
        open = true;
        buffer = buffer.subarray(end + 4);
        resolve({ send, close: () => s.destroy(), raw: s });
      }
      for (;;) {
        if (buffer.length < 2) return;
        let length = buffer[1] & 127, head = 2;
        if (length === 126) [length, head] = [buffer.length >= 4 ? buffer.readUInt16BE(2) : Infinity, 4];
        else if (length === 127) [length, head] = [buffer.length >= 10 ? Number(buffer.readBigUInt64BE(2)) : Infinity, 10];
        if (buffer.length < head + length) return;
        onMessage(buffer[0] & 15, buffer.subarray(head, head + length));
        buffer = buffer.subarray(head + length);
      }
    });
    const send = (text) => {
      const body = Buffer.from(text), mask = Buffer.from([1, 2, 3, 4]);
      const head = body.length < 126 ? Buffer.from([0x81, 0x80 | body.length]) : Buffer.from([0x81, 0xfe, body.length >> 8, body.length & 255]);
      s.write(Buffer.concat([head, mask, body.map((b, i) => b ^ mask[i % 4])]));
    };
  });
}

const wait = (seconds) => new Promise((r) => setTimeout(r, 1000 * seconds));

// A thousand balls that fly apart, a step per picture: as much to show as there may be, and little to compute.
export const thousand = `
moreau: 1
gravity: [0, 0, 0]
seed: 1
time: { step: 0.016666666666666666, end: 100 }
bodies:
  - { name: ball, shape: { sphere: 0.2 }, grid: { count: [10, 10, 10], spacing: [1, 1, 1], origin: [0, 0, 0] }, velocity: [0, 0, 0.05], angular_velocity: [0, 1, 0], random: { orientation: true } }
`;

const status = (pid, key) => Number(readFileSync(`/proc/${pid}/status`, "utf8").match(new RegExp(`${key}:\\s+(\\d+)`))[1]) / 1024; // MB

// Watches a running scene for `seconds`: { frames, sent, dropped, rate, megabytes (per second), overhead, memory }. `overhead`: processor time of the simulation's
// thread outside of its steps, over that inside. With `asleep` the browser does not read for that long in between.
export async function watchRun(scene, seconds, { speed = 1, asleep = 0 } = {}) {
  const server = await serve(scene);
  let frames = 0, bytes = 0, state = {}, first = null;
  const s = await socket(server.url, (opcode, payload) => {
    if (opcode === 2) {
      frames++;
      bytes += payload.length;
    } else if (opcode === 1 && payload.includes('"running"')) {
      state = JSON.parse(payload);
      first ??= state;
    }
  });
  if (speed !== 1) s.send(`speed ${speed}`);
  await wait(seconds / 2);
  const before = status(server.process.pid, "VmRSS");
  if (asleep) {
    s.raw.pause();
    await wait(asleep);
    s.raw.resume();
  }
  await wait(seconds / 2);
  const seen = frames, volume = bytes;
  await wait(1.2); // a state comes every second
  const last = state, memory = { before, after: status(server.process.pid, "VmRSS") };
  s.close();
  await server.stop();
  const steps = last.step_cpu - first.step_cpu;
  return { frames: seen, rate: seen / (seconds + asleep), megabytes: volume / (seconds + asleep) / 1e6, sent: last.sent, dropped: last.dropped, overhead: (last.cpu - first.cpu - steps) / steps, memory };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [given, seconds = "5"] = process.argv.slice(2), time = Number(seconds), scene = given ?? file("thousand.yaml");
  writeFileSync(file("thousand.yaml"), thousand);
  const show = (what, r) =>
    console.log(`${what}: ${r.rate.toFixed(1)} frames/s, ${r.megabytes.toFixed(2)} MB/s, sent ${r.sent}, skipped ${r.dropped}; ${(100 * r.overhead).toFixed(2)} % of the steps' processor time beside them; server ${r.memory.before.toFixed(0)} MB, then ${r.memory.after.toFixed(0)} MB`);
  show("at the pace of the clock", await watchRun(scene, time));
  show("a browser that sleeps for 3 s", await watchRun(scene, time, { asleep: 3 }));
  show("as fast as it goes", await watchRun(scene, time, { speed: 1000 }));
  process.exit(0);
}
