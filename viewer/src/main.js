// The page of `moreau view`: wires data, stage and plots to the controls.
import * as THREE from "three";
import { EmbeddedRecording, LiveRecording, RemoteRecording, locate, serverInfo } from "./data.js";
import { Editor } from "./edit.js";
import { FIXED, Model, loading, sceneBounds } from "./model.js";
import { visualSize } from "./shapes.js";
import { JOINT_REACH, drawGroups, drawHalfSpaces, drawJoints } from "./overlays.js";
import { Film } from "./film.js";
import { PLOTS, Plot, SERIES_COLORS, number, plotLines } from "./plots.js";
import { Stage } from "./stage.js";
import { Measure, drawBalance } from "./study.js";

const $ = (id) => document.getElementById(id);
// #t=1.5&ui=0&theme=light&play=1&contacts=1&body=peg&layout=side; the page may bring some of its own
const wish = new URLSearchParams(document.querySelector("script.look")?.textContent ?? "");
for (const [key, value] of new URLSearchParams(location.hash.slice(1))) wish.set(key, value);

const state = {
  t: 0, playing: false, speed: 1, measuring: false, ground: "grid", loop: false, selected: -1, model: 0, follow: false, theme: "dark", trails: "none", plots: true,
  options: { contacts: false, normals: false, forces: false, boxes: false, groups: false, spaces: false, joints: false, collision: false, balance: false, grid: true, shadows: true, forceScale: 1, forceUnit: 1 },
};
let recordings = [], models = [], plots = new Map(), live = null, editor = null, following = true, dirty = true, tracks = [], lastFollow = null, drawn = null;

const stage = new Stage($("canvas"), () => (dirty = true));
const redraw = () => (dirty = true);
const measure = new Measure(stage.scene);

function complain(text) {
  $("message").textContent = text;
  $("message").hidden = !text;
}

// ------------------------------------------------------------------------------------------ recordings

const label = (r) => {
  const d = r.description;
  return d.solver ? `${d.formulation} + ${d.solver}` : d.formulation;
};
// Names that tell recordings apart: by method, or by file if those are the same.
function labels() {
  const byMethod = recordings.map(label);
  return new Set(byMethod).size === byMethod.length ? byMethod : recordings.map((r, i) => r.description.file || byMethod[i]);
}

// A frame that may still be on its way.
function frameOf(r, i) {
  return new Promise((resolve) => {
    const look = () => {
      const f = r.frame(i);
      if (f || r.failed || r.frames === 0) resolve(f);
      else setTimeout(look, 10);
    };
    look();
  });
}

// The height of a horizontal plane, for the grid.
function floorHeight(d, frame) {
  for (const s of d.shapes) {
    if (s.kind !== "plane" || !frame) continue;
    const q = new THREE.Quaternion(frame.pose[7 * s.body + 4], frame.pose[7 * s.body + 5], frame.pose[7 * s.body + 6], frame.pose[7 * s.body + 3]);
    const z = new THREE.Vector3(0, 0, 1).applyQuaternion(new THREE.Quaternion(s.pose[4], s.pose[5], s.pose[6], s.pose[3])).applyQuaternion(q);
    if (z.z > 0.999) return frame.pose[7 * s.body + 2] + s.pose[2];
  }
  return null;
}

// Against gravity if it is along y, as some have it; else z.
function upOf(d) {
  const [x, y, z] = d.gravity, planes = d.shapes.some((s) => s.kind === "plane");
  return d.dimension === 3 && !planes && y < 0 && Math.hypot(x, z) < 0.01 * -y ? new THREE.Vector3(0, 1, 0) : new THREE.Vector3(0, 0, 1);
}

// A robot of which one sees nothing is its joints: bodies without shapes, or most of them with at most specks.
function isBare(d, extent) {
  const seen = new Set(), jointed = new Set((d.joints ?? []).flatMap((j) => j.bodies).filter((b) => b >= 0));
  for (const s of d.shapes) if (!(s.radius < 0.002 * extent)) seen.add(s.body);
  for (const v of d.visuals ?? []) if (!(visualSize(d.visuals, v) < 0.002 * extent)) seen.add(v.body);
  const bare = [...jointed].filter((b) => !seen.has(b)).length;
  return bare > (d.visuals?.length ? 0.5 * jointed.size : 0);
}

