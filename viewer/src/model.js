// One recording as objects of the scene: bodies (instanced by shape), and what is drawn over them on demand.
import * as THREE from "three";
import { makeJoints } from "./overlays.js";
import { STATE_COLORS, contactState } from "./study.js";
import { isFlat, makeShape, makeVisuals, visualBox } from "./shapes.js";

export const DYNAMIC = 0, FIXED = 1;
const PALETTE = ["#4e9df5", "#f2a541", "#5cc689", "#e86a6a", "#a987ee", "#35bfc9", "#ee83b6", "#b5c152", "#f0815a", "#8097b8"];
// Links of a robot share a quiet colour and take turns in shade, so that a robot looks like one thing.
const ROBOT_COLORS = ["#d9dfe7", "#e6d3b3", "#c5dbc8", "#d6cdea", "#e6c9c4"];
const FIXED_COLOR = { dark: "#5c6673", light: "#b9c2cd" };
const PLANE_COLOR = { dark: "#20262e", light: "#dfe4ea" };
export const FORCE_COLOR = "#ffc53d";
const MOST_EDGES = 400; // shapes with drawn edges
const MOST_TRAILS = 40;

const m1 = new THREE.Matrix4(), m2 = new THREE.Matrix4(), v1 = new THREE.Vector3(), v2 = new THREE.Vector3(), q1 = new THREE.Quaternion(), one = new THREE.Vector3(1, 1, 1);
const zAxis = new THREE.Vector3(0, 0, 1), color = new THREE.Color();

const hidden = new THREE.Matrix4().makeScale(0, 0, 0);

function poseMatrix(out, p, o) {
  v1.set(p[o], p[o + 1], p[o + 2]);
  q1.set(p[o + 4], p[o + 5], p[o + 6], p[o + 3]);
  return out.compose(v1, q1, one);
}

function lineMaterial(hex, opacity = 1) {
  return new THREE.LineBasicMaterial({ color: hex, transparent: opacity < 1, opacity });
}

// Pictures that are still being decoded, as promises.
export const loading = new Set();

// The picture at a data: address, as textures of mesh files use it: repeated, its first row on top.
function loadPicture(address) {
  const texture = new THREE.Texture();
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.anisotropy = 8;
  texture.colorSpace = THREE.SRGBColorSpace;
  const image = new Image();
  image.src = address;
  const wait = image.decode().then(
    () => (texture.image = image),
    () => (texture.image = new ImageData(new Uint8ClampedArray([255, 255, 255, 255]), 1)), // damaged: the colour alone
  );
  wait.then(() => (texture.needsUpdate = true));
  loading.add(wait);
  wait.finally(() => loading.delete(wait));
  return texture;
}

// Two shades on fields 1 / (2 repeat) wide.
function chessboard(spacing) {
  const texture = new THREE.DataTexture(new Uint8Array([255, 255, 255, 255, 196, 196, 196, 255, 196, 196, 196, 255, 255, 255, 255, 255]), 2, 2);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.magFilter = THREE.NearestFilter;
  texture.minFilter = THREE.LinearMipmapLinearFilter;
  texture.generateMipmaps = true;
  texture.anisotropy = 8;
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.repeat.set(0.5 / spacing, 0.5 / spacing);
  texture.needsUpdate = true;
  return texture;
}

export class Model {
  constructor(recording, number, extent, theme, first) {
    this.recording = recording;
    this.number = number;
    this.extent = extent;
    this.theme = theme;
    this.ghost = false;
    this.selected = -1;
    this.group = new THREE.Group();
    const d = recording.description;
    this.bodies = d.bodies;
    this.flat = d.dimension === 2;
    this.pose = new Float32Array(7 * d.bodies.length).fill(NaN);
    this.batches = [];
    this.lines = [];
    this.shapesOf = d.bodies.map(() => []);
    this.first = first;
    this.collision = false; // shapes that touch are drawn also where there are visuals
    this.pictures = (d.pictures ?? []).map(loadPicture);
    this.makeBatches(d.shapes, d.visuals ?? []);
    this.makeOverlays();
  }

