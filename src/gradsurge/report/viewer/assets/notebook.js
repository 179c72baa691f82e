// A widget of a notebook, as anywidget loads it.

export default {
  async render({ model, el }) {
    const root = document.createElement("div");
    el.append(root);
    const partOf = (name) => {
      const { buffer, byteOffset, byteLength } = model.get("parts")[name];
      return new Uint8Array(buffer, byteOffset, byteLength);
    };
    const description = model.get("description");
    const { source } = description.grid;
    const names = description.structures.map((structure) => structure.name);
    let hearing = true; // until the model's own values are shown
    let telling = false; // what is told here is not heard again
    const tell = (viewer) => {
      if (hearing) return;
      telling = true;
      model.set("threshold", viewer.state.threshold);
      model.set("structure", names[viewer.state.structure]);
      model.set("cursor", sourceVoxel(viewer.cursor, source));
      telling = false;
      model.save_changes();
    };
    const viewer = await start(root, description, partOf, tell);
    // One after the other: a structure that is still loading must not move a later cursor.
    let last = Promise.resolve();
    const hear = (work) => {
      last = last.then(async () => {
        hearing = true;
        try {
          await work();
        } finally {
          hearing = false;
        }
        tell(viewer);
      });
      return last;
    };
    const shown = {
      threshold: (threshold) => viewer.change({ threshold }),
      structure: (name) => viewer.change({ structure: names.indexOf(name) }),
      cursor: (voxel) => voxel.length && viewer.moveTo(shownVoxel(voxel, source)),
    };
    const values = Object.keys(shown).map((name) => [name, model.get(name)]);
    await hear(async () => {
      for (const [name, value] of values) await shown[name](value);
    });
    const ears = Object.keys(shown).map((name) => {
      const ear = () => {
        const value = model.get(name);
        if (!telling) hear(() => shown[name](value));
      };
      model.on(`change:${name}`, ear);
      return [`change:${name}`, ear];
    });
    // When the cell is run again: a browser has few WebGL contexts, and takes them from others.
    return () => {
      for (const [event, ear] of ears) model.off(event, ear);
      viewer.close();
    };
  },
};
