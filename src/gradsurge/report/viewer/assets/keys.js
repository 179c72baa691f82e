// The keyboard: what a key does, and which way the arrows go in each view.

const PLANES = { all: [0, 1, 2], axial: [0, 1, 2], coronal: [0, 2, 1], sagittal: [1, 2, 0] };
const STEPS = {
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  ArrowUp: [1, 1],
  ArrowDown: [1, -1],
  PageUp: [2, 1],
  PageDown: [2, -1],
};
const ZOOMS = { "+": ZOOM.step, "=": ZOOM.step, "-": 1 / ZOOM.step, 0: 0 };

// Do what a key means; return whether it means anything. Sliders and choices keep their own keys.
function keyPressed({ key, target }, viewer) {
  const { state } = viewer;
  const typing = target.matches?.("input[type=range], select");
  const step = typing ? null : arrowStep(key, state);
  const change = target.matches?.("select") ? null : letterChange(key.toLowerCase(), state);
  if (step) {
    const last = viewer.description.grid.shape.map((length) => length - 1);
    const moved = viewer.cursor.map((place, axis) => place + step[axis]);
    viewer.moveTo(moved.map((place, axis) => Math.min(Math.max(place, 0), last[axis])));
  } else if (key in ZOOMS && !typing) {
    for (const { panel } of viewer.parts) panel.zoom(ZOOMS[key], state.cross);
  } else if (key.toLowerCase() === "g" && !typing) {
    viewer.goToStructure();
  } else if (change) {
    viewer.change(change);
  } else {
    return false;
  }
  return true;
}

// The step (x, y, z) of an arrow on the screen; right is left in radiological views.
function arrowStep(key, state) {
  if (!(key in STEPS)) return null;
  const [along, direction] = STEPS[key];
  const axis = PLANES[state.view][along];
  const mirrored = state.radiological && axis === 0 && along === 0;
  return [0, 1, 2].map((n) => (n === axis ? (mirrored ? -direction : direction) : 0));
}

// What a letter changes in the state; null if nothing.
function letterChange(key, state) {
  const layer = { p: "map", l: "label", m: "mask" }[key];
  if (layer) return { shown: { ...state.shown, [layer]: !state.shown[layer] } };
  if (key === "x") return { cross: !state.cross };
  if (key === "s") return { smooth: !state.smooth };
  if (key === "u" || key === "d") {
    const moved = Math.round(100 * state.threshold) + (key === "u" ? 5 : -5);
    return { threshold: Math.min(Math.max(moved, LEAST), 100) / 100 };
  }
  return null;
}
