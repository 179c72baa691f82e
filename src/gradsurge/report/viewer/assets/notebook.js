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
    const tell = (viewer) => {
      if (hearing) return;
      model.set("threshold", viewer.state.threshold);
      model.set("structure", names[viewer.state.structure]);
      model.set("cursor", sourceVoxel(viewer.cursor, source));
      model.save_changes();
    };
    const viewer = await start(root, description, partOf, tell);
    const hear = async (work) => {
      hearing = true;
      try {
        await work();
      } finally {
        hearing = false;
      }
      tell(viewer);
    };
    const change = () => {
      const structure = names.indexOf(model.get("structure"));
      return viewer.change({ threshold: model.get("threshold"), structure });
    };
    const move = () => {
      if (model.get("cursor").length) viewer.moveTo(shownVoxel(model.get("cursor"), source));
    };
    await hear(async () => {
      await change();
      move();
    });
    model.on("change:threshold", () => hear(change));
    model.on("change:structure", () => hear(change));
    model.on("change:cursor", () => hear(move));
  },
};