async function show() {
  const d = recordings[0].description, frame = await frameOf(recordings[0], 0);
  const laters = [];
  for (const r of live ? [] : recordings) for (const part of [0.25, 0.5, 0.75, 1]) laters.push(await frameOf(r, Math.round(part * (r.frames - 1))));
  const flat = d.dimension === 2, floor = flat ? null : floorHeight(d, frame), shown = !live && wish.has("t") && recordings[0].frames ? await frameOf(recordings[0], Math.round(recordings[0].index(Number(wish.get("t")) || 0))) : null;
  const bounds = sceneBounds(d, frame, laters, floor, shown);
  for (const m of models) {
    stage.scene.remove(m.group);
    m.dispose();
  }
  stage.side = recordings.length > 1 && wish.get("layout") === "side";
  models = recordings.map((r, i) => new Model(r, i, bounds.extent, state.theme, frame));
  stage.models = models;
  for (const m of models) stage.scene.add(m.group);
  const up = upOf(d), low = bounds.box.min.clone().multiply(up).dot(new THREE.Vector3(1, 1, 1));
  stage.frameScene(bounds, flat, floor ?? low - (d.bodies.some((b) => b.kind === FIXED) ? 0 : 0.2 * bounds.extent), up);
  setTheme(state.theme);
  setGround(wish.get("ground") ?? d.ground ?? "grid");
  arrange();
  // An arrow of a third of the scene: the heaviest body's weight, or a quarter of all of it.
  const masses = d.bodies.filter((b) => b.kind !== FIXED && b.mass > 0).map((b) => b.mass), g = Math.hypot(...d.gravity) || 9.81;
  state.options.forceUnit = (Math.max(...masses, masses.reduce((a, b) => a + b, 0) / 4) || 1) * g;
  document.title = `${d.name || d.file || "scene"} – Moreau`;
  $("title").textContent = d.name || d.file || "scene";
  showTags();
  listBodies(d);
  $("canvas").setAttribute("aria-label", `${d.name}: ${d.bodies.length} bodies. Drag to turn, right drag to move, wheel to zoom, click a body to choose it.`);
  $("layout").hidden = recordings.length < 2;
  $("spaces-label").hidden = !flat;
  $("joints-label").hidden = !(d.joints?.length > 0);
  $("collision-label").hidden = !(d.visuals?.length > 0);
  if (!wish.has("joints") && isBare(d, bounds.extent)) setOption("joints", true);
  else setOption("joints", state.options.joints); // its marks need room
  buildPlots();
  resize();
  stage.resetCamera();
}

function listBodies(d) {
  $("bodies").replaceChildren(new Option("none", "-1"), ...d.bodies.map((b, i) => new Option(b.name, String(i))));
}

function showTags() {
  const d = recordings[0].description;
  const bodies = d.bodies.length === 1 ? "1 body" : `${d.bodies.length} bodies`;
  const words = recordings.length > 1 ? labels() : [d.formulation, d.solver, bodies, `h ${number(d.step)} s`];
  $("tags").replaceChildren(...words.filter(Boolean).map((w) => Object.assign(document.createElement("span"), { textContent: w })));
}

// One over the other as ghosts, or side by side.
function arrange() {
  models.forEach((m, i) => {
    m.ghost = i > 0 && !stage.side;
    m.paint();
  });
  $("layout").textContent = stage.side ? "Overlay" : "Side by side";
  const { columns, rows, count } = stage.tiles(), names = labels(), box = $("tiles");
  box.style.gridTemplate = `repeat(${rows}, 1fr) / repeat(${columns}, 1fr)`;
  box.replaceChildren();
  if (recordings.length > 1)
    for (let i = 0; i < (stage.side ? count : 1); i++) {
      const tile = document.createElement("div");
      for (const k of stage.side ? [i] : recordings.keys()) {
        const text = document.createElement("span"), dot = document.createElement("i");
        dot.style.background = stage.side ? SERIES_COLORS[state.theme][k % 4] : k === 0 ? "#8a96a3" : models[k].bodyColor(0);
        text.append(dot, `${stage.side || k === 0 ? "" : "ghost: "}${names[k]}`);
        tile.append(text, " ");
      }
      if (!stage.side) tile.style.border = "0";
      box.append(tile);
    }
  redraw();
}

// ------------------------------------------------------------------------------------------ time

const range = () => {
  const r = recordings[0];
  let end = 0;
  for (const x of recordings) end = Math.max(end, x.frames ? x.time(x.frames - 1) : 0);
  return [r?.frames ? r.time(0) : 0, end];
};

function seek(t, from = "user") {
  const [a, b] = range();
  state.t = Math.max(a, Math.min(b, t));
  if (live && from === "user") following = state.t >= b;
  redraw();
}

function stepFrames(n) {
  const r = recordings[0];
  play(false);
  const i = r.index(state.t);
  const next = n > 0 ? Math.floor(i + 1e-6) + n : Math.ceil(i - 1e-6) + n;
  if (live && n > 0 && next >= r.frames) {
    live.send("step");
    following = true;
    return;
  }
  seek(r.time(Math.max(0, Math.min(r.frames - 1, next))));
}

