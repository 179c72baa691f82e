// The column of sliders, ticks and choices: it changes the viewer's state, and shows it.

const LEAST = 1; // hundredths: at 0 the map would cover everything
const VIEWS = [
  ["all", "All three"],
  ["axial", "Axial"],
  ["coronal", "Coronal"],
  ["sagittal", "Sagittal"],
];
const KEYS = [
  ["click, drag", "cursor"],
  ["arrow keys", "by one voxel"],
  ["right drag", "scan contrast"],
  ["+ − 0", "zoom, and back"],
];
const OF_SLICES = [
  ["wheel, PgUp, PgDn", "slices"],
  ["G", "fullest slice"],
];
const OF_PICTURES = [["G", "into the structure"]];
const OF_MAPS = [["U D", "threshold ±"]];

class Controls {
  // `state` returns the state; `change` takes what becomes different in it.
  constructor(description, state, change) {
    const { structures, models, label, grid } = description;
    Object.assign(this, { state, change, ticks: {}, sliders: {} });
    const hasMaps = models.some((model) => model.maps);
    const hasMasks = models.some((model) => model.mask);
    const names = structures.map((structure, number) => [String(number), structure.name]);
    this.structure = choice("Structure", names, (value) => change({ structure: Number(value) }));
    this.element = make(
      "aside",
      { className: "gs-controls" },
      structures.length > 1 ? this.structure.element : null,
      hasMaps ? this.mapGroup(description.colours.probability) : null,
      label || hasMasks ? this.outlineGroup(Boolean(label), hasMasks) : null,
      this.viewGroup(grid),
      group("Mouse and keys", keyList(hasMaps, grid.flat)),
    );
  }

  mapGroup(stops) {
    const range = { min: LEAST, max: 100, step: 1, value: 100 * this.state().threshold };
    const words = (value) => `show p ≥ ${(value / 100).toFixed(2)}`;
    this.sliders.threshold = slider("Threshold", words, range, (value) =>
      this.change({ threshold: value / 100 }),
    );
    this.bar = colourBar(stops);
    const layer = this.layer("map", "show", "P", "Opacity of the map");
    return group("Probability map", ...layer, this.sliders.threshold.element, this.bar.element);
  }

  outlineGroup(hasLabel, hasMasks) {
    const line = (kind) => make("span", { className: `gs-line gs-${kind}` });
    const label = ["label", "label (reference)", "L", "Opacity of the label", line("label")];
    const mask = ["mask", "mask of the model", "M", "Opacity of the mask", line("mask")];
    return group(
      "Outlines",
      ...(hasLabel ? this.layer(...label) : []),
      ...(hasMasks ? this.layer(...mask) : []),
    );
  }

  layer(name, title, key, opacity, sample = null) {
    const shown = (on) => this.change({ shown: { ...this.state().shown, [name]: on } });
    this.ticks[name] = tick(title, key, true, shown, sample);
    const range = { min: 0, max: 100, value: 100 * this.state().opacity[name] };
    this.sliders[name] = slider(opacity, (value) => `${Math.round(value)} %`, range, (value) =>
      this.change({ opacity: { ...this.state().opacity, [name]: value / 100 } }),
    );
    return [this.ticks[name].element, this.sliders[name].element];
  }

  viewGroup(grid) {
    const { change } = this;
    this.view = choice("Slices", VIEWS, (value) => change({ view: value }));
    this.cross = tick("cross lines at the cursor", "X", true, (on) => change({ cross: on }));
    this.smooth = tick("smooth between voxels", "S", false, (on) => change({ smooth: on }));
    const words = "radiological: right is on the left";
    this.radiological = tick(words, "", false, (on) => change({ radiological: on }));
    return group(
      "View",
      grid.flat ? null : this.view.element,
      this.cross.element,
      this.smooth.element,
      hasSides(grid) ? this.radiological.element : null,
    );
  }

  show(state) {
    this.structure.select.value = String(state.structure);
    this.view.select.value = state.view;
    for (const name of ["cross", "smooth", "radiological"]) this[name].input.checked = state[name];
    this.sliders.threshold?.set(Math.round(100 * state.threshold));
    this.bar?.set(state.threshold);
    for (const [name, on] of Object.entries(state.shown)) {
      if (!this.ticks[name]) continue;
      this.ticks[name].input.checked = on;
      this.sliders[name].set(Math.round(100 * state.opacity[name]));
      this.sliders[name].input.disabled = !on;
    }
  }
}

function group(title, ...children) {
  return make("fieldset", {}, make("legend", {}, title), ...children);
}

function keyList(hasMaps, flat) {
  const keys = [...KEYS, ...(flat ? OF_PICTURES : OF_SLICES), ...(hasMaps ? OF_MAPS : [])];
  const rows = keys.flatMap(([key, what]) => [make("dt", {}, key), make("dd", {}, what)]);
  return make("dl", {}, ...rows);
}
