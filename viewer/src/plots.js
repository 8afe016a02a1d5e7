// Plots under the scene, linked to the time cursor. Each is a canvas with a text alternative that says what it shows.

export const SERIES_COLORS = { dark: ["#5aa9ff", "#ffb454", "#6fd89a", "#ff7b7b"], light: ["#1769c4", "#b25c00", "#1d7f46", "#c02f2f"] };

export const PLOTS = [
  { key: "energy", title: "Energy", unit: "J", lines: ["total", "kinetic", "potential"] },
  { key: "penetration", title: "Penetration", unit: "m", lines: ["penetration"] },
  { key: "residual", title: "Residual", unit: "", lines: ["residual"], log: true },
  { key: "iterations", title: "Iterations", unit: "", lines: ["iterations"] },
  { key: "contacts", title: "Contacts", unit: "", lines: ["contacts"] },
  { key: "step_time", title: "Step time", unit: "s", lines: ["step_time"] },
  { key: "joint_error", title: "Joint error", unit: "m, rad", lines: ["joint_error"], log: true, joints: true },
  { key: "position", title: "Position", unit: "m", body: true, lines: ["x", "y", "z"], from: 0, band: 0 },
  { key: "velocity", title: "Velocity", unit: "m/s", body: true, lines: ["vx", "vy", "vz"], from: 7, band: 3 },
  { key: "acceleration", title: "Acceleration", unit: "m/s\u00b2", body: true, lines: ["ax", "ay", "az"], from: 7, derive: true },
  { key: "angular", title: "Angular velocity", unit: "rad/s", body: true, lines: ["wx", "wy", "wz"], from: 10 },
];

export function number(x, digits = 4) {
  if (!Number.isFinite(x)) return "\u2013";
  const a = Math.abs(x);
  if (a !== 0 && (a < 1e-3 || a >= 1e5)) return x.toExponential(Math.max(0, digits - 2)).replace("e-", "e\u2212").replace("e+", "e").replace("-", "\u2212");
  return String(+x.toPrecision(digits)).replace("-", "\u2212");
}

function ticks(low, high, most) {
  const span = high - low || 1, raw = span / most, base = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * base).find((s) => span / s <= most) ?? base * 10;
  const out = [];
  for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step; v += step) out.push(Math.abs(v) < 1e-9 * step ? 0 : v);
  return out;
}

function derivative(time, values) {
  const out = new Float32Array(values.length);
  for (let i = 1; i < values.length; i++) out[i] = (values[i] - values[i - 1]) / (time[i] - time[i - 1] || 1);
  if (values.length > 1) out[0] = out[1];
  return out;
}

// Half the width of a body's sensitivity band (docs/viewer.md) at the times of a track; component 0 to 2: position, 3 to
// 5: velocity. null: there is none.
function bandOf(bands, body, component, time) {
  const half = bands?.bodies.find((b) => b.body === body)?.half[component];
  if (!half) return null;
  const out = new Float32Array(time.length);
  for (let i = 0, k = 0; i < time.length; i++) {
    while (k + 2 < bands.time.length && bands.time[k + 1] <= time[i]) k++;
    const span = bands.time[k + 1] - bands.time[k], p = span > 0 ? Math.max(0, Math.min(1, (time[i] - bands.time[k]) / span)) : 0;
    out[i] = half[k] + p * ((half[k + 1] ?? half[k]) - half[k]);
  }
  return out;
}

// Lines of a plot: [{ name, time, values, color, dash, band }]
export function plotLines(plot, sources, theme) {
  const colors = SERIES_COLORS[theme], lines = [];
  sources.forEach((s, k) => {
    if (plot.body) {
      if (!s.track) return;
      plot.lines.forEach((name, i) => {
        const raw = s.track.columns[plot.from + i];
        if (raw && !(s.flat && ((plot.key !== "angular" && i === 2) || (plot.key === "angular" && i < 2))))
          lines.push({
            name: k > 0 ? `${name} ${s.label}` : name,
            quiet: k > 0,
            time: s.track.time,
            values: plot.derive ? derivative(s.track.time, raw) : raw,
            color: colors[i % 4],
            dash: k,
            band: plot.band === undefined ? null : bandOf(s.bands, s.body, plot.band + i, s.track.time),
          });
      });
      return;
    }
    const columns = s.series.columns;
    const get = (name) => (name === "total" ? Float32Array.from(columns.kinetic, (v, i) => v + columns.potential[i]) : columns[name]);
    const names = sources.length > 1 ? plot.lines.slice(0, 1) : plot.lines;
    names.forEach((name, i) => {
      const values = get(name);
      if (values) lines.push({ name: sources.length > 1 ? s.label : name.replace("_", " "), time: s.series.time, values, color: colors[(sources.length > 1 ? k : i) % 4], dash: sources.length > 4 ? k >> 2 : 0 });
    });
  });
  return lines;
}

