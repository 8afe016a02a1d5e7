// What is drawn over the bodies for those who study methods: groups of exact geometry, half-spaces of planar worlds, joints.
import * as THREE from "three";

const GROUP_COLORS = ["#ff8ad8", "#7ee0ff", "#ffd166", "#9dff8a", "#c2a5ff", "#ff9f68"];
const SPACE_COLORS = ["#ff6b6b", "#5aa9ff", "#ffb454", "#5cc689"];
export const JOINT_COLOR = "#d97bff";

const color = new THREE.Color(), m = new THREE.Matrix4(), v = new THREE.Vector3(), q = new THREE.Quaternion(), zAxis = new THREE.Vector3(0, 0, 1);

// ------------------------------------------------------------------------------------------ groups

// Contacts of a frame by group: [{ members: [index], primary: [index] }]. The primary ones are those of the plane on which the pair
// is left; a formulation that does not say gets the one with the largest force, then the one with the largest gap.
export function groupsOf(contacts) {
  const found = new Map();
  for (let i = 0; i < contacts.count; i++) {
    if (!contacts.group[2 * i]) continue;
    const key = `${contacts.body[2 * i]},${contacts.body[2 * i + 1]},${contacts.group[2 * i]}`;
    if (!found.has(key)) found.set(key, { members: [], primary: [] });
    const group = found.get(key);
    group.members.push(i);
    if (contacts.group[2 * i + 1] < 0) group.primary.push(i);
  }
  const force = (i) => Math.hypot(contacts.force[3 * i], contacts.force[3 * i + 1], contacts.force[3 * i + 2]);
  for (const group of found.values()) {
    if (group.primary.length) continue;
    const pushed = group.members.filter((i) => force(i) > 0);
    const best = (list, value) => list.reduce((a, b) => (value(b) > value(a) ? b : a));
    group.primary.push(pushed.length ? best(pushed, force) : best(group.members, (i) => contacts.gap[i]));
  }
  return [...found.values()];
}

// Do contacts of a group stand for alternatives? Other formulations take every one of them.
export const isExact = (model) => /^peg/.test(model.recording.description.formulation);

// Marks in the colour of their group, the primary ones large, the others tied to them by lines.
export function drawGroups(model, contacts, on) {
  const groups = on && contacts && isExact(model) ? groupsOf(contacts) : [], count = groups.reduce((n, g) => n + g.members.length, 0);
  const marks = model.grow("groupMarks", count), lines = [], size = 0.007 * model.markSize(), lift = model.flat ? 0.03 * model.extent : 0;
  let k = 0;
  groups.forEach((g, number) => {
    color.set(GROUP_COLORS[number % GROUP_COLORS.length]);
    const first = g.primary[0];
    for (const i of g.members) {
      const primary = g.primary.includes(i), s = primary ? 2 * size : size;
      m.makeScale(s, s, s).setPosition(contacts.point[3 * i], contacts.point[3 * i + 1], contacts.point[3 * i + 2] + lift);
      marks.setMatrixAt(k, m);
      marks.setColorAt(k++, color);
      if (!primary) for (const j of [first, i]) lines.push(contacts.point[3 * j], contacts.point[3 * j + 1], contacts.point[3 * j + 2] + lift);
    }
  });
  marks.count = k;
  marks.instanceMatrix.needsUpdate = true;
  if (marks.instanceColor) marks.instanceColor.needsUpdate = true;
  model.setSegments(model.groupLines, lines);
  return { groups: groups.length, primaries: groups.reduce((n, g) => n + g.primary.length, 0), members: count };
}

// ------------------------------------------------------------------------------------------ half-spaces

// Does an edge of the body lie on the line through p with normal n? (2-D)
function ownsLine(model, body, px, py, nx, ny) {
  const o = 7 * body, tolerance = 1e-4 * model.extent;
  if (body < 0) return false;
  const angle = 2 * Math.atan2(model.pose[o + 6], model.pose[o + 3]), c = Math.cos(angle), s = Math.sin(angle);
  for (const shape of model.recording.description.shapes) {
    if (shape.body !== body) continue;
    if (shape.kind === "plane") return true;
    const points = shape.vertices ?? [], n = points.length / 3, turn = 2 * Math.atan2(shape.pose[6], shape.pose[3]);
    const distance = (k) => {
      const x = Math.cos(turn) * points[3 * k] - Math.sin(turn) * points[3 * k + 1] + shape.pose[0], y = Math.sin(turn) * points[3 * k] + Math.cos(turn) * points[3 * k + 1] + shape.pose[1];
      return nx * (c * x - s * y + model.pose[o] - px) + ny * (s * x + c * y + model.pose[o + 1] - py);
    };
    for (let k = 0; k < n; k++) if (Math.abs(distance(k)) < tolerance && Math.abs(distance((k + 1) % n)) < tolerance) return true;
  }
  return false;
}

