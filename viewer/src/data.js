// Recordings as the page sees them, whatever they come from: inside the page (one-file export), from the server by
// ranges, or streamed from a running simulation. docs/viewer.md describes the forms.
//
//   description   bodies, shapes, methods
//   frames        how many
//   time(i), index(t)   frame number (may be fractional) <-> time
//   frame(i)      a frame, or null while it is on its way
//   series        { time, columns: { kinetic, ... } } for plots
//   track(body)   promise of { time, columns: [x y z qw qx qy qz vx vy vz wx wy wz] }

const CONTACT_WORDS = 14;

function emptyContacts() {
  return { count: 0, body: new Int32Array(0), point: new Float32Array(0), normal: new Float32Array(0), gap: new Float32Array(0), force: new Float32Array(0), group: new Int32Array(0) };
}

// A message of frames (src/serve/frame.c) with so many scalars each.
export function parseFrames(buffer, scalars) {
  const view = new DataView(buffer);
  if (view.getUint32(0) !== 0x4d4f5246) throw new Error("not a message of frames");
  const count = view.getUint32(4, true);
  const bodies = view.getUint32(8, true);
  const frames = [];
  let at = 16;
  for (let k = 0; k < count; k++) {
    const frame = { time: view.getFloat64(at, true), step: view.getInt32(at + 8, true) };
    const n = view.getInt32(at + 12, true);
    at += 16;
    frame.scalars = new Float32Array(buffer, at, scalars);
    at += 4 * scalars;
    frame.pose = new Float32Array(buffer, at, bodies * 7);
    at += bodies * 28;
    frame.velocity = new Float32Array(buffer, at, bodies * 6);
    at += bodies * 24;
    const c = { count: n, body: new Int32Array(2 * n), point: new Float32Array(3 * n), normal: new Float32Array(3 * n), gap: new Float32Array(n), force: new Float32Array(3 * n), group: new Int32Array(2 * n) };
    const ints = new Int32Array(buffer, at, n * CONTACT_WORDS);
    const floats = new Float32Array(buffer, at, n * CONTACT_WORDS);
    for (let i = 0; i < n; i++) {
      const o = i * CONTACT_WORDS;
      c.body[2 * i] = ints[o];
      c.body[2 * i + 1] = ints[o + 1];
      for (let j = 0; j < 3; j++) {
        c.point[3 * i + j] = floats[o + 2 + j];
        c.normal[3 * i + j] = floats[o + 5 + j];
        c.force[3 * i + j] = floats[o + 9 + j];
      }
      c.gap[i] = floats[o + 8];
      c.group[2 * i] = ints[o + 12];
      c.group[2 * i + 1] = ints[o + 13];
    }
    at += n * CONTACT_WORDS * 4;
    frame.contacts = c;
    frames.push(frame);
  }
  return frames;
}

function parseSeries(buffer, offset = 0) {
  const view = new DataView(buffer, offset);
  const points = view.getUint32(0, true);
  const columns = view.getUint32(4, true);
  const group = view.getUint32(8, true);
  const body = buffer.slice(offset + 16);
  const time = new Float64Array(body, 0, points);
  const list = [];
  for (let c = 0; c < columns; c++) list.push(new Float32Array(body, 8 * points + 4 * points * c, points));
  return { time, list, group };
}

function named(description, series) {
  const columns = {};
  description.scalars.forEach((s, i) => (columns[s.name] = series.list[i]));
  return { time: series.time, columns };
}

// Position of t in an ascending list, fractional.
export function locate(times, t, count = times.length) {
  if (count < 2 || !(t > times[0])) return 0;
  if (t >= times[count - 1]) return count - 1;
  let low = 0, high = count - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  const span = times[high] - times[low];
  return low + (span > 0 ? (t - times[low]) / span : 0);
}

// The value of a list at a fractional position.
function between(list, p) {
  const k = Math.floor(p);
  return k + 1 < list.length ? list[k] + (p - k) * (list[k + 1] - list[k]) : list[k] ?? 0;
}

// ------------------------------------------------------------------------------------------ inside the page

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

