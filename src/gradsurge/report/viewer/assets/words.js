// Numbers and places in words.

function probabilityText(p) {
  if (p > 0 && p < 0.0005) return "p < 0.001";
  if (p < 1 && p > 0.9995) return "p > 0.999";
  return `p = ${p.toFixed(3)}`;
}

function amountText(count, grid) {
  if (count === null) return "–";
  if (grid.millilitres === null) {
    const unit = grid.flat ? "pixels" : "voxels";
    return `${Math.round(count).toLocaleString("en")} ${unit}`;
  }
  const volume = count * grid.millilitres;
  const decimals = volume >= 100 ? 0 : volume >= 10 ? 1 : volume >= 1 ? 2 : 3;
  return `${volume.toFixed(decimals)} ml`;
}

function diceText(hits, one, other) {
  if (hits === null || one === null || other === null || one + other === 0) return "–";
  return ((2 * hits) / (one + other)).toFixed(3);
}

// Where a shown voxel lies in the array of the file.
function sourceVoxel(voxel, source) {
  const found = [];
  source.axes.forEach((axis, shown) => {
    const place = voxel[shown] * source.steps[shown];
    found[axis] = source.flips[shown] ? source.shape[axis] - 1 - place : place;
  });
  return found;
}

// And the shown voxel of one in the array of the file.
function shownVoxel(voxel, source) {
  const found = source.axes.map((axis, shown) => {
    const place = source.flips[shown] ? source.shape[axis] - 1 - voxel[axis] : voxel[axis];
    return Math.floor(place / source.steps[shown]);
  });
  return [...found, 0].slice(0, 3);
}

function placeText(voxel, grid) {
  const inFile = sourceVoxel(voxel, grid.source);
  const picture = grid.source.shape.length === 2 && grid.source.axes[0] === 1;
  const order = picture ? "row, column" : "voxel";
  const place = `${order} ${inFile.join(", ")}`;
  if (!grid.affine) return place;
  const mm = grid.affine
    .slice(0, 3)
    .map((row) => row[0] * voxel[0] + row[1] * voxel[1] + row[2] * voxel[2] + row[3]);
  return `${place} · ${mm.map((value) => value.toFixed(1)).join(", ")} mm`;
}

// What a class number stands for.
function className(number, structures, role) {
  if (number === undefined) return "–";
  if (number === 0) return "background";
  const fits = structures.filter((s) => s[role] === null || s[role].includes(number));
  const narrow = fits.filter((s) => s[role] === null || s[role].length === 1);
  const names = (narrow.length ? narrow : fits).map((s) => s.name);
  return names.length ? names.join(", ") : `class ${number}`;
}