// The part of a polygon [[x, y], ...] where nx x + ny y <= d.
function clip(polygon, nx, ny, d) {
  const out = [];
  polygon.forEach(([x, y], k) => {
    const [u, w] = polygon[(k + 1) % polygon.length], a = nx * x + ny * y - d, b = nx * u + ny * w - d;
    if (a <= 0) out.push([x, y]);
    if (a * b < 0) out.push([x + (a / (a - b)) * (u - x), y + (a / (a - b)) * (w - y)]);
  });
  return out;
}

// Half-spaces of the contacts of a planar frame: { nx, ny, d, owner, group, primary }; forbidden is nx x + ny y < d. Primary are those that push, with exact
// geometry those of the planes on which pairs are left.
export function halfSpaces(model, contacts) {
  const pushing = Array.from({ length: contacts.count }, (_, i) => i).filter((i) => Math.hypot(contacts.force[3 * i], contacts.force[3 * i + 1]) > 0);
  const primary = new Set(isExact(model) ? groupsOf(contacts).flatMap((g) => g.primary) : pushing), out = new Map();
  for (let i = 0; i < contacts.count; i++) {
    let nx = contacts.normal[3 * i], ny = contacts.normal[3 * i + 1];
    const px = contacts.point[3 * i], py = contacts.point[3 * i + 1], g = contacts.gap[i], a = contacts.body[2 * i], b = contacts.body[2 * i + 1];
    const ax = px - 0.5 * g * nx, ay = py - 0.5 * g * ny, bx = px + 0.5 * g * nx, by = py + 0.5 * g * ny;
    // the line is an edge of the first body, else one of the second, which pushes the other way
    const second = !ownsLine(model, a, ax, ay, nx, ny) && ownsLine(model, b, bx, by, nx, ny), [x, y] = second ? [bx, by] : [ax, ay];
    if (second) [nx, ny] = [-nx, -ny];
    const d = nx * x + ny * y, group = contacts.group[2 * i] ? `${a},${b},${contacts.group[2 * i]}` : "";
    const key = [second ? b : a, group, nx.toFixed(4), ny.toFixed(4), (d / model.extent).toFixed(5)].join();
    const known = out.get(key);
    if (known) known.primary ||= primary.has(i);
    else out.set(key, { nx, ny, d, owner: second ? b : a, group, primary: primary.has(i) });
  }
  return [...out.values()];
}

// Shaded where the formulation lets nobody be: every half-space, or with exact geometry only what lies in all half-spaces of a
// group at once; dashed lines are their borders, those that push drawn through.
export function drawHalfSpaces(model, contacts, on, view) {
  const parts = model.spaces;
  for (const child of [...parts.children]) {
    child.geometry.dispose();
    child.material.dispose();
    parts.remove(child);
  }
  if (!on || !contacts || !model.flat || model.ghost) return { spaces: 0, regions: 0 };
  const spaces = halfSpaces(model, contacts), exact = isExact(model), regions = new Map();
  spaces.forEach((s, k) => {
    const key = exact && s.group ? `${s.owner},${s.group}` : `alone ${k}`;
    if (!regions.has(key)) regions.set(key, []);
    regions.get(key).push(s);
  });
  const { left, right, top, bottom } = view, box = [[left, bottom], [right, bottom], [right, top], [left, top]], z = 0;
  let number = 0, shown = 0;
  for (const list of regions.values()) {
    let area = box;
    for (const s of list) area = clip(area, s.nx, s.ny, s.d);
    const hex = SPACE_COLORS[number++ % SPACE_COLORS.length];
    if (area.length > 2) {
      shown++;
      const triangles = [];
      for (let k = 1; k + 1 < area.length; k++) for (const [x, y] of [area[0], area[k], area[k + 1]]) triangles.push(x, y, z);
      const g = new THREE.BufferGeometry();
      g.setAttribute("position", new THREE.Float32BufferAttribute(triangles, 3));
      parts.add(new THREE.Mesh(g, new THREE.MeshBasicMaterial({ color: hex, transparent: true, opacity: 0.22, side: THREE.DoubleSide, depthTest: false, depthWrite: false })));
      parts.children.at(-1).renderOrder = 5;
    }
    for (const s of list) {
      const reach = 2 * Math.hypot(right - left, top - bottom), cx = (left + right) / 2, cy = (top + bottom) / 2, off = s.d - s.nx * cx - s.ny * cy;
      const x = cx + off * s.nx, y = cy + off * s.ny, g = new THREE.BufferGeometry();
      g.setAttribute("position", new THREE.Float32BufferAttribute([x - reach * s.ny, y + reach * s.nx, 0, x + reach * s.ny, y - reach * s.nx, 0], 3));
      const dash = (right - left) / 90;
      const line = new THREE.Line(g, s.primary ? new THREE.LineBasicMaterial({ color: hex, depthTest: false }) : new THREE.LineDashedMaterial({ color: hex, dashSize: dash, gapSize: dash, depthTest: false }));
      line.computeLineDistances();
      line.renderOrder = 6;
      parts.add(line);
    }
  }
  for (const child of parts.children) {
    child.raycast = () => {};
    child.frustumCulled = false;
  }
  return { spaces: spaces.length, regions: shown };
}