function fromBase64(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

const GONE = 0x7fffffff;

// The inverse of pack() in src/serve/export.c: columns[component][row], rows of all frames one after the other.
function unpack(reader, counts, width, order) {
  const step = reader.double();
  const rows = counts.reduce((a, b) => a + b, 0);
  const n = rows * width;
  const bytes = reader.bytes(4 * n);
  const q = new Int32Array(n);
  let at = 0;
  for (let c = 0; c < width; c++) {
    let one = -1, two = -1, oneCount = 0;
    for (let f = 0; f < counts.length; f++) {
      const start = at;
      for (let row = 0; row < counts[f]; row++, at++) {
        const u = (bytes[at] | (bytes[n + at] << 8) | (bytes[2 * n + at] << 16) | (bytes[3 * n + at] << 24)) >>> 0;
        let value = (u >>> 1) ^ -(u & 1);
        if (one >= 0 && row < oneCount) {
          value += order === 2 && two >= 0 ? 2 * q[one + row] - q[two + row] : q[one + row];
        }
        q[at] = value;
      }
      two = one;
      one = start;
      oneCount = counts[f];
    }
  }
  const columns = [];
  for (let c = 0; c < width; c++) {
    const column = new Float32Array(rows);
    for (let i = 0; i < rows; i++) column[i] = q[c * rows + i] === GONE ? NaN : q[c * rows + i] * step;
    columns.push(column);
  }
  return columns;
}

class Reader {
  constructor(buffer) {
    this.buffer = buffer;
    this.view = new DataView(buffer);
    this.at = 0;
  }
  word() {
    this.at += 4;
    return this.view.getUint32(this.at - 4, true);
  }
  double() {
    this.at += 8;
    return this.view.getFloat64(this.at - 8, true);
  }
  bytes(n) {
    this.at += n;
    return new Uint8Array(this.buffer, this.at - n, n);
  }
}

export class EmbeddedRecording {
  static async open(text) {
    const buffer = await inflate(fromBase64(text));
    const r = new Reader(buffer);
    if (r.view.getUint32(0) !== 0x4d4f5258) throw new Error("not a recording");
    r.at = 4;
    const version = r.word();
    if (version !== 2) throw new Error(`a recording of form ${version}; this page knows form 2`);
    const self = new EmbeddedRecording();
    self.description = JSON.parse(new TextDecoder().decode(r.bytes(r.word())));
    const frames = r.word(), bodies = r.word();
    r.word();
    const seriesSize = r.word();
    self.frames = frames;
    self.times = Float64Array.from({ length: frames }, () => r.double());
    const steps = Int32Array.from({ length: frames }, () => r.word());
    const counts = Array.from({ length: frames }, () => r.word());
    const perFrame = new Array(frames).fill(bodies);
    const position = unpack(r, perFrame, 3, 2), quaternion = unpack(r, perFrame, 4, 2);
    const velocity = unpack(r, perFrame, 3, 1), angular = unpack(r, perFrame, 3, 1);
    const body = unpack(r, counts, 2, 1), point = unpack(r, counts, 3, 1), normal = unpack(r, counts, 3, 1);
    const gap = unpack(r, counts, 1, 1), force = unpack(r, counts, 3, 1), group = unpack(r, counts, 2, 1);
    self.columns = [...position, ...quaternion, ...velocity, ...angular];
    self.list = [];
    const gather = (source, first, n, width, type) => {
      const out = new type(n * width);
      for (let i = 0; i < n; i++) for (let c = 0; c < width; c++) out[i * width + c] = source[c][first + i];
      return out;
    };
    for (let f = 0, first = 0; f < frames; f++) {
      const n = counts[f];
      self.list.push({
        time: self.times[f],
        step: steps[f],
        pose: gather(self.columns.slice(0, 7), f * bodies, bodies, 7, Float32Array),
        velocity: gather(self.columns.slice(7), f * bodies, bodies, 6, Float32Array),
        contacts: {
          count: n,
          body: gather(body, first, n, 2, Int32Array),
          point: gather(point, first, n, 3, Float32Array),
          normal: gather(normal, first, n, 3, Float32Array),
          gap: gather(gap, first, n, 1, Float32Array),
          force: gather(force, first, n, 3, Float32Array),
          group: gather(group, first, n, 2, Int32Array),
        },
      });
      first += n;
    }
    const series = parseSeries(buffer.slice(r.at, r.at + seriesSize));
    self.series = named(self.description, series);
    return self;
  }
  time(i) {
    return this.times[Math.max(0, Math.min(this.frames - 1, Math.round(i)))] ?? 0;
  }
  index(t) {
    return locate(this.times, t);
  }
  frame(i) {
    return this.list[i] ?? null;
  }
  async track(body) {
    const bodies = this.description.bodies.length;
    const columns = this.columns.map((c) => Float32Array.from({ length: this.frames }, (_, f) => c[f * bodies + body]));
    return { time: this.times, columns };
  }
}

// ------------------------------------------------------------------------------------------ from the server

const CACHE_BYTES = 96e6;

async function get(path) {
  const token = new URLSearchParams(location.search).get("token");
  const answer = await fetch(path + (token ? (path.includes("?") ? "&" : "?") + "token=" + encodeURIComponent(token) : ""));
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

export class RemoteRecording {
  static async open(number, changed) {
    const self = new RemoteRecording();
    self.root = `api/${number}`;
    self.changed = changed;
    self.description = await (await get(`${self.root}/description`)).json();
    self.frames = self.description.frames;
    const series = parseSeries(await (await get(`${self.root}/series`)).arrayBuffer());
    // times are known at every group-th frame and at the last one
    const at = Array.from(series.time, (_, k) => k * series.group), times = Array.from(series.time);
    if (self.frames > 0 && at[at.length - 1] < self.frames - 1) {
      at.push(self.frames - 1);
      times.push(self.description.end);
    }
    self.marks = { at: Float64Array.from(at), times: Float64Array.from(times) };
    self.series = named(self.description, series);
    const bytes = self.description.bodies.length * 52 + 64;
    self.chunk = Math.max(1, Math.min(128, Math.floor(400e3 / bytes)));
    self.chunks = new Map(); // number -> frames, in order of last use
    self.bytes = 0;
    self.loading = new Set();
    self.wanted = -1;
    return self;
  }
  time(i) {
    return between(this.marks.times, locate(this.marks.at, i));
  }
  index(t) {
    return between(this.marks.at, locate(this.marks.times, t));
  }
  frame(i) {
    if (i < 0 || i >= this.frames) return null;
    const number = Math.floor(i / this.chunk);
    const chunk = this.chunks.get(number);
    this.wanted = number;
    if (!chunk) {
      this.load(number);
      return null;
    }
    this.chunks.delete(number); // last used goes to the end
    this.chunks.set(number, chunk);
    if (i % this.chunk > this.chunk / 2) this.load(number + 1);
    return chunk.frames[i - number * this.chunk] ?? null;
  }
  async load(number) {
    if (number * this.chunk >= this.frames || this.chunks.has(number) || this.loading.has(number) || this.loading.size >= 3) return;
    this.loading.add(number);
    try {
      const first = number * this.chunk;
      const buffer = await (await get(`${this.root}/frames?first=${first}&count=${Math.min(this.chunk, this.frames - first)}`)).arrayBuffer();
      this.chunks.set(number, { frames: parseFrames(buffer, this.description.scalars.length), bytes: buffer.byteLength * 2 });
      this.bytes += buffer.byteLength * 2;
      for (const [old, chunk] of this.chunks) {
        if (this.bytes <= CACHE_BYTES || old === number) break;
        this.chunks.delete(old);
        this.bytes -= chunk.bytes;
      }
    } catch (error) {
      this.failed = String(error.message ?? error);
    }
    this.loading.delete(number);
    if (this.wanted >= 0 && !this.chunks.has(this.wanted) && !this.failed) this.load(this.wanted);
    this.changed();
  }
  async track(body) {
    const series = parseSeries(await (await get(`${this.root}/body?number=${body}`)).arrayBuffer());
    return { time: series.time, columns: series.list };
  }
}

export async function serverInfo() {
  return (await get("api/info")).json();
}

// ------------------------------------------------------------------------------------------ a running simulation

const LIVE_BYTES = 128e6;

export class LiveRecording {
  // `onEvent` gets ("ready"), ("frame"), ("state", object), ("reset"), ("closed");
  // ("changed"): other numbers of the bodies, ("rebuilt"): other bodies.
  static connect(onEvent) {
    const self = new LiveRecording();
    const token = new URLSearchParams(location.search).get("token");
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live${token ? "?token=" + encodeURIComponent(token) : ""}`, "moreau-live");
    socket.binaryType = "arraybuffer";
    self.socket = socket;
    self.state = {};
    self.clear();
    socket.onmessage = (message) => {
      if (typeof message.data === "string") {
        const object = JSON.parse(message.data);
        if (object.bodies) {
          const before = self.description, made = (d) => JSON.stringify([d.bodies.map((b) => b.name), d.shapes, d.joints]);
          self.description = object;
          const bytes = object.bodies.length * 52 + 2000;
          self.most = Math.max(200, Math.min(20000, Math.floor(LIVE_BYTES / bytes)));
          if (!before) onEvent("ready");
          else if (made(before) !== made(object)) {
            self.clear();
            onEvent("rebuilt");
          } else onEvent("changed");
        } else {
          self.state = object;
          onEvent("state", object);
        }
        return;
      }
      for (const frame of parseFrames(message.data, self.description.scalars.length)) {
        if (frame.pose.length !== 7 * self.description.bodies.length) continue; // its description is on the way
        const last = self.list[self.list.length - 1];
        if (last && frame.step < last.step) {
          self.clear();
          onEvent("reset");
        }
        if (last && frame.step === last.step && self.list.length) self.list[self.list.length - 1] = frame;
        else self.list.push(frame);
        self.received++;
      }
      if (self.list.length > self.most * 1.25) self.list.splice(0, self.list.length - self.most);
      self.frames = self.list.length;
      self.series = null;
      onEvent("frame");
    };
    socket.onclose = () => onEvent("closed");
    return self;
  }
  clear() {
    this.list = [];
    this.frames = 0;
    this.received = this.received ?? 0;
    this.cache = null;
  }
  send(text) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
  }
  get series() {
    if (!this.cache) {
      const columns = {};
      this.description.scalars.forEach((s, i) => (columns[s.name] = Float32Array.from(this.list, (f) => f.scalars[i])));
      this.cache = { time: Float64Array.from(this.list, (f) => f.time), columns };
    }
    return this.cache;
  }
  set series(value) {
    this.cache = value;
  }
  time(i) {
    return this.list[Math.max(0, Math.min(this.frames - 1, Math.round(i)))]?.time ?? 0;
  }
  index(t) {
    return locate(this.series.time, t);
  }
  frame(i) {
    return this.list[i] ?? null;
  }
  async track(body) {
    const columns = [];
    for (let c = 0; c < 13; c++) columns.push(Float32Array.from(this.list, (f) => (c < 7 ? f.pose[7 * body + c] : f.velocity[6 * body + c - 7])));
    return { time: this.series.time, columns };
  }
}

export { emptyContacts };