function play(on) {
  if (live) {
    live.send(on ? "run" : "pause");
    if (on) following = true;
    return;
  }
  const [a, b] = range();
  if (on && state.t >= b) state.t = a;
  state.playing = on;
  showPlay(on);
  redraw();
}

function showPlay(on) {
  $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  $("play").querySelector("path").setAttribute("d", on ? "M4 3h4v14H4zM12 3h4v14h-4z" : "M5 3v14l12-7z");
}

function advance(seconds) {
  if (live) {
    if (following && live.frames) state.t = live.time(live.frames - 1);
    return;
  }
  if (!state.playing) return;
  const [a, b] = range();
  state.t += seconds * state.speed;
  if (state.t >= b) {
    if (state.loop && b > a) state.t = a + ((state.t - a) % (b - a));
    else {
      state.t = b;
      play(false);
      if (film) setTimeout(() => film && endFilm(), 200); // the last picture too
    }
  }
  dirty = true;
}

// ------------------------------------------------------------------------------------------ films

let film = null;

// From the start to the end at the chosen speed; a running simulation until the button is pressed again.
function beginFilm() {
  film = new Film($("canvas"), (message) => complain(message));
  $("film").setAttribute("aria-pressed", "true");
  if (live) return;
  state.loop = false;
  $("loop").setAttribute("aria-pressed", "false");
  seek(range()[0]);
  play(true);
}

async function endFilm() {
  const done = film;
  film = null;
  $("film").setAttribute("aria-pressed", "false");
  await done.save((recordings[0].description.name || "moreau").replace(/[^\w.-]+/g, "_"));
}

// ------------------------------------------------------------------------------------------ drawing

function place() {
  let complete = true;
  models.forEach((m) => {
    const r = m.recording;
    if (!r.frames) return;
    const i = r.index(state.t);
    let k = Math.floor(i + 1e-6), s = i - k;
    if (s < 1e-5) s = 0;
    const a = r.frame(k), b = s > 0 ? r.frame(k + 1) : null;
    if (!a) {
      complete = false;
      return;
    }
    m.view = m.flat ? stage.flatView() : null;
    m.place(a, b, s);
    const near = s > 0.5 && b ? b : a;
    m.now = near;
    m.showContacts(near, state.options);
    m.showBoxes(state.options.boxes);
    m.grouped = drawGroups(m, near.contacts, state.options.groups && !m.ghost);
    if (m.flat) m.halved = drawHalfSpaces(m, near.contacts, state.options.spaces, m.view);
    drawJoints(m, state.options.joints);
    m.balanced = drawBalance(m, near, state.options.balance, state.selected, upwards(m));
    m.cutTrails(state.t);
  });
  return complete;
}

// Against gravity; without gravity what the page takes for up.
function upwards(m) {
  const g = m.recording.description.gravity, up = new THREE.Vector3(-g[0], -g[1], -g[2]);
  return up.length() > 0 ? up.normalize() : m.flat ? up.set(0, 1, 0) : stage.up;
}

// The distance of two picked points, written beside the line between them.
function showMeasure() {
  const found = measure.draw(models, models[0].markSize()), label = $("measured");
  measure.result = found;
  label.hidden = !found;
  if (!found) return;
  const p = stage.project(found.at.x, found.at.y, found.at.z, 0), { x, y, z } = found.delta;
  label.textContent = `${number(found.distance, 5)} m (${[x, y, ...(models[0].flat ? [] : [z])].map((v) => number(v, 4)).join(", ")})`;
  label.style.left = `${Math.max(4, Math.min(stage.width - 190, p.x + 8))}px`;
  label.style.top = `${Math.max(4, Math.min(stage.height - 30, p.y - 12))}px`;
}

function setMeasuring(on) {
  state.measuring = on;
  $("measure").setAttribute("aria-pressed", String(on));
  $("canvas").style.cursor = on ? "crosshair" : "";
  if (!on) measure.clear();
  complain(on ? "Click two points, or choose bodies with [ and ] and press Enter for their centres of mass. M or Esc ends it." : "");
  redraw();
}

function measurePoint(model, body, point) {
  measure.add(model, body, point);
  complain("");
  redraw();
}

function follow() {
  const m = models[state.model];
  stage.following = state.follow && state.selected >= 0;
  if (!stage.following || !m) {
    lastFollow = null;
    return;
  }
  const p = m.centre(state.selected);
  if (!(p.x === p.x)) return;
  if (lastFollow) stage.moveBy(p.clone().sub(lastFollow));
  else stage.moveBy(p.clone().sub(stage.controls.target));
  lastFollow = p;
  stage.controls.update();
}