// ------------------------------------------------------------------------------------------ joints

const solid = () => new THREE.MeshBasicMaterial({ color: JOINT_COLOR, transparent: true, opacity: 0.95, depthTest: false });

const JOINT_SIZE = 0.13; // of a joint's mark, of the scene
export const JOINT_REACH = 0.6 * JOINT_SIZE; // how far a mark goes from its joint: half an axis and the head of an arrow

// What a joint looks like, its axis along z, one unit long.
function jointParts(kind) {
  const shaft = () => new THREE.CylinderGeometry(0.025, 0.025, 1, 10).rotateX(Math.PI / 2);
  const head = (s) => new THREE.ConeGeometry(0.07, 0.18, 14).rotateX((s * Math.PI) / 2).translate(0, 0, s * 0.5);
  switch (kind) {
    case "revolute":
    case "continuous":
      return [shaft(), new THREE.TorusGeometry(0.2, 0.025, 8, 28)];
    case "prismatic":
      return [shaft(), head(1), head(-1)];
    case "cylindrical":
      return [shaft(), head(1), head(-1), new THREE.TorusGeometry(0.2, 0.025, 8, 28)];
    case "universal":
      return [shaft(), new THREE.TorusGeometry(0.2, 0.025, 8, 28), new THREE.TorusGeometry(0.2, 0.025, 8, 28).rotateX(Math.PI / 2)];
    case "planar":
      return [shaft(), new THREE.RingGeometry(0.32, 0.4, 4)];
    case "spherical":
    case "distance":
      return [new THREE.SphereGeometry(0.12, 16, 12)];
    default:
      return [new THREE.BoxGeometry(0.16, 0.16, 0.16)];
  }
}

export function makeJoints(model) {
  const joints = model.recording.description.joints ?? [], byKind = new Map();
  model.joints = [];
  joints.forEach((joint, number) => {
    if (!byKind.has(joint.kind)) byKind.set(joint.kind, jointParts(joint.kind));
    const group = new THREE.Group(), material = solid();
    for (const geometry of byKind.get(joint.kind)) {
      const mesh = new THREE.Mesh(geometry, material);
      mesh.renderOrder = 9;
      mesh.raycast = () => {};
      group.add(mesh);
    }
    group.matrixAutoUpdate = false;
    model.group.add(group);
    model.joints.push({ joint, number, group });
  });
  model.bones = model.segments(new THREE.LineBasicMaterial({ color: JOINT_COLOR, transparent: true, opacity: 0.7, depthTest: false }), 8);
}

// A point and a direction of a body's frame in the world; body -1 is the world itself.
function placed(model, body, point, out) {
  out.set(point[0], point[1], point[2]);
  if (body < 0) return out;
  const o = 7 * body;
  q.set(model.pose[o + 4], model.pose[o + 5], model.pose[o + 6], model.pose[o + 3]);
  return out.applyQuaternion(q).add(v.set(model.pose[o], model.pose[o + 1], model.pose[o + 2]));
}

// Joints at their place on the second body, and lines from the origins of bodies to their joints.
export function drawJoints(model, on) {
  const shown = on && !model.ghost, lines = [], at = new THREE.Vector3(), axis = new THREE.Vector3(), other = new THREE.Vector3(), scale = JOINT_SIZE * model.extent;
  for (const { joint, group } of model.joints) {
    group.visible = shown;
    if (!shown) continue;
    const [a, b] = joint.bodies, own = b >= 0 ? 1 : 0, body = own ? b : a;
    placed(model, body, joint.points[own], at);
    if (!(at.x === at.x)) {
      group.visible = false;
      continue;
    }
    axis.set(...joint.axes[own]);
    if (body >= 0) axis.applyQuaternion(q.set(model.pose[7 * body + 4], model.pose[7 * body + 5], model.pose[7 * body + 6], model.pose[7 * body + 3]));
    if (!(axis.lengthSq() > 0)) axis.copy(zAxis);
    group.matrix.compose(at, q.setFromUnitVectors(zAxis, axis.normalize()), new THREE.Vector3(scale, scale, scale));
    placed(model, own ? a : b, joint.points[1 - own], other);
    lines.push(at.x, at.y, at.z, other.x, other.y, other.z); // nothing, unless it is a distance or the joint is open
    for (const side of [a, b])
      if (side >= 0) lines.push(at.x, at.y, at.z, model.pose[7 * side], model.pose[7 * side + 1], model.pose[7 * side + 2]);
  }
  model.setSegments(model.bones, shown ? lines : []);
}
