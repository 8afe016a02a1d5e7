// What is measured in the picture: states of contacts, centres of mass over their support, distances.
import * as THREE from "three";

export const STATE_COLORS = { penetrating: "#ff4d4d", sticking: "#2fd07c", sliding: "#ff9d2e", near: "#4aa3ff" };
export const BALANCE_COLORS = { inside: "#2fd07c", outside: "#ff4d4d" };
export const MEASURE_COLOR = "#f45fd0";

const q = new THREE.Quaternion();

// ------------------------------------------------------------------------------------------ contacts

// The velocity of a body's material point in the world.
function pointVelocity(model, frame, body, p, out) {
  out.set(0, 0, 0);
  if (body < 0 || model.bodies[body].kind === 1) return out;
  const o = 7 * body, u = 6 * body, [cx, cy, cz] = model.bodies[body].com ?? [0, 0, 0], f = frame.pose, v = frame.velocity;
  const r = new THREE.Vector3(cx, cy, cz).applyQuaternion(q.set(f[o + 4], f[o + 5], f[o + 6], f[o + 3]));
  r.set(p.x - f[o] - r.x, p.y - f[o + 1] - r.y, p.z - f[o + 2] - r.z); // from the centre of mass
  return out.set(v[u + 3], v[u + 4], v[u + 5]).cross(r).add(new THREE.Vector3(v[u], v[u + 1], v[u + 2]));
}

// What a contact does: deeper than the tolerance; apart, or without force; sticking; sliding: faster across than a thousandth of
// what falls through the scene.
export function contactState(model, frame, i) {
  const c = frame.contacts, tolerance = model.gapTolerance();
  if (c.gap[i] < -tolerance) return "penetrating";
  if (!(Math.hypot(c.force[3 * i], c.force[3 * i + 1], c.force[3 * i + 2]) > 0)) return "near";
  const p = new THREE.Vector3(c.point[3 * i], c.point[3 * i + 1], c.point[3 * i + 2]), n = new THREE.Vector3(c.normal[3 * i], c.normal[3 * i + 1], c.normal[3 * i + 2]);
  const slip = pointVelocity(model, frame, c.body[2 * i + 1], p, new THREE.Vector3()).sub(pointVelocity(model, frame, c.body[2 * i], p, new THREE.Vector3()));
  slip.addScaledVector(n, -slip.dot(n));
  const g = Math.hypot(...model.recording.description.gravity) || 9.81;
  return slip.length() > 1e-3 * Math.sqrt(g * model.extent) ? "sliding" : "sticking";
}

// ------------------------------------------------------------------------------------------ balance

// Bodies whose common centre is shown: the chosen one with its robot, else every robot, else all that move.
export function balancedSets(model, chosen) {
  const robot = (i) => (model.bodies[i].name.includes("/") ? model.bodies[i].name.split("/")[0] : null);
  const moving = [...model.bodies.keys()].filter((i) => model.bodies[i].kind === 0 && model.bodies[i].mass > 0);
  if (chosen >= 0) {
    const name = robot(chosen), own = moving.filter((i) => (name === null ? i === chosen : robot(i) === name));
    return own.length ? [own] : [];
  }
  const names = [...new Set(moving.map(robot).filter((n) => n !== null))];
  if (names.length) return names.map((n) => moving.filter((i) => robot(i) === n));
  return moving.length ? [moving] : [];
}

// The convex hull of points [x, y], anticlockwise (Andrew's monotone chain).
export function hull(points) {
  const p = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]), cross = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  if (p.length < 3) return p;
  const half = (list) => {
    const out = [];
    for (const x of list) {
      while (out.length > 1 && cross(out.at(-2), out.at(-1), x) <= 0) out.pop();
      out.push(x);
    }
    return out.slice(0, -1);
  };
  return [...half(p), ...half(p.reverse())];
}