export class Plot {
  constructor(definition, onSeek) {
    this.definition = definition;
    this.element = document.createElement("figure");
    this.element.className = "plot";
    const caption = document.createElement("figcaption");
    this.title = document.createElement("span");
    this.title.className = "plot-title";
    this.legend = document.createElement("span");
    this.legend.className = "plot-legend";
    caption.append(this.title, this.legend);
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.element.append(caption, this.canvas);
    this.lines = [];
    let down = false;
    const seek = (event) => {
      const box = this.canvas.getBoundingClientRect();
      const t = this.timeAt(event.clientX - box.left);
      if (t !== null) onSeek(t);
    };
    this.canvas.addEventListener("pointerdown", (e) => {
      down = true;
      this.canvas.setPointerCapture(e.pointerId);
      seek(e);
    });
    this.canvas.addEventListener("pointermove", (e) => down && seek(e));
    this.canvas.addEventListener("pointerup", () => (down = false));
    this.canvas.addEventListener("pointercancel", () => (down = false));
  }

  timeAt(x) {
    if (!this.area) return null;
    const s = Math.max(0, Math.min(1, (x - this.area.left) / this.area.width));
    return this.range[0] + s * (this.range[1] - this.range[0]);
  }

  set(lines, subject, bandLabel) {
    const d = this.definition;
    this.lines = lines;
    this.title.textContent = d.title + (subject ? ` of ${subject}` : "") + (d.unit ? ` [${d.unit}]` : "");
    this.legend.replaceChildren();
    this.readouts = lines.map((line) => {
      const item = document.createElement("span"), swatch = document.createElement("i"), value = document.createElement("b");
      swatch.style.background = line.color;
      item.append(swatch, document.createTextNode(line.name + " "), value);
      if (!line.quiet) this.legend.append(item);
      return value;
    });
    if (lines.some((l) => l.quiet)) this.legend.append("others dashed");
    if (lines.some((l) => l.band)) this.legend.append(bandLabel ?? "");
    let low = Infinity, high = -Infinity, t0 = Infinity, t1 = -Infinity;
    for (const { time, values, band } of lines) {
      if (!time.length) continue;
      t0 = Math.min(t0, time[0]);
      t1 = Math.max(t1, time[time.length - 1]);
      values.forEach((v, i) => {
        if (!Number.isFinite(v) || (d.log && v <= 0)) return;
        low = Math.min(low, v - (band?.[i] ?? 0));
        high = Math.max(high, v + (band?.[i] ?? 0));
      });
    }
    const text = lines.map((l) => {
      let a = Infinity, b = -Infinity;
      for (const v of l.values) if (Number.isFinite(v)) [a, b] = [Math.min(a, v), Math.max(b, v)];
      const give = l.band ? ` give or take ${number(l.band[l.band.length - 1])}` : "";
      return l.values.length ? `${l.name}: from ${number(a)} to ${number(b)}, at the end ${number(l.values[l.values.length - 1])}${give}` : `${l.name}: nothing yet`;
    });
    const banded = lines.some((l) => l.band) && bandLabel ? `; ${bandLabel}` : "";
    this.canvas.setAttribute("aria-label", `${this.title.textContent} over time. ${text.join("; ")}${banded}`);
    if (!(high >= low)) [low, high] = d.log ? [1e-12, 1] : [0, 1];
    if (d.log) [low, high] = [Math.floor(Math.log10(Math.max(low, high * 1e-14))), Math.ceil(Math.log10(high))];
    if (high - low < 1e-12 * Math.max(1, Math.abs(high))) {
      const pad = Math.abs(high) * 0.1 || 1;
      [low, high] = [d.log || low >= 0 ? Math.max(0, low - pad) : low - pad, high + pad];
      if (d.log) [low, high] = [high - 2, high];
    } else if (!d.log) {
      const pad = 0.06 * (high - low);
      low = low >= 0 && low < 0.3 * high ? 0 : low - pad;
      high += pad;
    }
    this.span = [low, high];
    this.range = t1 > t0 ? [t0, t1] : [t0 === Infinity ? 0 : t0, (t0 === Infinity ? 0 : t0) + 1];
    this.stale = true;
  }

