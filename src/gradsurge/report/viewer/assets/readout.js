// What is told beside a model's picture: the voxel under the cursor, and the whole case.

class Readout {
  constructor(description, model) {
    Object.assign(this, { description, model });
    this.p = make("strong", { className: "gs-p" });
    this.rest = make("span", {});
    this.rows = make("tbody", {});
    const titles = ["", "amount", "Dice with label"];
    const head = titles.map((text) => make("th", { scope: "col" }, text));
    const caption = make("caption", {}, "In the whole case");
    const table = make("table", {}, caption, make("thead", {}, make("tr", {}, ...head)), this.rows);
    const cursor = make("p", { className: "gs-cursor", role: "status" }, this.p, this.rest);
    this.element = make("div", { className: "gs-readout" }, cursor, table);
  }

  // `values` of the voxel: p, mask and label, undefined where there is none of it.
  atCursor(values) {
    const { structures } = this.description;
    this.p.textContent = values.p === undefined ? "" : probabilityText(values.p);
    const told = ["mask", "label"]
      .filter((role) => values[role] !== undefined)
      .map((role) => `${role}: ${className(values[role], structures, role)}`);
    this.rest.textContent = told.join(" · ");
  }

  wholeCase(structure, threshold) {
    const { grid, steps } = this.description;
    const found = this.model.amounts[structure];
    const n = Math.round(threshold * steps);
    const rows = [];
    if (found.label !== null) rows.push(["label", amountText(found.label, grid), ""]);
    if (found.mask !== null) {
      const dice = diceText(found.mask_hits, found.mask, found.label);
      rows.push(["mask", amountText(found.mask, grid), dice]);
    }
    if (found.above !== null) {
      const dice = diceText(found.hits?.[n] ?? null, found.above[n], found.label);
      rows.push([`p ≥ ${threshold.toFixed(2)}`, amountText(found.above[n], grid), dice]);
      rows.push(["sum of p", amountText(found.expected, grid), ""]);
    }
    this.rows.replaceChildren(...rows.map(tableRow));
  }
}

function tableRow([name, ...cells]) {
  const values = cells.map((cell) => make("td", {}, cell));
  return make("tr", {}, make("th", { scope: "row" }, name), ...values);
}
