// Building blocks of the page. Names are text whatever they hold: nothing is parsed as HTML.

function make(tag, settings = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(settings)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

// A slider with its name and its value in words above it.
function slider(name, words, range, onInput) {
  const shown = make("output", { className: "gs-value" });
  const input = make("input", { type: "range", ...range, "aria-label": name });
  const tell = () => {
    shown.textContent = words(Number(input.value));
    input.setAttribute("aria-valuetext", shown.textContent);
  };
  const set = (value) => {
    input.value = value;
    tell();
  };
  input.addEventListener("input", () => {
    tell();
    onInput(Number(input.value));
  });
  tell();
  const title = make("span", {}, name);
  return { element: make("label", { className: "gs-slider" }, title, shown, input), set, input };
}

function tick(name, key, checked, onChange, sample = null) {
  const input = make("input", { type: "checkbox", checked });
  input.addEventListener("change", () => onChange(input.checked));
  const cap = key ? make("kbd", {}, key) : null;
  const words = make("span", {}, name);
  const element = make("label", { className: "gs-tick" }, input, sample, words, cap);
  return { element, input };
}

function choice(name, options, onChange) {
  const items = options.map(([value, text]) => make("option", { value, textContent: text }));
  const select = make("select", { "aria-label": name }, ...items);
  select.addEventListener("change", () => onChange(select.value));
  const element = make("label", { className: "gs-choice" }, make("span", {}, name), select);
  return { element, select };
}

// The colours of probabilities, hatched where the threshold hides them.
function colourBar(stops) {
  const colours = stops.map((stop) => `rgb(${stop.join(",")})`);
  const hidden = make("div", { className: "gs-hidden" });
  const bar = make("div", { className: "gs-bar" }, hidden);
  bar.style.background = `linear-gradient(to right, ${colours.join(",")})`;
  const marks = ["0", "0.25", "0.5", "0.75", "1"].map((text) => make("span", {}, text));
  const scale = make("div", { className: "gs-scale" }, ...marks);
  const set = (threshold) => {
    hidden.style.width = `${100 * threshold}%`;
  };
  return { element: make("div", { className: "gs-legend" }, bar, scale), set };
}