  makeBatches(shapes, visuals) {
    const byKey = new Map(), drawn = new Set(visuals.map((v) => v.body));
    const fine = shapes.length <= 300;
    for (const shape of shapes) {
      const fixed = this.bodies[shape.body].kind === FIXED;
      const wall = shape.kind === "plane" && this.isWall(shape);
      const behind = drawn.has(shape.body), opacity = this.bodies[shape.body].color?.[3] ?? 1;
      const key = JSON.stringify([behind, opacity, fixed, wall, shape.kind, shape.size, shape.kind === "custom" ? shape.radius : 0, shape.vertices, shape.faces]);
      if (!byKey.has(key)) byKey.set(key, { shape, fixed, wall, behind, opacity, made: makeShape(shape, wall ? this.extent / 20 : this.extent, fine), items: [] });
      const batch = byKey.get(key);
      const local = poseMatrix(new THREE.Matrix4(), shape.pose, 0);
      batch.items.push({ body: shape.body, local, dot: shape.kind === "particle" });
      this.shapesOf[shape.body].push({ made: batch.made, local });
    }
    const visible = makeVisuals(visuals);
    visuals.forEach((v, i) => {
      const made = visible[i], local = poseMatrix(new THREE.Matrix4(), v.pose, 0), hue = v.color.slice(0, 3);
      if (v.body >= 0) this.shapesOf[v.body].push({ made, local });
      const fixed = v.body < 0 || this.bodies[v.body].kind === FIXED;
      byKey.set(`visual ${i}`, { shape: { kind: "visual" }, fixed, wall: false, visual: true, picture: this.pictures[v.picture], opacity: v.color[3] ?? 1, made, items: [{ body: v.body, local, hue }] });
    });
    let edgeCount = 0;
    for (const batch of byKey.values()) {
      const plane = batch.shape.kind === "plane", flat = isFlat(batch.shape.kind);
      const material = flat
        ? new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.DoubleSide })
        : new THREE.MeshStandardMaterial({ vertexColors: true, roughness: plane ? 1 : 0.62, metalness: 0.02 });
      if (batch.picture) material.map = batch.picture;
      material.polygonOffset = true;
      material.polygonOffsetFactor = plane ? 3 : 1;
      material.polygonOffsetUnits = plane ? 3 : 1;
      const mesh = new THREE.InstancedMesh(batch.made.geometry, material, batch.items.length);
      mesh.frustumCulled = false;
      mesh.castShadow = !plane && !flat;
      mesh.receiveShadow = !flat && !batch.wall;
      mesh.userData = { model: this, items: batch.items };
      batch.mesh = mesh;
      batch.plane = plane;
      this.group.add(mesh);
      this.batches.push(batch);
      if (batch.made.edges.length && edgeCount + batch.items.length <= MOST_EDGES) {
        const g = new THREE.BufferGeometry();
        g.setAttribute("position", new THREE.Float32BufferAttribute(batch.made.edges, 3));
        for (const item of batch.items) {
          const line = new THREE.LineSegments(g, lineMaterial("#000", 0.55));
          line.matrixAutoUpdate = false;
          line.frustumCulled = false;
          this.group.add(line);
          this.lines.push({ line, item, fixed: batch.fixed, behind: batch.behind });
          edgeCount++;
        }
      }
    }
    this.paint();
  }

  // A plane that is no floor: seen through from behind, and of limited size.
  isWall(shape) {
    if (!this.first) return false;
    poseMatrix(m1, this.first.pose, 7 * shape.body).multiply(poseMatrix(m2, shape.pose, 0));
    return m1.elements[10] < 0.3;
  }

  bodyColor(body) {
    if (body === this.selected && !this.ghost) return this.theme === "dark" ? "#ffe08a" : "#e8b100";
    if (this.ghost) return PALETTE[(this.number + 1) % PALETTE.length];
    const given = this.given(body);
    if (given) return given;
    const kind = this.bodies[body].kind;
    if (kind === FIXED) return FIXED_COLOR[this.theme];
    return this.robotColor(body) ?? PALETTE[body % PALETTE.length];
  }

  // The colour that the scene gives a body.
  given(body) {
    const c = this.bodies[body]?.color;
    if (!c || c[0] === null) return null;
    return "#" + new THREE.Color().setRGB(c[0], c[1], c[2], THREE.SRGBColorSpace).getHexString();
  }

  // Bodies called ROBOT/LINK; null for others.
  robotColor(body) {
    if (!this.robots) {
      this.robots = new Map();
      this.linkOf = this.bodies.map((b) => {
        const robot = b.name.includes("/") ? b.name.slice(0, b.name.indexOf("/")) : null;
        if (robot === null) return null;
        if (!this.robots.has(robot)) this.robots.set(robot, { number: this.robots.size, links: 0 });
        const r = this.robots.get(robot);
        return [r.number, r.links++];
      });
    }
    const link = this.linkOf[body];
    if (!link) return null;
    return "#" + new THREE.Color(ROBOT_COLORS[link[0] % ROBOT_COLORS.length]).multiplyScalar(link[1] % 2 ? 0.8 : 1).getHexString();
  }

  // Colours, and what shines through: after a change of theme, choice or ghosting.
  paint() {
    for (const { mesh, items, fixed, plane, wall, visual, behind, opacity } of this.batches) {
      items.forEach((item, k) => {
        if (item.hue && !this.ghost && item.body !== this.selected) color.setRGB(...item.hue, THREE.SRGBColorSpace);
        else color.set(plane && item.body !== this.selected ? (this.given(item.body) ?? PLANE_COLOR[this.theme]) : this.bodyColor(item.body));
        mesh.setColorAt(k, color);
      });
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
      mesh.visible = !(this.ghost && fixed) && !(visual && this.collision) && (!behind || this.collision) && !(plane && !wall && this.ground === "none");
      mesh.material.transparent = this.ghost || wall || opacity < 1;
      mesh.material.opacity = this.ghost ? 0.34 : wall ? 0.35 : opacity;
      mesh.material.depthWrite = !this.ghost && !wall && opacity === 1;
      mesh.material.needsUpdate = true;
      mesh.castShadow = !this.ghost && !plane && !isFlat(batchKind(mesh));
    }
    for (const { line, item, fixed, behind } of this.lines) {
      line.visible = !(this.ghost && fixed) && (!behind || this.collision);
      line.material.color.set(this.ghost ? this.bodyColor(item.body) : this.theme === "dark" ? "#05070a" : "#26303b");
      line.material.opacity = this.ghost ? 0.8 : 0.55;
    }
    function batchKind(mesh) {
      return mesh.userData.items.length ? mesh.userData.model.batches.find((b) => b.mesh === mesh)?.shape.kind : "";
    }
  }

  // Horizontal planes with a chessboard of fields `spacing` wide, plain, or not at all.
  setGround(style, spacing) {
    this.ground = style;
    for (const batch of this.batches) {
      if (!batch.plane || batch.wall) continue;
      const { material, geometry } = batch.mesh;
      if (style === "checker" && !material.map) {
        const p = geometry.attributes.position, uv = new Float32Array(2 * p.count);
        for (let i = 0; i < p.count; i++) [uv[2 * i], uv[2 * i + 1]] = [p.getX(i), p.getY(i)];
        geometry.setAttribute("uv", new THREE.BufferAttribute(uv, 2));
      }
      material.map?.dispose();
      material.map = style === "checker" ? chessboard(spacing) : null;
      material.needsUpdate = true;
    }
    this.paint();
  }

  // Poses between two frames: positions linear, rotations by the short way.
  place(a, b, s) {
    const p = this.pose, n = this.bodies.length;
    for (let i = 0; i < n; i++) {
      const o = 7 * i;
      if (!b || s <= 0) {
        for (let k = 0; k < 7; k++) p[o + k] = a.pose[o + k];
        continue;
      }
      for (let k = 0; k < 3; k++) p[o + k] = a.pose[o + k] + s * (b.pose[o + k] - a.pose[o + k]);
      let dot = 0;
      for (let k = 3; k < 7; k++) dot += a.pose[o + k] * b.pose[o + k];
      const sign = dot < 0 ? -1 : 1;
      let norm = 0;
      for (let k = 3; k < 7; k++) {
        p[o + k] = (1 - s) * a.pose[o + k] + s * sign * b.pose[o + k];
        norm += p[o + k] * p[o + k];
      }
      norm = 1 / Math.sqrt(norm);
      for (let k = 3; k < 7; k++) p[o + k] *= norm;
    }
    for (const { mesh, items } of this.batches) {
      for (let k = 0; k < items.length; k++) mesh.setMatrixAt(k, this.shapeMatrix(items[k]));
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
    }
    for (const { line, item } of this.lines) line.matrix.copy(this.shapeMatrix(item));
  }

  shapeMatrix(item) {
    const o = 7 * item.body;
    if (item.body < 0) return item.body === -1 ? item.local : hidden; // of the world, or of a body that was removed
    if (!(this.pose[o] === this.pose[o])) return hidden; // removed: NaN
    poseMatrix(m1, this.pose, o).multiply(item.local);
    if (!item.dot) return m1;
    const s = this.markSize() / this.extent; // particles have no size of their own
    return m1.scale(v2.set(s, s, s));
  }

  position(body, out = new THREE.Vector3()) {
    return out.set(this.pose[7 * body], this.pose[7 * body + 1], this.pose[7 * body + 2]);
  }

  // Centre of mass in the world.
  centre(body) {
    const com = this.bodies[body].com ?? [0, 0, 0];
    return new THREE.Vector3(...com).applyMatrix4(poseMatrix(m1, this.pose, 7 * body));
  }

  // ------------------------------------------------------------------------------------------ overlays

  makeOverlays() {
    const basic = (hex) => new THREE.MeshBasicMaterial({ color: hex, depthTest: false, transparent: true });
    this.markers = this.instanced(this.flat ? new THREE.CircleGeometry(1, 20) : new THREE.SphereGeometry(1, 14, 10), basic("#fff"), 11);
    this.shafts = this.instanced(new THREE.CylinderGeometry(1, 1, 1, 10).rotateX(Math.PI / 2).translate(0, 0, 0.5), basic(FORCE_COLOR), 12);
    this.heads = this.instanced(new THREE.ConeGeometry(1, 1, 14).rotateX(Math.PI / 2).translate(0, 0, -0.5), basic(FORCE_COLOR), 12);
    this.normals = this.segments(lineMaterial("#e8eef6"), 10);
    this.normals.material.depthTest = false;
    this.boxes = this.segments(lineMaterial("#8fb7e8", 0.8), 5);
    this.groupMarks = this.instanced(this.flat ? new THREE.CircleGeometry(1, 20) : new THREE.SphereGeometry(1, 14, 10), basic("#fff"), 13);
    this.groupLines = this.segments(lineMaterial("#ff8ad8"), 12);
    this.groupLines.material.depthTest = false;
    this.spaces = new THREE.Group();
    this.trails = new THREE.Group();
    this.group.add(this.trails, this.spaces);
    makeJoints(this);
  }

  instanced(geometry, material, order) {
    const mesh = new THREE.InstancedMesh(geometry, material, 64);
    mesh.count = 0;
    mesh.frustumCulled = false;
    mesh.renderOrder = order;
    mesh.raycast = () => {};
    this.group.add(mesh);
    return mesh;
  }

  segments(material, order) {
    const lines = new THREE.LineSegments(new THREE.BufferGeometry(), material);
    lines.frustumCulled = false;
    lines.renderOrder = order;
    lines.raycast = () => {};
    this.group.add(lines);
    return lines;
  }

  // Room for more instances: a larger mesh takes the place of the old one.
  grow(name, count) {
    const old = this[name];
    if (count <= old.instanceMatrix.count) return old;
    const mesh = this.instanced(old.geometry, old.material, old.renderOrder);
    mesh.instanceMatrix = new THREE.InstancedBufferAttribute(new Float32Array(32 * count), 16);
    if (old.instanceColor) mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(6 * count), 3);
    this.group.remove(old);
    old.dispose();
    return (this[name] = mesh);
  }

  setSegments(lines, values) {
    lines.visible = values.length > 0;
    lines.geometry.dispose();
    lines.geometry = new THREE.BufferGeometry();
    lines.geometry.setAttribute("position", new THREE.Float32BufferAttribute(values, 3));
  }

  // Contacts of a frame: points coloured by their state, normals, forces on the second body.
  showContacts(frame, options) {
    const contacts = frame.contacts;
    const n = contacts && options.contacts && !this.ghost ? contacts.count : 0;
    const size = 0.0085 * this.markSize();
    const markers = this.grow("markers", n);
    markers.count = n;
    for (let i = 0; i < n; i++) {
      const f = Math.hypot(contacts.force[3 * i], contacts.force[3 * i + 1], contacts.force[3 * i + 2]);
      const s = f > 0 ? size : 0.6 * size;
      m1.makeScale(s, s, s).setPosition(contacts.point[3 * i], contacts.point[3 * i + 1], contacts.point[3 * i + 2] + (this.flat ? 0.02 * this.extent : 0));
      markers.setMatrixAt(i, m1);
      markers.setColorAt(i, color.set(STATE_COLORS[contactState(this, frame, i)]));
    }
    markers.instanceMatrix.needsUpdate = true;
    if (markers.instanceColor) markers.instanceColor.needsUpdate = true;

    const lines = [];
    if (options.normals)
      for (let i = 0; i < n; i++)
        for (const s of [0, 0.07 * this.extent]) for (let k = 0; k < 3; k++) lines.push(contacts.point[3 * i + k] + s * contacts.normal[3 * i + k]);
    this.setSegments(this.normals, lines);

    const m = options.forces && !this.ghost && contacts ? contacts.count : 0;
    const shafts = this.grow("shafts", m), heads = this.grow("heads", m);
    let k = 0;
    for (let i = 0; i < m; i++) {
      v1.set(contacts.force[3 * i], contacts.force[3 * i + 1], contacts.force[3 * i + 2]);
      const f = v1.length();
      const length = Math.min(0.8 * this.extent, 0.35 * this.extent * (f / options.forceUnit) * options.forceScale);
      if (!(length > 0.004 * this.extent)) continue;
      q1.setFromUnitVectors(zAxis, v1.divideScalar(f));
      const head = Math.min(0.05 * this.extent, 0.4 * length), radius = 0.004 * this.extent;
      v2.set(contacts.point[3 * i], contacts.point[3 * i + 1], contacts.point[3 * i + 2]);
      shafts.setMatrixAt(k, m1.compose(v2, q1, m2scale(radius, radius, length - head)));
      heads.setMatrixAt(k, m1.compose(v2.addScaledVector(v1, length), q1, m2scale(0.35 * head, 0.35 * head, head)));
      k++;
    }
    shafts.count = heads.count = k;
    shafts.instanceMatrix.needsUpdate = heads.instanceMatrix.needsUpdate = true;
  }

  // Marks of a flat view keep their size on the screen.
  markSize() {
    return this.flat && this.view ? Math.min(this.extent, this.view.right - this.view.left) : this.extent;
  }

  gapTolerance() {
    return 1e-5 * this.extent;
  }

  // Boxes parallel to the axes around every body.
  showBoxes(on) {
    const out = [];
    if (on && !this.ghost)
      for (let body = 0; body < this.bodies.length; body++) {
        const box = this.bounds(body);
        if (!box) continue;
        const { min: a, max: b } = box;
        const c = [[a.x, a.y, a.z], [b.x, a.y, a.z], [b.x, b.y, a.z], [a.x, b.y, a.z], [a.x, a.y, b.z], [b.x, a.y, b.z], [b.x, b.y, b.z], [a.x, b.y, b.z]];
        for (const [i, j] of [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]]) out.push(...c[i], ...c[j]);
      }
    this.setSegments(this.boxes, out);
  }

  // null: unbounded or gone.
  bounds(body) {
    const box = new THREE.Box3();
    for (const { made, local } of this.shapesOf[body]) {
      if (made.unbounded || !(this.pose[7 * body] === this.pose[7 * body])) return null;
      const m = this.shapeMatrix({ body, local });
      if (made.round !== undefined) {
        v1.setFromMatrixPosition(m);
        box.expandByPoint(v2.copy(v1).addScalar(made.round)).expandByPoint(v2.copy(v1).addScalar(-made.round));
      } else for (let i = 0; i < made.points.length; i += 3) box.expandByPoint(v1.set(made.points[i], made.points[i + 1], made.points[i + 2]).applyMatrix4(m));
    }
    return box.isEmpty() ? null : box;
  }

  // Paths of bodies: the chosen one, or all that move.
  async loadTrails(which) {
    const wish = (this.trailWish = (this.trailWish ?? 0) + 1);
    const list = [];
    if (which === "all") this.bodies.forEach((b, i) => b.kind !== FIXED && list.length < MOST_TRAILS && list.push(i));
    else if (which === "chosen" && this.selected >= 0) list.push(this.selected);
    const tracks = await Promise.all(list.map((i) => this.recording.track(i)));
    if (wish !== this.trailWish) return;
    for (const old of this.trails.children) old.geometry.dispose();
    this.trails.clear();
    tracks.forEach((track, k) => {
      const points = [];
      for (let i = 0; i < track.time.length; i++) points.push(track.columns[0][i], track.columns[1][i], track.columns[2][i] + (this.flat ? 0.01 * this.extent : 0));
      const g = new THREE.BufferGeometry();
      g.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
      const hex = this.ghost ? this.bodyColor(list[k]) : PALETTE[list[k] % PALETTE.length];
      const line = new THREE.Line(g, lineMaterial(hex, 0.95));
      line.frustumCulled = false;
      line.userData.time = track.time;
      line.raycast = () => {};
      this.trails.add(line);
    });
  }

  cutTrails(t) {
    for (const line of this.trails.children) {
      const times = line.userData.time;
      let low = 0, high = times.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (times[middle] <= t + 1e-12) low = middle + 1;
        else high = middle;
      }
      line.geometry.setDrawRange(0, low);
    }
  }

  dispose() {
    this.group.traverse((o) => {
      o.geometry?.dispose?.();
      o.material?.dispose?.();
    });
  }
}