  // The lines go to a picture of their own; the cursor is drawn over it.
  drawBase(width, height, ratio, style) {
    const base = (this.base ??= document.createElement("canvas"));
    base.width = width * ratio;
    base.height = height * ratio;
    const c = base.getContext("2d"), d = this.definition;
    c.scale(ratio, ratio);
    c.font = "11px system-ui, sans-serif";
    const [low, high] = this.span, [t0, t1] = this.range;
    const marks = d.log ? ticks(low, high, 4).filter(Number.isInteger) : ticks(low, high, Math.max(2, Math.floor(height / 34)));
    const labels = marks.map((v) => (d.log ? `1e${v}`.replace("-", "\u2212") : number(v)));
    const left = Math.ceil(Math.max(24, ...labels.map((l) => c.measureText(l).width))) + 8;
    this.area = { left, top: 6, width: width - left - 8, height: height - 26 };
    const { top, width: w, height: h } = this.area;
    const X = (t) => left + ((t - t0) / (t1 - t0)) * w, Y = (v) => top + h - ((v - low) / (high - low)) * h;
    this.X = X;
    c.strokeStyle = style.grid;
    c.fillStyle = style.text;
    c.lineWidth = 1;
    c.textAlign = "right";
    c.textBaseline = "middle";
    marks.forEach((v, i) => {
      const y = Math.round(Y(v)) + 0.5;
      c.beginPath();
      c.moveTo(left, y);
      c.lineTo(left + w, y);
      c.stroke();
      c.fillText(labels[i], left - 6, y);
    });
    c.textAlign = "center";
    c.textBaseline = "top";
    for (const t of ticks(t0, t1, Math.max(2, Math.floor(w / 70)))) {
      const half = c.measureText(number(t)).width / 2; // the last one ends with the plot
      c.fillText(number(t), Math.min(X(t), width - half - 1), top + h + 6);
    }
    c.save();
    c.beginPath();
    c.rect(left, top - 2, w, h + 4);
    c.clip();
    c.lineWidth = 1.6;
    c.lineJoin = "round";
    for (const { band, time, values, color } of this.lines) {
      if (!band || !time.length) continue;
      const step = Math.max(1, Math.floor(time.length / (2 * w))), at = [];
      for (let i = 0; i < time.length; i += step) at.push(i);
      if (at.at(-1) !== time.length - 1) at.push(time.length - 1);
      c.beginPath();
      for (const i of at) c.lineTo(X(time[i]), Y(values[i] + band[i]));
      for (const i of at.reverse()) c.lineTo(X(time[i]), Y(values[i] - band[i]));
      c.closePath();
      c.globalAlpha = 0.25;
      c.fillStyle = color;
      c.fill();
      c.globalAlpha = 1;
    }
    for (const line of this.lines) {
      c.strokeStyle = line.color;
      c.setLineDash(line.dash ? [5, 3 + 2 * line.dash] : []);
      c.beginPath();
      const n = line.time.length, group = Math.max(1, Math.floor(n / (2 * w)));
      let started = false;
      for (let i = 0; i < n; i += group) {
        // of every group its lowest and highest, in order
        let a = i, b = i;
        for (let k = i; k < Math.min(n, i + group); k++) {
          if (line.values[k] < line.values[a]) a = k;
          if (line.values[k] > line.values[b]) b = k;
        }
        for (const k of a === b ? [a] : a < b ? [a, b] : [b, a]) {
          let v = line.values[k];
          if (d.log) v = v > 0 ? Math.log10(v) : low - 1;
          if (!Number.isFinite(v)) {
            started = false;
            continue;
          }
          if (started) c.lineTo(X(line.time[k]), Y(v));
          else c.moveTo(X(line.time[k]), Y(v));
          started = true;
        }
      }
      c.stroke();
    }
    c.restore();
    if (d.log && this.lines.length && !this.lines.some((l) => l.values.some((v) => v > 0))) c.fillText("nothing above zero", left + w / 2, top + h / 2 - 6);
    this.stale = false;
  }

  draw(t, style, locate) {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (!width || !height || !this.span) return;
    if (this.stale || this.size !== `${width}x${height}x${ratio}x${style.text}`) this.drawBase(width, height, ratio, style);
    this.size = `${width}x${height}x${ratio}x${style.text}`;
    if (this.canvas.width !== width * ratio || this.canvas.height !== height * ratio) {
      this.canvas.width = width * ratio;
      this.canvas.height = height * ratio;
    }
    const c = this.canvas.getContext("2d");
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    c.drawImage(this.base, 0, 0);
    c.scale(ratio, ratio);
    const x = Math.max(this.area.left, Math.min(this.area.left + this.area.width, this.X(t)));
    c.strokeStyle = style.cursor;
    c.lineWidth = 1.5;
    c.beginPath();
    c.moveTo(x, this.area.top - 2);
    c.lineTo(x, this.area.top + this.area.height + 2);
    c.stroke();
    this.lines.forEach((line, i) => {
      const v = line.values[Math.round(locate(line.time, t))];
      const give = line.band?.[Math.round(locate(line.time, t))];
      this.readouts[i].textContent = number(v) + (give === undefined ? "" : ` \u00b1 ${number(give, 2)}`);
    });
  }
}
