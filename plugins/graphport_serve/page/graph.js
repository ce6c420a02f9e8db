// The graph: what lies around a node, to look at and to walk through, by mouse, finger or keyboard.

import { ask, pathOf } from "./api.js";
import { heat, OTHER, palette } from "./colours.js";
import { el, many, option, say, swatch, theme } from "./dom.js";
import { Drawing } from "./drawing.js";
import { go, here } from "./place.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const LEGEND = 10;

export async function showGraph(main, status, params) {
  if (!status.graph) {
    main.append(el("p", { class: "empty" }, `${status.name} builds no graph. Set strategy.graph: true in its config.`));
    return {};
  }
  const view = new GraphView(main, status);
  await view.update(params);
  return view;
}

class GraphView {
  constructor(main, status) {
    this.base = status.name;
    this.nodes = new Map();
    this.edges = new Map();
    this.hiddenKinds = new Set();
    this.hiddenEdges = new Set();
    this.colouring = "kind";
    this.kindColours = palette(Object.entries(status.graph.node_kinds).sort((a, b) => b[1] - a[1]).map(([kind]) => kind));
    this.colours = this.kindColours;
    this.selected = null;
    this.heat = null; // {seed, scores, top}
    this.stage = el("div", {
      class: "stage", tabindex: 0, role: "application", onkeydown: (event) => this.key(event),
      "aria-label": "Graph. Arrow keys go to a neighbour, Enter brings its neighbourhood, plus and minus zoom, 0 shows all.",
    });
    this.status = el("p", { class: "quiet count", role: "status" });
    this.details = el("section", { "aria-label": "Selected node", class: "details" });
    this.legend = el("section", { "aria-label": "Legend and filters", class: "legend" });
    main.append(el("div", { class: "graph" },
      el("div", { class: "panel" }, this.finder(), this.controls(), this.details, this.legend),
      el("div", { class: "canvas" }, this.stage, this.status, this.zoomButtons())));
    if (!supportsWebGL()) {
      this.stage.append(el("p", { class: "empty" }, "This browser draws no WebGL; the lists beside work all the same."));
      this.drawing = null;
      return;
    }
    this.drawing = new Drawing(this.stage, {
      nodeLook: (id) => this.nodeLook(id), edgeLook: (key) => this.edgeLook(key),
      onselect: (id) => this.select(id), onopen: (id) => this.open(id),
    });
  }

  // -- what is asked of the server -------------------------------------------------------------------

  async update({ node, depth = "1", max = "200" }) {
    this.form.elements.depth.value = depth;
    this.form.elements.max.value = max;
    const params = { node, depth, max_nodes: max, communities: true };
    if (await this.load(params, { keep: false })) {
      this.drawing?.fit();
      this.select(node && this.nodes.has(node) ? node : null);
    }
  }

  // Bring in what lies around a node, and keep what is shown.
  async expand(id) {
    const before = this.nodes.size;
    const params = { node: id, depth: 1, max_nodes: this.form.elements.max.value, communities: true };
    if (await this.load(params, { keep: true })) {
      this.select(id);
      this.drawing?.follow(id);
      say(`${many(this.nodes.size - before, "node")} more`);
    }
  }

  async load(params, { keep }) {
    this.turn = (this.turn ?? 0) + 1;
    const mine = this.turn;
    this.stage.setAttribute("aria-busy", "true");
    try {
      const part = await ask(pathOf(this.base) + "/graph", { params });
      if (mine !== this.turn) return false; // the reader has gone on
      if (!keep) {
        this.nodes.clear();
        this.edges.clear();
      }
      for (const item of part.nodes) this.nodes.set(item.id, item);
      for (const item of part.edges) this.edges.set(JSON.stringify([item.source, item.target, item.kind]), item);
      this.cut = part.truncated;
      this.recolour();
      this.drawing?.show(this.nodes, this.edges);
      this.tell();
      return true;
    } catch (error) {
      say(error.message, { problem: true });
      return false;
    } finally {
      this.stage.removeAttribute("aria-busy");
    }
  }