const vector = (a, o, n = 3) => Array.from({ length: n }, (_, k) => number(a[o + k], 3)).join(", ");

function showBody() {
  const m = models[state.model], i = state.selected;
  $("body").hidden = i < 0;
  editor?.chosen();
  if (i < 0 || !m?.now) return;
  const b = m.bodies[i], f = m.now, c = f.contacts, flat = m.flat;
  let force = [0, 0, 0], touching = 0;
  for (let k = 0; k < c.count; k++)
    for (const [side, sign] of [[0, -1], [1, 1]])
      if (c.body[2 * k + side] === i) {
        touching++;
        for (let j = 0; j < 3; j++) force[j] += sign * c.force[3 * k + j];
      }
  const rows = [
    ["Kind", ["dynamic", "fixed", "kinematic"][b.kind] ?? "?"],
    b.kind === 0 ? ["Mass [kg]", number(b.mass)] : null,
    ["Position [m]", vector(f.pose, 7 * i, flat ? 2 : 3)],
    flat ? ["Angle [rad]", number(2 * Math.atan2(f.pose[7 * i + 6], f.pose[7 * i + 3]))] : ["Quaternion", vector(f.pose, 7 * i + 3, 4)],
    ["Velocity [m/s]", vector(f.velocity, 6 * i, flat ? 2 : 3)],
    flat ? ["Turning [rad/s]", number(f.velocity[6 * i + 5])] : ["Turning [rad/s]", vector(f.velocity, 6 * i + 3)],
    ["Speed [m/s]", number(Math.hypot(...f.velocity.slice(6 * i, 6 * i + 3)))],
    ...(m.recording.description.joints ?? []).filter((j) => j.bodies[1] === i || (j.bodies[1] < 0 && j.bodies[0] === i)).slice(0, 4).map((j) => [`Joint ${j.name.split("/").pop()}`, j.kind]),
    ["Contacts", String(touching)],
    ["Contact force [N]", vector(force, 0, flat ? 2 : 3)],
  ].filter(Boolean);
  $("body-name").textContent = b.name + (models.length > 1 ? ` (${labels()[state.model]})` : "");
  const list = $("body-state");
  if (list.children.length !== 2 * rows.length) list.replaceChildren(...rows.flatMap(() => [document.createElement("dt"), document.createElement("dd")]));
  rows.forEach(([name, value], k) => {
    list.children[2 * k].textContent = name;
    list.children[2 * k + 1].textContent = value;
  });
}

function showClock() {
  const [a, b] = range(), r = recordings[0], scrub = $("scrub");
  scrub.min = a;
  scrub.max = b > a ? b : a + 1e-9;
  if (document.activeElement !== scrub || Math.abs(scrub.value - state.t) > 1e-9) scrub.value = state.t;
  const digits = b >= 100 ? 2 : 3, frame = models[0]?.now;
  scrub.setAttribute("aria-valuetext", `${state.t.toFixed(digits)} seconds of ${b.toFixed(digits)}`);
  $("clock").replaceChildren(Object.assign(document.createElement("b"), { textContent: `${state.t.toFixed(digits)} s` }), ` of ${b.toFixed(digits)} · ${frame ? `step ${frame.step}` : r?.failed ? r.failed : "loading"}`);
}

function plotStyle() {
  const css = getComputedStyle(document.documentElement);
  return { text: css.getPropertyValue("--quiet").trim(), grid: css.getPropertyValue("--grid").trim(), cursor: css.getPropertyValue("--cursor").trim() };
}

let style = null;
function draw() {
  const complete = place();
  follow();
  showMeasure();
  stage.render();
  showClock();
  showBody();
  style ??= plotStyle();
  if (state.plots) for (const p of plots.values()) p.draw(state.t, style, locate);
  drawn = complete ? state.t : null;
}

let before = performance.now(), lastLivePlot = 0;
function tick(now) {
  advance(Math.min(0.1, (now - before) / 1000));
  before = now;
  if (live && dirty && now - lastLivePlot > 250) {
    lastLivePlot = now;
    refreshPlots();
  }
  if (dirty && recordings.length && models.length) {
    dirty = false;
    draw();
  }
  requestAnimationFrame(tick);
}

// ------------------------------------------------------------------------------------------ plots