const scaleVector = new THREE.Vector3();
function m2scale(x, y, z) {
  return scaleVector.set(x, y, z);
}

// Boxes around all bounded shapes, and around those that move.
function boxes(description, frame) {
  const all = new THREE.Box3(), moving = new THREE.Box3(), matrix = new THREE.Matrix4(), shaped = new Set(description.shapes.map((s) => s.body));
  // bodies without a shape: where they are
  description.bodies.forEach((b, i) => {
    if (!frame || shaped.has(i) || !(frame.pose[7 * i] === frame.pose[7 * i])) return;
    v1.set(frame.pose[7 * i], frame.pose[7 * i + 1], frame.pose[7 * i + 2]);
    all.expandByPoint(v1);
    if (b.kind !== FIXED) moving.expandByPoint(v1);
  });
  // joints, also where mechanisms hang
  for (const joint of description.joints ?? [])
    joint.bodies.forEach((body, s) => {
      if (!frame || (body >= 0 && !(frame.pose[7 * body] === frame.pose[7 * body]))) return;
      if (body >= 0) poseMatrix(matrix, frame.pose, 7 * body);
      v1.set(...joint.points[s]);
      if (body >= 0) v1.applyMatrix4(matrix);
      all.expandByPoint(v1);
      moving.expandByPoint(v1);
    });
  for (const shape of description.shapes) {
    if (!frame || shape.kind === "plane" || !Number.isFinite(shape.radius)) continue;
    const o = 7 * shape.body;
    if (!(frame.pose[o] === frame.pose[o])) continue;
    poseMatrix(matrix, frame.pose, o).multiply(poseMatrix(m2, shape.pose, 0));
    const box = new THREE.Box3();
    if (shape.vertices?.length) for (let i = 0; i < shape.vertices.length; i += 3) box.expandByPoint(v1.set(shape.vertices[i], shape.vertices[i + 1], shape.vertices[i + 2]).applyMatrix4(matrix));
    else {
      v1.setFromMatrixPosition(matrix);
      box.set(v1.clone().addScalar(-shape.radius), v1.clone().addScalar(shape.radius));
    }
    all.union(box);
    if (description.bodies[shape.body].kind !== FIXED) moving.union(box);
  }
  for (const v of description.visuals ?? []) {
    const o = 7 * v.body;
    if (!frame || (v.body >= 0 && !(frame.pose[o] === frame.pose[o]))) continue;
    poseMatrix(matrix, v.pose, 0);
    if (v.body >= 0) matrix.premultiply(poseMatrix(m2, frame.pose, o));
    const box = visualBox(description.visuals, v).clone().applyMatrix4(matrix);
    all.union(box);
    if (v.body >= 0 && description.bodies[v.body].kind !== FIXED) moving.union(box);
  }
  return { all, moving };
}

