// Measures a running scene without a browser: frames received, skipped, bytes, and steps per second with and without someone watching.
//   node tests/stream.mjs SCENE [SECONDS]
import { connect } from "node:net";
import { serve } from "./program.mjs";

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

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [scene, seconds = "5"] = process.argv.slice(2), time = Number(seconds);
  const server = await serve(scene);
  let frames = 0, bytes = 0, step = 0, state = {};
  const watch = (opcode, payload) => {
    if (opcode === 2) {
      frames++;
      bytes += payload.length;
      step = payload.readInt32LE(24);
    } else if (opcode === 1 && payload.includes('"running"')) state = JSON.parse(payload);
  };
  let s = await socket(server.url, watch);
  await wait(time);
  console.log(`at the pace of the clock: ${(frames / time).toFixed(1)} frames/s, ${(bytes / time / 1e6).toFixed(2)} MB/s, sent ${state.sent}, skipped ${state.dropped}`);
  // as fast as it goes, watched and not watched in turn
  s.send("speed 1000");
  const rates = { watched: [], alone: [] };
  for (let i = 0; i < 4; i++) {
    for (const kind of ["watched", "alone"]) {
      s.send("reset");
      await wait(0.3);
      const first = step, begin = performance.now();
      if (kind === "alone") s.close();
      await wait(time / 2);
      if (kind === "alone") s = await socket(server.url, watch);
      const before = frames;
      while (frames === before) await wait(0.002);
      rates[kind].push((step - first) / (performance.now() - begin) * 1000);
    }
  }
  const best = (list) => Math.max(...list);
  console.log(`steps per second: watched ${best(rates.watched).toFixed(1)}, alone ${best(rates.alone).toFixed(1)}: ${(100 * (1 - best(rates.watched) / best(rates.alone))).toFixed(1)} % slower`);
  s.close();
  await server.stop();
  process.exit(0);
}
