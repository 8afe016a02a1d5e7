// Renderer, cameras, light, grid, and the tiles of recordings side by side.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

const LOOK = {
  dark: { background: "#11161c", grid: ["#4a5665", "#2c3541"], sky: "#dbe8fa", ground: "#5b636e", ambient: 2.3, sun: 2.1 },
  light: { background: "#eef2f6", grid: ["#a3b0be", "#c9d2dc"], sky: "#ffffff", ground: "#b4bcc6", ambient: 2.2, sun: 2.2 },
};

const MARGIN = 1.07; // of a fitted camera: a pane over what the scene takes of it

// A round grid of short pieces (long lines that pass the camera are lost by some renderers); the axes stand out.
function gridLines(cells, spacing, colors) {
  const points = [], shades = [], strong = new THREE.Color(colors[0]), weak = new THREE.Color(colors[1]);
  for (let i = -cells; i <= cells; i++)
    for (let k = -cells; k < cells; k++) {
      if (Math.hypot(i, k + 0.5) > cells) continue;
      const c = i === 0 ? strong : weak;
      points.push(i, k, 0, i, k + 1, 0, k, i, 0, k + 1, i, 0);
      for (let n = 0; n < 4; n++) shades.push(c.r, c.g, c.b);
    }
  const g = new THREE.BufferGeometry();
  g.setAttribute("position", new THREE.Float32BufferAttribute(points.map((x) => x * spacing), 3));
  g.setAttribute("color", new THREE.Float32BufferAttribute(shades, 3));
  return g;
}

export class Stage {
  constructor(canvas, onChange) {
    this.canvas = canvas;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.scene = new THREE.Scene();
    this.hemisphere = new THREE.HemisphereLight();
    this.sun = new THREE.DirectionalLight("#ffffff", 2);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0004;
    this.scene.add(this.hemisphere, this.sun, this.sun.target);
    this.models = [];
    this.side = false;
    this.flat = false;
    this.onChange = onChange;
    this.raycaster = new THREE.Raycaster();
    this.width = this.height = 1;
    this.pad = 0; // room around the scene for marks [m]
    this.fitted = null; // from where the camera sees the whole scene; null: the user has moved it
  }

  // Marks that stand out from the scene by `pad` metres come or go.
  setPad(pad) {
    if (this.pad === pad) return;
    this.pad = pad;
    this.refit();
  }

