"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const chosen = {};

  // ---- which region and structure is shown -------------------------------------------------

  function optionOf(select) {
    return select.options[select.selectedIndex]?.value;
  }

  function showViews() {
    for (const chooser of all("[data-chooser]")) {
      const choice = {};
      for (const select of all("select", chooser)) choice[select.dataset.choice] = optionOf(select);
      chosen[chooser.dataset.chooser] = choice;
      for (const view of all(`[data-view="${chooser.dataset.chooser}"]`)) {
        view.hidden = view.dataset.region !== choice.region || view.dataset.label !== choice.label;
      }
    }
  }

  function follow(event) {
    const { value, dataset } = event.target;
    for (const select of all(`select[data-choice="${dataset.choice}"]`)) {
      if ([...select.options].some((option) => option.value === value)) select.value = value;
    }
    showViews();
    showThreshold();
  }

  for (const select of all("[data-chooser] select")) select.addEventListener("change", follow);

  // ---- numbers, written as the page writes them --------------------------------------------

  function score(value) {
    if (value === null || value === undefined) return "–";
    if (value === 0) return "0";
    if (value >= 0.995 && value < 1) return value < 0.99995 ? value.toFixed(4) : "> 0.9999";
    return value >= 0.0001 ? value.toPrecision(3) : "< 0.0001";
  }

  function count(value) {
    return String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  }

  // ---- the threshold -----------------------------------------------------------------------

  const slider = document.getElementById("slider");
  const chart = document.getElementById("dice-chart");
  const PAPER_WIDTH = 680; // of a printed page, so that letters keep their size
  const margin = { left: 52, right: 12, top: 12, bottom: 38 };
  const shapes = {
    o: "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0z",
    s: "M-5.5-5.5h11v11h-11z",
    "^": "M0-6.5l6.5 12h-13z",
    D: "M0-7l7 7-7 7-7-7z",
    v: "M0 6.5l6.5-12h-13z",
    P: "M-2.5-6h5v3.5h3.5v5h-3.5v3.5h-5v-3.5h-3.5v-5h3.5z",
    X: "M-6-3l3-3 3 3 3-3 3 3-3 3 3 3-3 3-3-3-3 3-3-3 3-3z",
  };

  function viewShown() {
    const choice = chosen.threshold;
    if (!choice) return data.views[0];
    return data.views.find((v) => v.region === choice.region && v.label === choice.label);
  }

  function add(parent, name, attributes, text) {
    const node = document.createElementNS(chart.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }

  function drawAxes(x, y, height) {
    for (let k = 0; k <= 5; k += 1) {
      const value = k / 5;
      add(chart, "line", { x1: x(0), x2: x(1), y1: y(value), y2: y(value), stroke: "#e4e4e4" });
      add(chart, "text", { x: x(0) - 8, y: y(value) + 4, "text-anchor": "end" }, value.toFixed(1));
      const tick = { x: x(value), y: y(0) + 17, "text-anchor": "middle" };
      add(chart, "text", tick, value.toFixed(1));
    }
    const middle = { x: (x(0) + x(1)) / 2, y: height - 4, "text-anchor": "middle" };
    add(chart, "text", middle, "threshold");
    const at = `translate(11 ${(y(0) + y(1)) / 2}) rotate(-90)`;
    add(chart, "text", { transform: at, "text-anchor": "middle" }, "pooled Dice");
  }

  function drawModel(look, found, x, y) {
    const points = found.thresholds
      .map((t, k) => (found.dice[k] === null ? null : `${x(t).toFixed(1)},${y(found.dice[k]).toFixed(1)}`))
      .filter((point) => point !== null);
    add(chart, "polyline", {
      points: points.join(" "),
      fill: "none",
      stroke: look.colour,
      "stroke-width": 2,
      "stroke-dasharray": look.dashes.join(" ") || "none",
    });
    if (found.best === null) return;
    add(chart, "path", {
      class: "optimum",
      d: shapes[look.marker],
      transform: `translate(${x(found.best)} ${y(found.bestDice)})`,
      fill: look.colour,
      stroke: "#ffffff",
      "stroke-width": 1.5,
    });
  }

  function drawChart(width) {
    const height = width < 500 ? 240 : 300;
    const x = (t) => margin.left + t * (width - margin.left - margin.right);
    const y = (d) => height - margin.bottom - d * (height - margin.top - margin.bottom);
    chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
    chart.replaceChildren();
    drawAxes(x, y, height);
    const step = Number(slider.value);
    const models = viewShown().models;
    const position = models.find((found) => found !== null).thresholds[step];
    const line = { x1: x(position), x2: x(position), y1: y(0), y2: y(1), stroke: "#222222" };
    add(chart, "line", { ...line, "stroke-dasharray": "2 3" });
    models.forEach((found, k) => {
      if (found === null) return;
      drawModel(data.models[k], found, x, y);
      if (found.dice[step] === null) return;
      const here = { cx: x(position), cy: y(found.dice[step]), r: 4, stroke: data.models[k].colour };
      add(chart, "circle", { ...here, fill: "#ffffff", "stroke-width": 2 });
    });
  }

  function fitChart() {
    drawChart(Math.max(chart.clientWidth, 240));
  }

  function showRow(row, found, step) {
    const put = (name, text) => {
      row.querySelector(`[data-cell="${name}"]`).textContent = text;
    };
    put("dice", score(found?.dice[step]));
    put("mean", score(found?.mean[step]));
    for (const name of ["tp", "fp", "fn"]) put(name, found ? count(found[name][step]) : "–");
    put("bestDice", score(found?.bestDice));
    const button = row.querySelector("[data-best]");
    button.textContent = score(found?.best);
    button.disabled = !found || found.best === null;
  }

  function showThreshold() {
    if (!slider) return;
    const step = Number(slider.value);
    const view = viewShown();
    const text = view.models.find((found) => found !== null).thresholds[step].toFixed(2);
    document.getElementById("slider-value").textContent = text;
    slider.setAttribute("aria-valuetext", text);
    document.getElementById("threshold-view").textContent = `${view.structure}, ${view.regionTitle}`;
    for (const row of all("#threshold-table tr[data-model]")) {
      showRow(row, view.models[Number(row.dataset.model)], step);
    }
    fitChart();
  }

  function stepOf(found) {
    return Math.min(Math.round(found.best * found.thresholds.length), Number(slider.max));
  }

  function markBest() {
    const steps = viewShown().models.filter((found) => found && found.best !== null).map(stepOf);
    const options = steps.map((step) => {
      const option = document.createElement("option");
      option.value = String(step);
      return option;
    });
    document.getElementById("best").replaceChildren(...options);
  }

  showViews();
  if (slider) {
    slider.addEventListener("input", showThreshold);
    for (const row of all("#threshold-table tr[data-model]")) {
      row.querySelector("[data-best]").addEventListener("click", () => {
        slider.value = String(stepOf(viewShown().models[Number(row.dataset.model)]));
        showThreshold();
      });
    }
    for (const select of all("[data-chooser] select")) select.addEventListener("change", markBest);
    new ResizeObserver(fitChart).observe(chart.parentElement);
    window.addEventListener("beforeprint", () => drawChart(PAPER_WIDTH));
    window.addEventListener("afterprint", fitChart);
    markBest();
    showThreshold();
  }
})();