  async warm(seed) {
    try {
      const ranking = await ask(pathOf(this.base) + "/pagerank", { params: { node: seed, top_k: 5000 } });
      const least = Math.log(Math.max(ranking.scores.at(-1)?.score ?? 1e-6, 1e-6));
      const span = -least || 1;
      const shares = ranking.scores.map(({ id, score }) => [id, (Math.log(Math.max(score, 1e-6)) - least) / span]);
      this.heat = { seed, shares: new Map(shares), top: ranking.scores.slice(0, 10) };
    } catch (error) {
      say(error.message, { problem: true });
    }
  }

  // -- looks -----------------------------------------------------------------------------------------

  nodeLook(id) {
    const node = this.nodes.get(id);
    if (!node || this.hiddenKinds.has(node.kind)) return { hidden: true };
    const scale = this.nodes.size > 1500 ? 0.5 : 1;
    if (this.colouring === "heat" && this.heat) {
      const share = this.heat.shares.get(id) ?? 0;
      return { color: heat(share), size: (3 + 11 * share) * scale, bright: true };
    }
    const size = scale * Math.min(15, 3 + 1.7 * Math.log2(1 + node.degree));
    return { color: this.colours.get(this.colouring === "community" ? node.community : node.kind) ?? OTHER, size };
  }

  edgeLook(key) {
    const edge = this.edges.get(key);
    if (!edge || this.hiddenEdges.has(edge.kind)) return { hidden: true };
    if (!this.visible(edge.source) || !this.visible(edge.target)) return { hidden: true };
    return { color: this.edgeColour };
  }

  visible(id) {
    return !this.hiddenKinds.has(this.nodes.get(id)?.kind);
  }

  recolour() {
    this.edgeColour = theme("edge");
    const groups = counted([...this.nodes.values()].map((node) => node.community));
    this.colours = this.colouring === "community" ? palette(groups.map(([name]) => name)) : this.kindColours;
    this.drawLegend(groups);
    this.drawDetails();
    this.drawing?.repaint();
  }

  async colourBy(what) {
    if (what === "heat") {
      const seed = this.selected ?? this.heat?.seed ?? [...this.nodes.values()].sort((a, b) => b.degree - a.degree)[0]?.id;
      if (seed) await this.warm(seed);
    }
    this.colouring = what;
    this.recolour();
  }

  // -- walking ---------------------------------------------------------------------------------------

  select(id) {
    this.selected = id;
    this.drawing?.select(id);
    this.drawDetails();
  }

  open(id) {
    const { depth, max } = this.form.elements;
    const same = here().params.node === id;
    if (same) this.expand(id);
    else go(this.base, "graph", { node: id, depth: depth.value, max: max.value });
  }