  // The scene's place and size; called once per set of recordings.
  // `up`: a unit vector along an axis.
  frameScene({ box, centre, extent }, flat, floor, up = new THREE.Vector3(0, 0, 1)) {
    this.home = { box, centre, extent };
    this.up = up;
    this.tilt = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
    this.flat = flat;
    this.floor = floor;
    this.camera?.parent?.remove(this.camera);
    this.controls?.dispose();
    if (flat) {
      this.camera = new THREE.OrthographicCamera(-1, 1, 1, -1, -100 * extent, 100 * extent);
    } else {
      this.camera = new THREE.PerspectiveCamera(40, 1, 0.01 * extent, 200 * extent);
      this.camera.up.copy(up);
    }
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => {
      if (this.held) this.fitted = null;
      this.onChange();
    });
    this.controls.addEventListener("start", () => (this.held = true));
    this.controls.addEventListener("end", () => (this.held = false));
    if (flat) {
      this.controls.enableRotate = false;
      this.controls.mouseButtons = { LEFT: THREE.MOUSE.PAN, MIDDLE: THREE.MOUSE.DOLLY, RIGHT: THREE.MOUSE.PAN };
      this.controls.touches = { ONE: THREE.TOUCH.PAN, TWO: THREE.TOUCH.DOLLY_PAN };
    }
    const reach = 2.4 * extent;
    Object.assign(this.sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * extent, far: 14 * extent });
    this.sun.shadow.normalBias = 0.004 * extent;
    this.sun.shadow.camera.updateProjectionMatrix();
    this.makeGrid();
    this.resetCamera();
  }

  makeGrid() {
    this.grid?.geometry.dispose();
    this.scene.remove(this.grid);
    const look = LOOK[this.theme ?? "dark"], { extent } = this.home;
    const spacing = 10 ** Math.round(Math.log10(extent / 5));
    const cells = Math.min(60, Math.ceil((8 * extent) / spacing)); // each way
    const visible = this.grid?.visible ?? true;
    this.grid = new THREE.LineSegments(gridLines(cells, spacing, look.grid), new THREE.LineBasicMaterial({ vertexColors: true }));
    const snap = (x) => Math.round(x / spacing) * spacing, height = (this.floor ?? 0) + 0.0015 * extent;
    if (this.flat) this.grid.position.set(snap(this.home.centre.x), snap(this.home.centre.y), -extent);
    else {
      this.grid.position.set(snap(this.home.centre.x), snap(this.home.centre.y), snap(this.home.centre.z));
      this.grid.position.addScaledVector(this.up, height - this.grid.position.dot(this.up));
      this.grid.quaternion.copy(this.tilt);
    }
    this.grid.visible = visible;
    this.scene.add(this.grid);
    this.gridSpacing = spacing;
  }

  setTheme(theme) {
    this.theme = theme;
    const look = LOOK[theme];
    this.scene.background = new THREE.Color(look.background);
    this.hemisphere.color.set(look.sky);
    this.hemisphere.groundColor.set(look.ground);
    this.hemisphere.intensity = look.ambient;
    this.sun.intensity = look.sun;
    if (this.home) {
      this.scene.fog = this.flat ? null : new THREE.Fog(look.background, 9 * this.home.extent, 26 * this.home.extent);
      this.makeGrid();
    }
  }

  // The whole scene from where one looks first.
  resetCamera() {
    this.fit(new THREE.Vector3(0.7, -1.2, 0.55));
  }

  // Views along an axis: "x" from the side, "y" from the front, "z" from above.
  lookAlong(axis) {
    const direction = { x: [1, 0, 0], y: [0, -1, 0], z: [0, -0.0001, 1] }[axis];
    if (direction) this.fit(new THREE.Vector3(...direction)); // an address may have another word
  }

  // The nearest camera in `direction` (scene with z up) that has the box of the scene in every pane. With the axes right,
  // up and forward of the camera, a point (x, y, z) from the centre is seen from (a, b, -D) if |x - a| <= (D + z) tan of
  // half the width of view, and so for y: D >= (max(x - z tan) - min(x + z tan)) / (2 tan), a is the middle of the two.
  fit(direction) {
    const { centre, extent } = this.home, look = direction.clone().normalize().applyQuaternion(this.tilt);
    this.fitted = direction;
    this.controls.target.copy(centre);
    if (this.flat) {
      this.camera.position.set(centre.x, centre.y, 10 * extent);
      this.camera.zoom = 1;
    } else {
      const forward = look.clone().negate(), right = new THREE.Vector3().crossVectors(forward, this.up).normalize(), upward = new THREE.Vector3().crossVectors(right, forward);
      const { width, height } = this.tileSize(), box = this.home.box.clone().expandByScalar(this.pad), p = new THREE.Vector3(), middle = [0, 0];
      let distance = 0.6 * extent; // never in front of a flat thing's nose
      const tangent = Math.tan((this.camera.fov * Math.PI) / 360) / MARGIN;
      [[right, (tangent * width) / height], [upward, tangent]].forEach(([axis, tan], k) => {
        let high = -Infinity, low = Infinity;
        for (let corner = 0; corner < 8; corner++) {
          p.set(corner & 1 ? box.max.x : box.min.x, corner & 2 ? box.max.y : box.min.y, corner & 4 ? box.max.z : box.min.z).sub(centre);
          high = Math.max(high, p.dot(axis) - tan * p.dot(forward));
          low = Math.min(low, p.dot(axis) + tan * p.dot(forward));
        }
        distance = Math.max(distance, (high - low) / (2 * tan));
        middle[k] = (high + low) / 2;
      });
      this.controls.target.addScaledVector(right, middle[0]).addScaledVector(upward, middle[1]);
      this.camera.position.copy(this.controls.target).addScaledVector(look, distance);
    }
    this.controls.update();
    this.onChange();
  }

  // After a change of size or marks: fits again, unless the user has moved the camera.
  refit() {
    if (this.home && this.fitted) this.fit(this.fitted);
  }

  // How many times nearer than the whole scene.
  zoom(factor) {
    this.fitted = null;
    const target = this.controls.target;
    if (this.flat) this.camera.zoom = factor;
    else this.camera.position.sub(target).divideScalar(factor).add(target);
    this.controls.update();
    this.onChange();
  }

  moveBy(delta) {
    this.fitted = null;
    this.controls.target.add(delta);
    this.camera.position.add(delta);
  }

  // True when that was a change.
  resize(width, height) {
    if (this.width === Math.max(1, width) && this.height === Math.max(1, height)) return false;
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    this.renderer.setSize(this.width, this.height, false);
    this.refit();
    return true;
  }

  // Columns and rows of tiles: one, unless recordings stand side by side.
  tiles() {
    const n = this.side ? Math.max(1, this.models.length) : 1;
    let best = [1, n], score = 0;
    for (let columns = 1; columns <= n; columns++) {
      const rows = Math.ceil(n / columns), s = Math.min(this.width / columns, (1.2 * this.height) / rows) / (1 + 0.1 * (columns * rows - n));
      if (s > score) [best, score] = [[columns, rows], s];
    }
    return { columns: best[0], rows: best[1], count: n };
  }

  tileSize() {
    const { columns, rows } = this.tiles();
    return { width: this.width / columns, height: this.height / rows };
  }

  tileOf(x, y) {
    const { columns } = this.tiles(), { width, height } = this.tileSize();
    const column = Math.floor(x / width), row = Math.floor(y / height);
    return { tile: row * columns + column, left: column * width, top: row * height };
  }

  setAspect() {
    const { width, height } = this.tileSize(), aspect = width / height;
    if (this.flat) {
      const size = this.home.box.getSize(new THREE.Vector3());
      const half = 0.56 * Math.max(size.y + 2 * this.pad, (size.x + 2 * this.pad) / aspect);
      Object.assign(this.camera, { left: -half * aspect, right: half * aspect, top: half, bottom: -half });
    } else this.camera.aspect = aspect;
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
  }

  // What a flat view shows of the plane.
  flatView() {
    this.setAspect();
    const { left, right, top, bottom, zoom, position } = this.camera;
    return { left: position.x + left / zoom, right: position.x + right / zoom, top: position.y + top / zoom, bottom: position.y + bottom / zoom };
  }

  render() {
    if (!this.home) return;
    this.setAspect();
    const target = this.controls.target, extent = this.home.extent;
    this.sun.target.position.copy(this.flat ? target : this.home.centre.clone().lerp(target, this.following ? 1 : 0));
    this.sun.position.copy(this.sun.target.position).add(new THREE.Vector3(-0.6, -3.4, 5.2).applyQuaternion(this.flat ? new THREE.Quaternion() : this.tilt).multiplyScalar(extent));
    const r = this.renderer, { count, columns } = this.tiles(), { width, height } = this.tileSize();
    r.setScissorTest(this.side);
    for (let i = 0; i < count; i++) {
      const column = i % columns, row = Math.floor(i / columns);
      if (this.side) this.models.forEach((m, k) => (m.group.visible = k === i));
      else this.models.forEach((m) => (m.group.visible = true));
      r.setViewport(column * width, this.height - (row + 1) * height, width, height);
      r.setScissor(column * width, this.height - (row + 1) * height, width, height);
      r.render(this.scene, this.camera);
    }
  }

  // The body under a point of the canvas: { model, body, point } or null.
  pick(x, y) {
    const { tile, left, top } = this.tileOf(x, y), { width, height } = this.tileSize();
    const models = this.side ? this.models.slice(tile, tile + 1) : this.models.slice(0, 1);
    this.setAspect();
    this.raycaster.setFromCamera(new THREE.Vector2((2 * (x - left)) / width - 1, 1 - (2 * (y - top)) / height), this.camera);
    const meshes = models.flatMap((m) => m.batches.map((b) => b.mesh)).filter((m) => m.visible);
    const hit = this.raycaster.intersectObjects(meshes, false)[0];
    if (!hit) return null;
    const { model, items } = hit.object.userData;
    if (items[hit.instanceId].body < 0) return null;
    return { model, body: items[hit.instanceId].body, point: hit.point };
  }

  // Where the ray through a point of the canvas meets the plane through `point` facing the camera.
  onPlane(x, y, point) {
    const { left, top } = this.tileOf(x, y), { width, height } = this.tileSize();
    this.raycaster.setFromCamera(new THREE.Vector2((2 * (x - left)) / width - 1, 1 - (2 * (y - top)) / height), this.camera);
    const normal = this.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, point);
    return this.raycaster.ray.intersectPlane(plane, new THREE.Vector3());
  }

  // A point of the world on the canvas, in CSS pixels of tile `tile`.
  project(x, y, z, tile = 0) {
    this.setAspect();
    const p = new THREE.Vector3(x, y, z).project(this.camera), { columns } = this.tiles(), { width, height } = this.tileSize();
    return { x: (tile % columns) * width + ((p.x + 1) / 2) * width, y: Math.floor(tile / columns) * height + ((1 - p.y) / 2) * height };
  }
}