function buildPlots() {
  // trees in minimal coordinates have joints that cannot open
  const jointed = recordings.some((r) => r.description.joints?.length && ((live && r.description.equations > 0) || r.series?.columns.joint_error?.some((e) => e > 0))), offered = PLOTS.filter((p) => jointed || !p.joints);
  const usual = jointed ? "energy,joint_error,contacts" : "energy,penetration,contacts";
  const chosen = (wish.get("plots") ?? (innerWidth < 640 ? "energy" : usual)).split(",");
  plots = new Map();
  $("figures").replaceChildren();
  $("chips").replaceChildren(
    ...offered.map((definition) => {
      const b = document.createElement("button");
      b.textContent = definition.title;
      b.dataset.plot = definition.key;
      b.setAttribute("aria-pressed", "false");
      b.onclick = () => togglePlot(definition, b);
      return b;
    }),
  );
  for (const d of offered) if (chosen.includes(d.key)) togglePlot(d, $("chips").querySelector(`[data-plot="${d.key}"]`));
  chips();
}

function togglePlot(definition, button) {
  const old = plots.get(definition.key);
  if (old) {
    old.element.remove();
    plots.delete(definition.key);
  } else {
    const plot = new Plot(definition, (t) => {
      if (!live) play(false);
      seek(t);
    });
    plots.set(definition.key, plot);
    const order = PLOTS.map((p) => p.key), all = [...plots.keys()].sort((a, b) => order.indexOf(a) - order.indexOf(b));
    $("figures").replaceChildren(...all.map((k) => plots.get(k).element));
    fillPlot(plot);
  }
  button.setAttribute("aria-pressed", String(!old));
  resize();
}

function sources() {
  const names = labels();
  return recordings.map((r, i) => ({ series: r.series, label: names[i], track: tracks[i], flat: r.description.dimension === 2, bands: r.description.bands, body: state.selected }));
}

function fillPlot(plot) {
  if (!recordings.length) return;
  const d = plot.definition, subject = d.body && state.selected >= 0 ? recordings[0].description.bodies[state.selected]?.name : "";
  plot.set(plotLines(d, sources(), state.theme), subject, recordings[0].description.bands?.label);
  if (d.body && state.selected < 0) plot.title.textContent = `${d.title}: choose a body`;
  redraw();
}

function chips() {
  for (const b of $("chips").children) b.title = PLOTS.find((p) => p.key === b.dataset.plot).body && state.selected < 0 ? "Choose a body first" : "";
}

async function refreshPlots() {
  if (state.selected >= 0 && [...plots.values()].some((p) => p.definition.body)) await loadTracks();
  for (const p of plots.values()) fillPlot(p);
  if (state.trails !== "none" && live) for (const m of models) m.loadTrails(state.trails).then(redraw);
}

async function loadTracks() {
  const i = state.selected;
  const found = await Promise.all(recordings.map((r) => (i >= 0 && i < r.description.bodies.length ? r.track(i) : null)));
  if (i === state.selected) tracks = found;
}

// ------------------------------------------------------------------------------------------ choices

async function choose(body, model = state.model) {
  state.selected = body;
  state.model = model;
  models.forEach((m, k) => {
    m.selected = k === model || stage.side ? body : -1;
    m.paint();
  });
  $("bodies").value = String(body);
  if (body < 0) {
    state.follow = false;
    $("follow").checked = false;
    tracks = [];
  }
  redraw();
  chips();
  if (body >= 0) {
    const b = $("chips").querySelector('[data-plot="position"]');
    if (![...plots.values()].some((p) => p.definition.body)) b.click();
    try {
      await loadTracks();
    } catch (error) {
      complain(String(error.message ?? error));
    }
  }
  for (const p of plots.values()) if (p.definition.body) fillPlot(p);
  setTrails(state.trails);
}

function setTrails(which) {
  state.trails = which;
  $("trails").value = which;
  for (const m of models) {
    const keep = m.selected;
    m.selected = state.selected;
    m.loadTrails(which).then(redraw, (e) => complain(String(e.message ?? e)));
    m.selected = keep;
  }
}

function setOption(name, on) {
  state.options[name] = on;
  const box = document.querySelector(`[data-option="${name}"]`);
  if (box) box.checked = on;
  if (name === "grid" && stage.grid) stage.grid.visible = on;
  if (name === "joints" && stage.home) stage.setPad(on && models[0]?.joints.length ? JOINT_REACH * stage.home.extent : 0);
  if (name === "collision")
    for (const m of models) {
      m.collision = on;
      m.paint();
    }
  if (name === "shadows") {
    stage.renderer.shadowMap.enabled = on;
    stage.sun.castShadow = on;
    for (const m of models) m.paint();
  }
  for (const part of $("legend").children) part.hidden = !part.dataset.of.split(" ").some((o) => state.options[o]);
  $("legend").hidden = ![...$("legend").children].some((part) => !part.hidden);
  redraw();
}

// How horizontal planes are drawn: grid, checker, plain, none.
function setGround(style) {
  state.ground = ["grid", "checker", "plain", "none"].includes(style) ? style : "grid";
  $("ground").value = state.ground;
  for (const m of models) m.setGround(state.ground, stage.gridSpacing ?? m.extent / 5);
  setOption("grid", wish.has("grid") ? wish.get("grid") === "1" : state.ground === "grid");
}

