// The viewer: panels side by side, one state for all of them, one cursor.

class Viewer {
  // `read` returns the bytes of a part; `onChange` is told whenever something moved.
  constructor(root, description, read, niivue, onChange) {
    Object.assign(this, { root, description, read, niivue, onChange, moving: false });
    const { threshold, ...opacity } = description.opening;
    const shown = { map: true, label: true, mask: true };
    const view = description.grid.flat ? "axial" : "all";
    const rest = { cross: true, smooth: false, radiological: false };
    this.state = { structure: 0, threshold, opacity, shown, view, ...rest };
  }

  async open() {
    const { description, root } = this;
    const change = (different) => this.change(different);
    this.controls = new Controls(description, () => this.state, change);
    this.parts = description.models.map((model) => this.makePart(model));
    this.place = make("p", { className: "gs-place" });
    const panels = this.parts.map((part) => part.element);
    root.replaceChildren(
      header(description, this.place),
      make(
        "div",
        { className: "gs-main" },
        this.controls.element,
        make("div", { className: "gs-panels" }, ...panels),
      ),
      footer(description),
    );
    await this.load();
    this.link();
    this.goToStructure();
    // A page listens everywhere, a widget only inside of itself.
    const heard = root.classList.contains("gs-page") ? document : root;
    heard.addEventListener("keydown", (event) => this.onKey(event), true);
  }

  makePart(model) {
    const canvas = make("canvas", { tabIndex: 0, "aria-label": `Slices of ${model.name}` });
    const readout = new Readout(this.description, model);
    const facts = model.facts.flatMap(([what, how]) => [make("dt", {}, what), make("dd", {}, how)]);
    const list = make("dl", { className: "gs-facts" }, ...facts);
    const element = make(
      "section",
      { className: "gs-panel" },
      make("h2", {}, model.name),
      make("div", { className: "gs-canvas" }, canvas),
      make("div", { className: "gs-told" }, readout.element, list),
    );
    const panel = new Panel(this.niivue, this.description, model, canvas);
    return { model, element, readout, panel };
  }

  async load() {
    const { scan, label } = this.description;
    const buffer = await this.read(scan.part);
    this.label = label && voxelsOf(await this.read(label.part), "uint8");
    for (const part of this.parts) {
      await part.panel.open(buffer);
      part.mask = part.model.mask && voxelsOf(await this.read(part.model.mask), "uint8");
    }
    await this.showStructure();
  }

  get look() {
    const { opacity, shown, threshold } = this.state;
    const of = (name) => (shown[name] ? opacity[name] : 0);
    return { map: of("map"), label: of("label"), mask: of("mask"), threshold };
  }

  // The map of the chosen structure, and its outlines.
  async showStructure() {
    const { description, state } = this;
    const chosen = description.structures[state.structure];
    const count = description.grid.shape.reduce((a, b) => a * b);
    for (const part of this.parts) {
      const buffer = part.model.maps && (await this.read(part.model.maps[state.structure]));
      part.map = buffer && voxelsOf(buffer, description.precision.kind);
      const bits = outlineBits(count, this.label, chosen.label, part.mask, chosen.mask);
      await part.panel.show(buffer, bits, this.look);
    }
    this.tell();
  }

  async change(different) {
    const before = this.state;
    const state = { ...before, ...different };
    this.state = state;
    this.controls.show(state);
    if (state.structure !== before.structure) {
      await this.showStructure();
      this.goToStructure();
    }
    for (const { panel } of this.parts) {
      if (state.view !== before.view) panel.setView(state.view);
      if (state.smooth !== before.smooth) panel.nv.setInterpolation(!state.smooth);
      if (state.radiological !== before.radiological)
        panel.nv.setRadiologicalConvention(state.radiological);
      if (state.cross !== before.cross || state.view !== before.view) panel.setCross(state.cross);
      panel.setLook(this.look);
    }
    this.tell();
  }

  // One cursor and one contrast for all panels.
  link() {
    for (const { panel } of this.parts) {
      panel.nv.onLocationChange = () => {
        if (!this.moving) this.moveTo(panel.cursor);
      };
      panel.nv.onIntensityChange = ({ cal_min: low, cal_max: high }) => {
        const others = this.parts.filter((other) => other.panel !== panel);
        for (const other of others) other.panel.setWindow(low, high);
      };
    }
  }

  // To where there is most of the structure.
  goToStructure() {
    this.moveTo(this.description.structures[this.state.structure].cursor);
  }

  moveTo(voxel) {
    this.moving = true;
    this.cursor = [...voxel];
    for (const { panel } of this.parts) panel.cursor = this.cursor;
    this.moving = false;
    this.tell();
  }

  tell() {
    const { description, cursor, state } = this;
    this.controls.show(state);
    for (const part of this.parts) part.readout.wholeCase(state.structure, state.threshold);
    if (!cursor) return;
    const [nx, ny] = description.grid.shape;
    const at = cursor[0] + nx * (cursor[1] + ny * cursor[2]);
    this.place.textContent = `Cursor: ${placeText(cursor, description.grid)}`;
    for (const part of this.parts) {
      const p = part.map ? part.map[at] * description.precision.scale : undefined;
      part.readout.atCursor({ p, mask: part.mask?.[at], label: this.label?.[at] });
    }
    this.onChange?.(this);
  }

  close() {
    for (const { panel } of this.parts) panel.close();
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key === "Tab") return;
    const taken = keyPressed(event, this);
    if (taken) event.preventDefault();
    // NiiVue has keys of its own, and a notebook too.
    if (taken || event.target.matches?.("canvas")) event.stopPropagation();
  }
}