// How far [x, y] is inside of a hull, negative: outside. Of two points it is inside only on the line between them.
export function margin(polygon, [x, y]) {
  if (polygon.length === 0) return -Infinity;
  if (polygon.length < 3) {
    const [a, b = a] = polygon, l = Math.hypot(b[0] - a[0], b[1] - a[1]), t = l > 0 ? ((x - a[0]) * (b[0] - a[0]) + (y - a[1]) * (b[1] - a[1])) / l : -Math.hypot(x - a[0], y - a[1]);
    const side = l > 0 ? Math.abs((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / l : 0;
    return side > 1e-3 * l ? -Math.hypot(side, Math.max(0, -t, t - l)) : Math.min(t, l - t);
  }
  let least = Infinity;
  polygon.forEach(([ax, ay], k) => {
    const [bx, by] = polygon[(k + 1) % polygon.length], l = Math.hypot(bx - ax, by - ay) || 1;
    least = Math.min(least, ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / l);
  });
  return least;
}

// Centre of mass of a set and the points that carry it: { com, polygon (world points), inside, margin }.
export function balance(model, frame, set, up) {
  const com = new THREE.Vector3(), own = new Set(set), c = frame.contacts;
  let mass = 0;
  for (const i of set) {
    const at = model.centre(i);
    if (!(at.x === at.x)) continue; // removed
    com.addScaledVector(at, model.bodies[i].mass);
    mass += model.bodies[i].mass;
  }
  if (!(mass > 0)) return null;
  com.divideScalar(mass);
  const feet = [];
  for (let i = 0; i < (c?.count ?? 0); i++) {
    const a = own.has(c.body[2 * i]), b = own.has(c.body[2 * i + 1]);
    const push = (b ? 1 : -1) * (c.force[3 * i] * up.x + c.force[3 * i + 1] * up.y + c.force[3 * i + 2] * up.z);
    if (a !== b && push > 0) feet.push(new THREE.Vector3(c.point[3 * i], c.point[3 * i + 1], c.point[3 * i + 2]));
  }
  // two directions across `up`
  const e1 = new THREE.Vector3(Math.abs(up.x) < 0.9 ? 1 : 0, Math.abs(up.x) < 0.9 ? 0 : 1, 0), e2 = new THREE.Vector3();
  e1.addScaledVector(up, -e1.dot(up)).normalize();
  e2.crossVectors(up, e1);
  const height = feet.reduce((sum, p) => sum + p.dot(up), 0) / (feet.length || 1);
  const flat = hull(feet.map((p) => (model.flat ? [p.dot(e1), 0] : [p.dot(e1), p.dot(e2)])));
  const ends = model.flat && flat.length > 2 ? [flat[0], flat.reduce((m, p) => (p[0] > m[0] ? p : m))] : flat;
  const m = margin(ends, model.flat ? [com.dot(e1), 0] : [com.dot(e1), com.dot(e2)]);
  const place = ([x, y]) => new THREE.Vector3().addScaledVector(e1, x).addScaledVector(e2, y).addScaledVector(up, height);
  const foot = feet.length ? com.clone().addScaledVector(up, height - com.dot(up)) : null;
  return { com, foot, polygon: ends.map(place), inside: m >= 0, margin: m };
}

function basic(color, opacity = 1) {
  return { color, transparent: true, opacity, depthTest: false, depthWrite: false };
}

// Draws them; returns what was drawn. `up`: against gravity.
export function drawBalance(model, frame, on, chosen, up) {
  const parts = (model.balanceParts ??= model.group.add(new THREE.Group()).children.at(-1));
  for (const child of [...parts.children]) {
    child.geometry.dispose();
    child.material.dispose();
    parts.remove(child);
  }
  const drawn = [];
  for (const set of on && !model.ghost ? balancedSets(model, chosen) : []) {
    const b = balance(model, frame, set, up);
    if (!b) continue;
    drawn.push(b);
    const color = b.inside ? BALANCE_COLORS.inside : BALANCE_COLORS.outside, size = 0.012 * model.markSize(), lift = model.flat ? 0.04 * model.extent : 0;
    const ball = (at, s) => {
      const mesh = new THREE.Mesh(new THREE.SphereGeometry(s, 16, 12), new THREE.MeshBasicMaterial(basic(color)));
      mesh.position.copy(at).setZ(at.z + lift);
      return mesh;
    };
    parts.add(ball(b.com, size));
    if (b.foot) {
      parts.add(ball(b.foot, 0.6 * size));
      const line = (points) => new THREE.Line(new THREE.BufferGeometry().setFromPoints(points.map((p) => p.clone().setZ(p.z + lift))), new THREE.LineBasicMaterial(basic(color)));
      parts.add(line([b.com, b.foot]));
      if (b.polygon.length > 1) parts.add(line([...b.polygon, b.polygon[0]]));
      if (b.polygon.length > 2) {
        const triangles = [];
        for (let k = 1; k + 1 < b.polygon.length; k++) for (const p of [b.polygon[0], b.polygon[k], b.polygon[k + 1]]) triangles.push(p.x, p.y, p.z);
        const g = new THREE.BufferGeometry();
        g.setAttribute("position", new THREE.Float32BufferAttribute(triangles, 3));
        parts.add(new THREE.Mesh(g, new THREE.MeshBasicMaterial({ ...basic(color, 0.25), side: THREE.DoubleSide })));
      }
    }
  }
  for (const child of parts.children) {
    child.renderOrder = 14;
    child.frustumCulled = false;
    child.raycast = () => {};
  }
  return drawn;
}

// ------------------------------------------------------------------------------------------ distances

// Two points that move with the bodies they were picked on.
export class Measure {
  constructor(scene) {
    this.points = [];
    this.line = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial(basic(MEASURE_COLOR)));
    this.ends = [0, 1].map(() => new THREE.Mesh(new THREE.SphereGeometry(1, 16, 12), new THREE.MeshBasicMaterial(basic(MEASURE_COLOR))));
    for (const part of [this.line, ...this.ends]) {
      part.renderOrder = 20;
      part.frustumCulled = false;
      part.visible = false;
      part.raycast = () => {};
      scene.add(part);
    }
  }

  clear() {
    this.points = [];
  }

  // A point of the world on a body; a third one begins anew.
  add(model, body, point) {
    if (this.points.length === 2) this.clear();
    const o = 7 * body, p = model.pose;
    const local = point.clone().sub(new THREE.Vector3(p[o], p[o + 1], p[o + 2])).applyQuaternion(new THREE.Quaternion(p[o + 4], p[o + 5], p[o + 6], p[o + 3]).invert());
    this.points.push({ name: model.bodies[body].name, number: model.number, local });
  }

  // Where they are now: null when a body is gone.
  place(models) {
    const at = this.points.map(({ name, number, local }) => {
      const m = models[number], body = m ? m.bodies.findIndex((b) => b.name === name) : -1;
      if (body < 0 || !(m.pose[7 * body] === m.pose[7 * body])) return null;
      const o = 7 * body, p = m.pose;
      return local.clone().applyQuaternion(q.set(p[o + 4], p[o + 5], p[o + 6], p[o + 3])).add(new THREE.Vector3(p[o], p[o + 1], p[o + 2]));
    });
    return at.includes(null) ? [] : at;
  }

  // Draws; { at: middle, distance, delta } when there are two points, else null.
  draw(models, extent) {
    const at = this.place(models);
    this.ends.forEach((ball, k) => {
      ball.visible = !!at[k];
      if (at[k]) ball.position.copy(at[k]), ball.scale.setScalar(0.008 * extent);
    });
    this.line.visible = at.length === 2;
    if (at.length < 2) return null;
    this.line.geometry.dispose();
    this.line.geometry = new THREE.BufferGeometry().setFromPoints(at);
    const delta = at[1].clone().sub(at[0]);
    return { at: at[0].clone().lerp(at[1], 0.5), distance: delta.length(), delta };
  }
}