function setTheme(theme) {
  state.theme = theme;
  document.documentElement.dataset.theme = theme;
  $("theme").textContent = theme === "dark" ? "Light" : "Dark";
  stage.setTheme(theme);
  for (const m of models) {
    m.theme = theme;
    m.paint();
  }
  style = null;
  for (const p of plots.values()) fillPlot(p);
  if (stage.grid) stage.grid.visible = state.options.grid;
  if (recordings.length > 1 && models.length) arrange();
  redraw();
}

function togglePanel(id, button, on = $(id).hidden) {
  $(id).hidden = !on;
  button?.setAttribute("aria-expanded", String(on));
  button?.setAttribute("aria-pressed", String(on));
}

function setSpeed(by) {
  const select = $("speed");
  const i = Math.max(0, Math.min(select.options.length - 1, select.selectedIndex + by));
  select.selectedIndex = i;
  state.speed = Number(select.value);
  if (live) live.send(`speed ${state.speed}`);
}

function resize() {
  const box = $("stage").getBoundingClientRect();
  if (!stage.resize(box.width, box.height)) return;
  if (recordings.length > 1 && models.length) arrange();
  if (recordings.length && models.length && drawn !== null) draw(); // at once: a new size empties the canvas
  redraw();
}

// ------------------------------------------------------------------------------------------ live

function connect() {
  return new Promise((resolve) => {
    live = LiveRecording.connect((event, value) => {
      if (event === "ready") {
        recordings = [live];
        resolve();
      } else if (event === "state") showLive(value);
      else if (event === "changed") models.forEach((m) => (m.bodies = live.description.bodies));
      else if (event === "rebuilt") dropModels();
      else if (event === "frame" && editor && !models.length) rebuildModels();
      else if (event === "closed") complain("The simulation has ended, or the connection was lost.");
      if (event === "reset") following = true;
      dirty = true;
    });
  });
}

function showLive(s) {
  showPlay(s.running);
  state.playing = s.running;
  editor?.state(s);
  const d = live.description;
  d.formulation = s.formulation;
  d.solver = s.solver;
  d.step = s.step;
  if (models.length) showTags();
  $("live-state").textContent =
    s.note || `${s.running ? "running" : "paused"}, ${s.clients} ${s.clients === 1 ? "browser" : "browsers"}, ${s.sent} frames sent here, ${s.dropped} skipped`;
}

// Other bodies: the old ones are gone until the first frame with the new ones is here.
function dropModels() {
  state.chosenName = models[0]?.bodies[state.selected]?.name;
  for (const m of models) {
    stage.scene.remove(m.group);
    m.dispose();
  }
  models = stage.models = [];
}

function rebuildModels() {
  const d = live.description;
  stage.following = false;
  models = stage.models = [new Model(live, 0, stage.home.extent, state.theme, live.frame(0))];
  stage.scene.add(models[0].group);
  models[0].collision = state.options.collision;
  models[0].setGround(state.ground, stage.gridSpacing);
  showTags();
  listBodies(d);
  editor.makeSliders();
  editor.state(live.state);
  following = true;
  choose(d.bodies.findIndex((b) => b.name === state.chosenName), 0);
}

// Where a new body appears: above the chosen one, or above the middle of the scene.
function placeAbove() {
  const m = models[0], extent = stage.home.extent, up = m.flat ? new THREE.Vector3(0, 1, 0) : stage.up;
  const at = state.selected >= 0 ? m.centre(state.selected) : stage.home.centre.clone(), box = new THREE.Box3();
  const own = state.selected >= 0 && m.bounds(state.selected);
  if (own) box.union(own);
  else m.bodies.forEach((b, i) => b.kind !== FIXED && m.bounds(i) && box.union(m.bounds(i)));
  const top = box.isEmpty() ? at.dot(up) : box.max.dot(up);
  at.addScaledVector(up, Math.min(top, stage.home.centre.dot(up) + 4 * extent) - at.dot(up) + 0.2 * extent);
  return [at.x, at.y, m.flat ? 0 : at.z];
}

function setUpLive() {
  $("open-live").hidden = false;
  $("open-live").onclick = () => togglePanel("live", $("open-live"));
  togglePanel("live", $("open-live"), innerWidth >= 640);
  $("now").hidden = $("reset").hidden = false;
  $("loop").hidden = $("to-start").hidden = true;
  editor = new Editor({ live, chosen: () => state.selected, size: () => stage.home.extent, height: placeAbove });
  editor.state(live.state);
  $("reset").onclick = () => live.send("reset");
  $("now").onclick = () => ((following = true), redraw());
}

