// One model's view of the case: a NiiVue with the scan, a probability map and two outlines.

const COLOURS = "gradsurge probability";
const CROSS = { one: 0.3, three: 0.6 }; // width of its lines, percent of the field of view
const LETTERS = [1, 0.5, 0.1, 1];
const ZOOM = { step: 1.25, least: 1, most: 16 };

class Panel {
  constructor(niivue, description, model, canvas) {
    Object.assign(this, { niivue, description, model, canvas });
    this.map = null;
    this.nv = new niivue.Niivue({
      logLevel: "error",
      dragAndDropEnabled: false,
      backColor: [0.06, 0.07, 0.08, 1],
      crosshairColor: [1, 0.85, 0.2, 0.9],
      crosshairWidthUnit: "percent",
      crosshairWidth: CROSS.three,
      fontColor: LETTERS, // seen on white and on black: which side is left matters
      fontMinPx: 17,
      multiplanarShowRender: niivue.SHOW_RENDER.NEVER,
      isOrientationTextVisible: hasSides(description.grid),
      isNearestInterpolation: true,
      isForceMouseClickToVoxelCenters: true,
      loadingText: "",
    });
  }

  async open(scan) {
    const { nv, description, niivue } = this;
    // NiiVue adds the margin beside a slice to its place a second time, which drops the letter of
    // the upper side below the slice. Without the margin it stands at the slice's own edge.
    const letters = nv.drawSliceOrientationText.bind(nv);
    nv.drawSliceOrientationText = (place, plane) => letters(place, plane);
    await nv.attachToCanvas(this.canvas);
    nv.addColormap(COLOURS, colourTable(description.colours.probability));
    const [low, high] = description.scan.window;
    this.scan = await niivue.NVImage.loadFromUrl({
      url: scan,
      name: "scan.nii",
      colormap: "gray",
      cal_min: low,
      cal_max: high,
    });
    nv.addVolume(this.scan);
    nv.createEmptyDrawing();
    nv.setCustomSliceShader(sliceShader(description.colours, window.devicePixelRatio || 1));
    this.setView(description.grid.flat ? "axial" : "all");
    this.setCross(true);
  }

  // The map of a structure, and the borders of label and mask.
  async show(buffer, bits, look) {
    const { nv, niivue } = this;
    if (this.map) nv.removeVolume(this.map);
    this.map = null;
    if (buffer) {
      this.map = await niivue.NVImage.loadFromUrl({
        url: buffer,
        name: "map.nii",
        colormap: COLOURS,
        opacity: look.map,
        cal_min: look.threshold,
        cal_max: 1,
      });
      this.map.colormapType = niivue.COLORMAP_TYPE.ZERO_TO_MAX_TRANSPARENT_BELOW_MIN;
      nv.addVolume(this.map);
    }
    nv.drawBitmap.set(bits);
    nv.refreshDrawing(false);
    this.setLook(look);
  }

  setLook(look) {
    const { nv, map } = this;
    nv.drawOpacity = look.label;
    nv.drawRimOpacity = look.mask;
    if (map && (map.opacity !== look.map || map.cal_min !== look.threshold)) {
      map.opacity = look.map;
      map.cal_min = look.threshold;
      nv.updateGLVolume();
    }
    nv.drawScene();
  }

  setView(name) {
    const { SLICE_TYPE } = this.niivue;
    const types = {
      all: SLICE_TYPE.MULTIPLANAR,
      axial: SLICE_TYPE.AXIAL,
      coronal: SLICE_TYPE.CORONAL,
      sagittal: SLICE_TYPE.SAGITTAL,
    };
    this.nv.setSliceType(types[name]);
  }

  // Lines of the same width on the screen, whatever the zoom and the number of slices.
  setCross(shown) {
    const { nv, niivue } = this;
    const three = nv.opts.sliceType === niivue.SLICE_TYPE.MULTIPLANAR;
    const width = (three ? CROSS.three : CROSS.one) / nv.scene.pan2Dxyzmm[3];
    nv.setCrosshairWidth(shown ? width : 0);
  }

  get cursor() {
    const { shape } = this.description.grid;
    const voxel = this.nv.frac2vox(this.nv.scene.crosshairPos);
    return shape.map((length, axis) => Math.min(Math.max(voxel[axis], 0), length - 1));
  }

  set cursor(voxel) {
    this.nv.scene.crosshairPos = this.nv.vox2frac(voxel);
    this.nv.drawScene();
  }

  // Zoomed so that the cursor stays where it is.
  zoom(factor, cross) {
    const { nv } = this;
    const pan = [...nv.scene.pan2Dxyzmm];
    const wanted = factor === 0 ? 1 : pan[3] * factor;
    const zoom = Math.min(Math.max(wanted, ZOOM.least), ZOOM.most);
    const at = nv.frac2mm(nv.scene.crosshairPos);
    for (let axis = 0; axis < 3; axis += 1) pan[axis] += (pan[3] - zoom) * at[axis];
    nv.setPan2Dxyzmm(zoom === 1 ? [0, 0, 0, 1] : [...pan.slice(0, 3), zoom]);
    this.setCross(cross);
  }

  // Give the graphics memory back.
  close() {
    this.nv.cleanup();
    this.nv.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  setWindow(low, high) {
    this.scan.cal_min = low;
    this.scan.cal_max = high;
    this.nv.updateGLVolume();
  }
}

// Whether it is known which way is right: not of pictures, nor of stacks of them.
function hasSides({ flat, affine }) {
  return !flat && affine !== null;
}

// Nothing is drawn where p is exactly 0, which NiiVue's threshold lets through.
function colourTable(stops) {
  const last = stops.length - 1;
  return {
    R: stops.map((stop) => stop[0]),
    G: stops.map((stop) => stop[1]),
    B: stops.map((stop) => stop[2]),
    A: stops.map((_, index) => (index ? 255 : 0)),
    I: stops.map((_, index) => Math.round((255 * index) / last)),
  };
}