  key(event) {
    const arrow = ARROWS[event.key];
    const act = {
      Enter: () => this.selected !== null && this.expand(this.selected),
      Escape: () => this.select(null),
      "+": () => this.drawing?.zoom(1 / 1.4), "=": () => this.drawing?.zoom(1 / 1.4),
      "-": () => this.drawing?.zoom(1.4), 0: () => this.drawing?.fit(),
    }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || !(arrow || act)) return;
    event.preventDefault();
    if (act) act();
    else if (event.shiftKey) this.drawing?.move(...arrow);
    else {
      const next = this.drawing?.toward(...arrow, (id) => this.visible(id));
      if (next) {
        this.select(next);
        this.drawing.look(next);
      }
    }
  }

  // -- the panel -------------------------------------------------------------------------------------

  finder() {
    const found = el("ul", { class: "found" });
    let waiting = 0;
    const find = async (text) => {
      if (!text.trim()) return found.replaceChildren();
      try {
        const { nodes } = await ask(pathOf(this.base) + "/nodes", { params: { q: text.trim(), limit: 8 } });
        found.replaceChildren(...(nodes.length ? nodes.map((node) => this.nodeButton(node, () => {
          found.replaceChildren();
          this.open(node.id);
        })) : [el("li", { class: "quiet" }, "no such node")]));
      } catch (error) {
        say(error.message, { problem: true });
      }
    };
    const input = el("input", {
      type: "search", name: "find", "aria-label": "Find a node", placeholder: "Find a node by name", autocomplete: "off", maxlength: 2000,
      oninput: () => { clearTimeout(waiting); waiting = setTimeout(() => find(input.value), 150); },
    });
    return el("form", { class: "find", role: "search", onsubmit: (event) => { event.preventDefault(); found.querySelector("button")?.click(); } }, input, found);
  }

  controls() {
    const again = () => go(this.base, "graph", { ...here().params, depth: this.form.elements.depth.value, max: this.form.elements.max.value });
    this.form = el("form", { class: "controls", onsubmit: (event) => event.preventDefault() },
      el("label", {}, "Steps ", el("select", { name: "depth", onchange: again }, ["1", "2", "3"].map((value) => option(value, value)))),
      el("label", {}, "At most ", el("select", { name: "max", onchange: again }, ["50", "200", "1000", "5000"].map((value) => option(value, `${value} nodes`)))),
      el("label", {}, "Colours ", el("select", { name: "colours", onchange: (event) => this.colourBy(event.target.value) },
        [["kind", "kinds"], ["community", "communities"], ["heat", "heat from a node"]].map(([value, label]) => option(value, label)))),
      el("button", { type: "button", onclick: () => go(this.base, "graph", { max: this.form.elements.max.value }) }, "Overview"));
    return this.form;
  }

  zoomButtons() {
    const button = (label, text, act) => el("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
    return el("div", { class: "zoom" },
      button("Zoom in", "+", () => this.drawing?.zoom(1 / 1.4)), button("Zoom out", "−", () => this.drawing?.zoom(1.4)),
      button("Show all", "◻", () => this.drawing?.fit()));
  }

  nodeButton(node, act, note = node.kind) {
    return el("li", {}, el("button", { type: "button", class: "plain", title: node.id, onclick: act },
      swatch(this.nodeColour(node)), el("span", { class: "name" }, node.name), el("span", { class: "quiet" }, note)));
  }

  nodeColour(node) {
    if (this.colouring === "heat" && this.heat) return heat(this.heat.shares.get(node.id) ?? 0);
    const look = this.nodes.has(node.id) ? this.nodeLook(node.id) : {};
    return look.color ?? this.kindColours.get(node.kind) ?? OTHER;
  }

  drawDetails() {
    const node = this.nodes.get(this.selected);
    if (!node) {
      this.details.replaceChildren(el("p", { class: "quiet" }, "Choose a node: click it, find it by name, or use the arrow keys in the graph."));
      return;
    }
    const around = this.neighbours(node.id);
    const text = el("p", { class: "text" });
    this.details.replaceChildren(...[
      el("h2", {}, swatch(this.nodeColour(node)), node.name),
      el("p", { class: "quiet" }, `${node.kind} · ${many(node.degree, "edge")}, ${many(around.length, "neighbour")} shown`),
      el("p", { class: "quiet id" }, node.id),
      el("div", { class: "line" },
        el("button", { type: "button", onclick: () => this.expand(node.id) }, "Bring neighbours"),
        el("button", { type: "button", onclick: () => this.open(node.id) }, "Only around this"),
        el("button", { type: "button", onclick: () => { this.form.elements.colours.value = "heat"; this.colourBy("heat"); } }, "Heat from here")),
      node.entry !== null && text,
      around.length > 0 && el("h3", {}, "Neighbours"),
      el("ul", { class: "around" }, around.slice(0, 100).map(({ id, note }) =>
        this.nodeButton(this.nodes.get(id), () => { this.select(id); this.drawing?.look(id); this.details.querySelector("button")?.focus(); }, note))),
    ].filter(Boolean));
    if (node.entry !== null) this.fillText(text, node);
  }

  async fillText(paragraph, node) {
    try {
      const entry = await ask(pathOf(this.base) + "/entries" + pathOf(node.entry));
      paragraph.textContent = entry.text.length > 600 ? `${entry.text.slice(0, 600)} …` : entry.text;
    } catch (error) {
      paragraph.textContent = error.message;
    }
  }

  neighbours(id) {
    const notes = new Map();
    for (const edge of this.edges.values()) {
      if (this.hiddenEdges.has(edge.kind) || edge.source === edge.target) continue;
      if (edge.source === id) add(notes, edge.target, `${edge.kind} →`);
      if (edge.target === id) add(notes, edge.source, `← ${edge.kind}`);
    }
    return [...notes].filter(([other]) => this.visible(other)).map(([other, note]) => ({ id: other, note: note.join(", ") }))
      .sort((a, b) => this.nodes.get(b.id).degree - this.nodes.get(a.id).degree);
  }

  drawLegend(groups) {
    const parts = [];
    if (this.colouring === "community") parts.push(this.communityLegend(groups));
    if (this.colouring === "heat" && this.heat) parts.push(this.heatLegend());
    const kinds = counted([...this.nodes.values()].map((node) => node.kind));
    const edgeKinds = counted([...this.edges.values()].map((edge) => edge.kind));
    parts.push(this.filter("Node kinds", kinds, this.hiddenKinds, (kind) => this.colouring === "kind" && swatch(this.colours.get(kind) ?? OTHER)));
    parts.push(this.filter("Edge kinds", edgeKinds, this.hiddenEdges, () => null));
    this.legend.replaceChildren(...parts);
  }

  filter(title, kinds, hidden, mark) {
    return el("fieldset", {}, el("legend", {}, title), kinds.map(([kind, count]) => el("label", { class: "check" },
      el("input", { type: "checkbox", checked: !hidden.has(kind), onchange: (event) => {
        if (event.target.checked) hidden.delete(kind);
        else hidden.add(kind);
        this.drawing?.repaint();
        this.drawDetails();
        this.tell();
      } }), mark(kind), el("span", { class: "name" }, kind), el("span", { class: "quiet" }, count))));
  }

  communityLegend(groups) {
    const lists = groups.slice(0, LEGEND).map(([community, count]) => {
      const members = [...this.nodes.values()].filter((node) => node.community === community).sort((a, b) => b.degree - a.degree);
      return this.nodeButton(members[0], () => { this.select(members[0].id); this.drawing?.look(members[0].id); }, many(count, "node"));
    });
    const more = groups.length - LEGEND;
    return el("div", {}, el("h3", {}, `${many(groups.length, "community", "communities")} shown`), el("ul", { class: "communities" }, lists),
      more > 0 && el("p", { class: "quiet" }, `${more} smaller ones in grey`));
  }

  heatLegend() {
    const scale = el("div", { class: "scale", "aria-hidden": "true" });
    const stops = [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => heat(share));
    scale.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    const items = this.heat.top.map((node) => this.nodeButton(node, () => this.reach(node.id), `${(node.score * 100).toFixed(1)} %`));
    return el("div", {}, el("h3", {}, `Heat from ${this.nodes.get(this.heat.seed)?.name ?? this.heat.seed}`), scale,
      el("p", { class: "quiet" }, "Where a walk from it is, in shares."), el("ul", { class: "hot" }, items));
  }

  reach(id) {
    if (!this.nodes.has(id)) {
      this.open(id);
      return;
    }
    this.select(id);
    this.drawing?.look(id);
  }

  tell() {
    const nodes = [...this.nodes.keys()].filter((id) => this.visible(id)).length;
    const edges = [...this.edges.values()].filter((edge) => !this.hiddenEdges.has(edge.kind) && this.visible(edge.source) && this.visible(edge.target)).length;
    this.status.textContent = `${many(nodes, "node")}, ${many(edges, "edge")}${this.cut ? "; there is more" : ""}`;
  }

  leave() {
    this.drawing?.close();
  }
}

function add(lists, key, value) {
  if (!lists.has(key)) lists.set(key, []);
  lists.get(key).push(value);
}

// [value, how often], the commonest first.
function counted(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (String(a[0]) < String(b[0]) ? -1 : 1));
}

function supportsWebGL() {
  return Boolean(document.createElement("canvas").getContext("webgl2"));
}