// ------------------------------------------------------------------------------------------ pointer and keys

// Without a pointer: the body is pulled up by half the size of the scene for half a second.
function lift(body) {
  const m = models[0];
  if (body < 0 || m.bodies[body].kind !== 0) return;
  const p = m.centre(body), up = 0.5 * m.extent, com = m.bodies[body].com ?? [0, 0, 0];
  live.send(`drag ${body} ${[...com, p.x, p.y + (m.flat ? up : 0), p.z + (m.flat ? 0 : up)].map((x) => x.toPrecision(9)).join(" ")}`);
  setTimeout(() => live.send("drop"), 500);
}

function wirePointer() {
  const canvas = $("canvas");
  let start = null, drag = null;
  const at = (e) => {
    const box = canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  };
  canvas.addEventListener(
    "pointerdown",
    (e) => {
      start = at(e);
      if (!(live && e.shiftKey && e.button === 0)) return;
      const hit = stage.pick(...start);
      if (!hit || hit.model.bodies[hit.body].kind !== 0) return;
      const p = hit.model.pose.subarray(7 * hit.body, 7 * hit.body + 7);
      const local = hit.point.clone().sub(new THREE.Vector3(p[0], p[1], p[2])).applyQuaternion(new THREE.Quaternion(p[4], p[5], p[6], p[3]).invert());
      drag = { body: hit.body, local, point: hit.point.clone() };
      choose(hit.body, 0);
      stage.controls.enabled = false;
      canvas.setPointerCapture(e.pointerId);
      e.stopImmediatePropagation();
    },
    { capture: true },
  );
  canvas.addEventListener("pointermove", (e) => {
    if (!drag) return;
    const target = stage.onPlane(...at(e), drag.point);
    if (target) live.send(`drag ${drag.body} ${[drag.local, target].flatMap((v) => [v.x, v.y, v.z]).map((x) => x.toPrecision(9)).join(" ")}`);
  });
  const end = (e) => {
    if (drag) {
      live.send("drop");
      drag = null;
      stage.controls.enabled = true;
    } else if (start && e.type === "pointerup" && e.button === 0) {
      const [x, y] = at(e);
      if (Math.hypot(x - start[0], y - start[1]) < 5) {
        const hit = stage.pick(x, y);
        if (state.measuring) hit && measurePoint(hit.model, hit.body, hit.point);
        else choose(hit ? hit.body : -1, hit ? models.indexOf(hit.model) : 0);
      }
    }
    start = null;
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
}

function wireControls() {
  $("play").onclick = () => play(!state.playing);
  $("back").onclick = () => stepFrames(-1);
  $("forward").onclick = () => stepFrames(1);
  $("to-start").onclick = () => seek(range()[0]);
  $("loop").onclick = () => {
    state.loop = !state.loop;
    $("loop").setAttribute("aria-pressed", String(state.loop));
  };
  $("scrub").oninput = () => {
    if (!live) play(false);
    seek(Number($("scrub").value));
  };
  $("speed").onchange = () => setSpeed(0);
  $("theme").onclick = () => setTheme(state.theme === "dark" ? "light" : "dark");
  $("fit").onclick = () => stage.resetCamera();
  $("ground").onchange = () => {
    wish.delete("grid");
    setGround($("ground").value);
  };
  $("film").hidden = !Film.possible();
  $("film").onclick = () => (film ? endFilm() : beginFilm());
  $("measure").onclick = () => setMeasuring(!state.measuring);
  $("layout").onclick = () => {
    stage.side = !stage.side;
    arrange();
    stage.resetCamera();
    choose(state.selected, state.model);
  };
  $("open-layers").onclick = () => togglePanel("layers", $("open-layers"));
  $("open-help").onclick = () => $("help").showModal();
  $("body-close").onclick = () => choose(-1);
  $("follow").onchange = () => ((state.follow = $("follow").checked), redraw());
  $("trails").onchange = () => setTrails($("trails").value);
  $("view").onchange = () => ($("view").value ? stage.lookAlong($("view").value) : stage.resetCamera());
  $("bodies").onchange = () => choose(Number($("bodies").value));
  $("force-scale").oninput = () => ((state.options.forceScale = 10 ** Number($("force-scale").value)), redraw());
  for (const box of document.querySelectorAll("[data-option]")) box.onchange = () => setOption(box.dataset.option, box.checked);
  const toggles = { c: "contacts", n: "normals", f: "forces", b: "boxes", g: "grid", h: "shadows", e: "groups", s: "spaces", j: "joints", a: "collision", k: "balance" };
  addEventListener("keydown", (e) => {
    const tag = e.target.tagName, typing = tag === "SELECT" || tag === "SUMMARY" || (tag === "INPUT" && (e.target.type === "number" || e.target.type === "text" || e.target.closest("#sliders")));
    if (e.ctrlKey || e.metaKey || e.altKey || typing || $("help").open) return;
    if (tag === "BUTTON" && (e.key === " " || e.key === "Enter")) return;
    const key = e.key.toLowerCase();
    const count = recordings[0]?.description.bodies.length ?? 0;
    const actions = {
      " ": () => play(!state.playing),
      arrowleft: () => stepFrames(e.shiftKey ? -10 : -1),
      arrowright: () => stepFrames(e.shiftKey ? 10 : 1),
      arrowup: () => setSpeed(1),
      arrowdown: () => setSpeed(-1),
      l: () => $("loop").click(),
      m: () => setMeasuring(!state.measuring),
      enter: () => state.measuring && state.selected >= 0 && measurePoint(models[state.model], state.selected, models[state.model].centre(state.selected)),
      o: () => !$("layout").hidden && $("layout").click(),
      p: () => {
        state.plots = !state.plots;
        document.body.classList.toggle("no-plots", !state.plots);
        resize();
      },
      r: () => setTrails({ none: "chosen", chosen: "all", all: "none" }[state.trails]),
      t: () => $("theme").click(),
      u: () => live && lift(state.selected),
      v: () => state.selected >= 0 && $("follow").click(),
      delete: () => editor?.remove(),
      home: () => stage.resetCamera(),
      "[": () => count && choose((state.selected <= 0 ? count : state.selected) - 1),
      "]": () => count && choose((state.selected + 1) % count),
      "?": () => $("help").showModal(),
      escape: () => (state.measuring ? setMeasuring(false) : state.selected >= 0 ? choose(-1) : togglePanel("layers", $("open-layers"), false)),
    };
    const action = toggles[key] && !e.shiftKey ? () => setOption(toggles[key], !state.options[toggles[key]]) : actions[key];
    if (!action) return;
    e.preventDefault();
    action();
  });
  new ResizeObserver(resize).observe($("stage"));
}

// ------------------------------------------------------------------------------------------ start

async function start() {
  const dark = wish.get("theme") ?? (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");
  setTheme(dark === "light" ? "light" : "dark");
  if (wish.get("ui") === "0") document.body.classList.add("bare");
  wireControls();
  wirePointer();
  for (const name of Object.keys(state.options)) if (typeof state.options[name] === "boolean") setOption(name, wish.has(name) ? wish.get(name) === "1" : state.options[name]);
  const inside = document.querySelectorAll("script.recording");
  if (inside.length) for (const element of inside) recordings.push(await EmbeddedRecording.open(element.textContent));
  else if (location.protocol.startsWith("http")) {
    const info = await serverInfo();
    if (info.live) await connect();
    else for (let i = 0; i < info.recordings; i++) recordings.push(await RemoteRecording.open(i, redraw));
  } else throw new Error("This page has no recording inside. Make one with: moreau view FILE.h5 --html FILE.html");
  if (live) await new Promise((resolve) => {
    const wait = () => (live.frames ? resolve() : setTimeout(wait, 10));
    wait();
  });
  await show();
  await Promise.all(loading);
  if (live) setUpLive();
  if (wish.has("trails")) setTrails(wish.get("trails"));
  if (wish.has("body")) await choose(recordings[0].description.bodies.findIndex((b) => b.name === wish.get("body")));
  if (wish.get("follow") === "1" && state.selected >= 0) state.follow = $("follow").checked = true;
  if (wish.has("view")) stage.lookAlong(wish.get("view"));
  if (Number(wish.get("zoom")) > 0) stage.zoom(Number(wish.get("zoom")));
  seek(wish.has("t") ? Number(wish.get("t")) || 0 : range()[0], "start");
  if (wish.get("play") === "1") play(true);
  draw();
  requestAnimationFrame(tick);
}

// For tests and pictures: window.moreau.ready resolves when the first frame has been drawn.
window.moreau = {
  state,
  get recordings() {
    return recordings;
  },
  get models() {
    return models;
  },
  get live() {
    return live;
  },
  measure,
  get editor() {
    return editor;
  },
  stage,
  seek,
  play,
  choose,
  setOption,
  project: (x, y, z, tile) => stage.project(x, y, z, tile),
  // resolves when what is wanted has been drawn
  settled: () =>
    new Promise((resolve) => {
      const look = () => (!dirty && drawn === state.t ? resolve() : requestAnimationFrame(look));
      requestAnimationFrame(look);
    }),
  ready: start().then(
    () => (document.body.dataset.ready = "1"),
    (error) => {
      complain(String(error.message ?? error));
      document.body.dataset.ready = "0";
      throw error;
    },
  ),
};
