// What stands above and below the panels, and the beginning of it all.

function header(description, place) {
  const { scan, label, grid } = description;
  const told = [
    scan.title === null ? "no scan" : `scan: ${scan.title}`,
    label ? `label: ${label.title}` : "no label",
    `${grid.source.shape.join(" × ")} ${grid.flat ? "pixels" : "voxels"}`,
  ];
  const words = make("p", {}, told.join(" · "));
  return make("header", {}, make("h1", {}, description.case), words, place);
}

function footer(description) {
  const told = [...description.notes];
  if (description.models.some((model) => model.maps))
    told.push(
      "Sum of p is the amount that the model expects: close to the label's where its " +
        "probabilities are calibrated.",
    );
  if (description.precision.words) told.push(description.precision.words);
  told.push(`Shown with gradsurge and ${description.made}. Not a medical device.`);
  return make("footer", {}, ...told.map((text) => make("p", {}, text)));
}

// Show a case inside of `root`; `partOf` returns the gzipped bytes of a part, now or later.
async function start(root, description, partOf, onChange) {
  root.classList.add("gs-view");
  root.dataset.state = "loading";
  try {
    if (!document.createElement("canvas").getContext("webgl2"))
      throw new Error(
        "this browser has no WebGL 2, which draws the slices; try another browser, or switch " +
          "hardware acceleration on",
      );
    const read = partReader(partOf);
    const niivue = await importedModule(await read("niivue"));
    const viewer = new Viewer(root, description, read, niivue, onChange);
    await viewer.open();
    root.viewer = viewer;
    root.dataset.state = "ready";
    return viewer;
  } catch (error) {
    root.dataset.state = "failed";
    const words = `The case cannot be shown: ${error.message}`;
    root.replaceChildren(make("p", { className: "gs-failed", role: "alert" }, words));
    throw error;
  }
}
