"""A page that loads a widget as anywidget does: its module, and a model with the traits."""

import base64
import json

from gradsurge.report.viewer.widget import case_widget

_PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<style>{style}</style><div id="cell"></div>
<script type="module">
const state = {state};
const bytes = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
state.parts = Object.fromEntries(Object.entries({parts}).map(([n, t]) => [n, bytes(t)]));
const heard = {{}};
window.model = {{
  saved: {{}},
  get: (name) => state[name],
  set: (name, value) => {{ state[name] = value; }},
  on: (event, call) => {{ (heard[event] ??= []).push(call); }},
  off: (event, call) => {{ heard[event] = heard[event].filter((other) => other !== call); }},
  save_changes() {{ this.saved = {{ ...state }}; }},
  change(name, value) {{
    state[name] = value;
    (heard[`change:${{name}}`] ?? []).forEach((call) => call());
  }},
}};
const url = URL.createObjectURL(new Blob([{module}], {{ type: "text/javascript" }}));
const widget = (await import(url)).default;
const el = document.getElementById("cell");
window.cleanUp = await widget.render({{ model: window.model, el }});
</script>"""


def write_host(view, folder, traits):
    """Write the page of a case's widget, some traits set beforehand, and return its file."""
    widget = case_widget(view)
    for name, value in traits.items():
        setattr(widget, name, value)
    names = ("description", "threshold", "structure", "cursor")
    parts = {name: base64.b64encode(data).decode() for name, data in widget.parts.items()}
    file = folder / "cell.html"
    file.write_text(
        _PAGE.format(
            style=widget._css,
            state=json.dumps({name: getattr(widget, name) for name in names}),
            parts=json.dumps(parts),
            module=json.dumps(str(widget._esm)).replace("</", "<\\/"),
        ),
        encoding="utf-8",
    )
    return file
