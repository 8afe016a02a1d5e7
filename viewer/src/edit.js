// The panel of a running simulation: method, step, joints as sliders, bodies that are changed, added and removed.
import { number } from "./plots.js";

const $ = (id) => document.getElementById(id);
const SHAPES = {
  3: { sphere: ["radius"], box: ["length x", "y", "z"], capsule: ["radius", "length"], cylinder: ["radius", "length"] },
  2: { disc: ["radius"], box: ["length x", "y"] },
};

// Fields that are not being typed into follow what the simulation says.
function show(id, value) {
  if (document.activeElement !== $(id)) $(id).value = value;
}

// A field with a number that is sent when it was changed.
function field(id, send, allowed = (text) => text !== "" && Number.isFinite(Number(text))) {
  $(id).onchange = () => allowed($(id).value.trim()) && send($(id).value.trim());
}

function options(id, names, value) {
  $(id).replaceChildren(...names.map((n) => new Option(n)));
  $(id).value = value;
}

// `page`: { live, chosen() -> number, height() -> [x, y, z] where a new body goes, size() -> of the scene }
export class Editor {
  constructor(page) {
    this.page = page;
    const { live } = page, d = live.description, send = (text) => live.send(text);
    options("formulation", d.formulations, d.formulation);
    options("solver", d.solvers, d.solver);
    options("collision", d.collisions, d.collision);
    $("gravity").value = -d.gravity[d.dimension === 2 ? 1 : 2];
    for (const id of ["formulation", "solver", "collision"]) $(id).onchange = () => send(`${id} ${$(id).value}`);
    for (const id of ["gravity", "friction"]) field(id, (x) => send(`${id} ${Number(x)}`));
    field("step-length", (x) => send(`step ${Number(x)}`));
    field("epsilon", (x) => send(`epsilon ${x}`), (x) => x === "auto" || (x !== "" && Number.isFinite(Number(x))));
    this.ofBody("body-mass", "mass");
    this.ofBody("body-friction", "friction_of");
    $("body-remove").onclick = () => this.remove();
    $("original").onclick = () => send("original");
    const shapes = SHAPES[d.dimension];
    options("add-shape", Object.keys(shapes), Object.keys(shapes)[0]);
    $("add-shape").onchange = () => this.askSizes();
    $("add").onclick = () => this.add();
    this.askSizes();
    this.makeSliders();
  }

  get body() {
    return this.page.live.description.bodies[this.page.chosen()];
  }

  ofBody(id, word) {
    field(id, (x) => this.body && this.page.live.send(`${word} ${this.page.chosen()} ${Number(x)} ${this.body.name}`));
  }

  remove() {
    if (this.body && !this.body.link) this.page.live.send(`remove ${this.page.chosen()} ${this.body.name}`);
  }

  askSizes() {
    const d = this.page.live.description, names = SHAPES[d.dimension][$("add-shape").value];
    const size = Number((0.1 * this.page.size()).toPrecision(1));
    $("add-sizes").replaceChildren(
      ...names.map((name) => {
        const label = document.createElement("label"), input = document.createElement("input");
        Object.assign(input, { type: "number", min: 0, step: "any", value: name === "radius" ? size / 2 : size });
        input.setAttribute("aria-label", `${name}, metres`);
        label.className = "pick";
        label.append(`${name} [m] `, input);
        return label;
      }),
    );
  }

  add() {
    const sizes = [...$("add-sizes").querySelectorAll("input")].map((i) => Number(i.value)), mass = Number($("add-mass").value);
    while (sizes.length < 3) sizes.push(1);
    this.page.live.send(`add ${$("add-shape").value} ${[...sizes, mass, ...this.page.height()].map((x) => x.toPrecision(9)).join(" ")}`);
  }

  makeSliders() {
    const joints = this.page.live.description.joints ?? [];
    this.sliders = [];
    const rows = [];
    joints.forEach((joint, k) => {
      if (!joint.limits || k >= 128) return;
      const turns = joint.kind !== "prismatic", reach = turns ? Math.PI : this.page.size();
      let [low, high] = joint.limits;
      low = Number.isFinite(low ?? NaN) ? low : Number.isFinite(high ?? NaN) ? high - 2 * reach : -reach;
      high = Number.isFinite(joint.limits[1] ?? NaN) ? high : low + 2 * reach;
      const label = document.createElement("label"), name = document.createElement("span"), value = document.createElement("output"), slider = document.createElement("input");
      Object.assign(slider, { type: "range", min: low, max: high, step: "any", value: 0 });
      slider.setAttribute("aria-label", `${joint.name}, ${turns ? "radians" : "metres"}`);
      name.textContent = name.title = joint.name;
      slider.oninput = () => this.page.live.send(`joint ${k} ${Number(slider.value).toPrecision(9)} ${joint.name}`);
      label.append(name, value, slider);
      rows.push(label);
      this.sliders.push({ k, slider, value, turns });
    });
    $("sliders").replaceChildren(...rows);
    $("joints-part").hidden = rows.length === 0;
  }

  // What the simulation says of itself.
  state(s) {
    for (const id of ["formulation", "solver", "collision", "gravity"]) show(id, s[id]);
    show("step-length", s.step);
    show("epsilon", s.epsilon < 0 ? "auto" : s.epsilon);
    for (const { k, slider, value, turns } of this.sliders) {
      const q = s.joints?.[k];
      if (q === undefined || q === null) continue;
      if (document.activeElement !== slider || s.running) slider.value = q;
      value.textContent = `${number(q, 3)} ${turns ? "rad" : "m"}`;
    }
    $("original").hidden = !(s.edits > 0);
    $("original").textContent = `Undo ${s.edits === 1 ? "the change" : `all ${s.edits} changes`} of bodies and steps`;
  }

  // The chosen body: what can be changed of it.
  chosen() {
    const b = this.body, free = b && b.kind === 0 && !b.link;
    $("edit-body").hidden = !b;
    if (!b) return;
    $("body-mass-label").hidden = !free;
    $("body-friction-label").hidden = b.friction === null;
    $("body-remove").hidden = b.link;
    show("body-mass", Number(b.mass.toPrecision(6)));
    if (b.friction !== null) show("body-friction", b.friction);
  }
}