// Where things are at the start, and how large that is: for camera, grid, light and the size of marks.
// `shown`: the frame that is drawn first, or null.
export function sceneBounds(description, frame, laters, floor, shown) {
  const { all, moving } = boxes(description, frame);
  const size = (b) => (b.isEmpty() ? 0 : b.getSize(new THREE.Vector3()).length());
  let box = all;
  if (size(moving) > 0 && size(all) > 6 * size(moving)) {
    // a large floor or box must not make what moves invisible
    box = moving.clone();
    box.expandByScalar(0.6 * size(moving));
    box.intersect(all);
    box.union(moving);
  }
  // where it goes, unless things fly away
  const few = description.bodies.filter((b) => b.kind !== FIXED).length <= 3, whole = size(box);
  for (const later of box.isEmpty() ? [] : [shown, ...laters]) {
    const end = later && boxes(description, later).moving;
    const both = end && !end.isEmpty() ? box.clone().union(end) : box;
    if (size(both) <= (few || later === shown ? 13 : 3) * whole) box = both;
  }
  if (floor !== null && !box.isEmpty() && box.min.z > floor && box.min.z - floor < 2 * size(box)) box = box.clone().expandByPoint(box.getCenter(new THREE.Vector3()).setZ(floor));
  if (box.isEmpty() || size(box) === 0) box = new THREE.Box3(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
  const s = box.getSize(new THREE.Vector3());
  return { box, centre: box.getCenter(new THREE.Vector3()), extent: Math.max(s.x, s.y, s.z, 1e-6) };
}
