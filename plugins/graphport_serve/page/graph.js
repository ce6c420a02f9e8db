// The graph: what lies around a node, to look at and to walk through, by mouse, finger or keyboard.

import { ask, pathOf } from "./api.js";
import { heat, OTHER } from "./colours.js";
import { el, many, option, say, swatch, theme } from "./dom.js";
import { Drawing } from "./drawing.js";
import { Picture } from "./picture.js";
import { go, here } from "./place.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const ZOOM = 1.4;
const LEGEND = 10;
const LISTED = 100;

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
    this.picture = new Picture(status.graph.node_kinds);
    this.selected = null;
    this.turn = 0;
    this.stage = el("div", {
      class: "stage", tabindex: 0, role: "application", onkeydown: (event) => this.key(event),
      "aria-label": "Graph. Arrow keys go to a neighbour, Enter brings its neighbourhood, plus and minus zoom, 0 shows all.",
    });
    this.count = el("p", { class: "quiet count", role: "status" });
    this.details = el("section", { "aria-label": "Selected node", class: "details" });
    this.legend = el("section", { "aria-label": "Legend and filters", class: "legend" });
    main.append(el("div", { class: "graph" },
      el("div", { class: "panel" }, this.finder(), this.controls(), this.details, this.legend),
      el("div", { class: "canvas" }, this.stage, this.count, this.zoomButtons())));
    this.drawing = supportsWebGL() ? new Drawing(this.stage, {
      nodeLook: (id) => this.picture.node(id), edgeLook: (key) => this.picture.edge(key),
      onselect: (id) => this.select(id), onopen: (id) => this.open(id),
    }) : null;
    if (!this.drawing) this.stage.append(el("p", { class: "empty" }, "This browser draws no WebGL; the lists beside work all the same."));
  }

  leave() {
    this.drawing?.close();
  }

  // -- what is asked of the server -------------------------------------------------------------------

  async update({ node, depth = "1", max = "200" }) {
    this.form.elements.depth.value = depth;
    this.form.elements.max.value = max;
    if (await this.load({ node, depth, max_nodes: max }, { keep: false })) {
      this.drawing?.fit();
      this.select(node ?? null);
    }
  }

  // Bring in what lies around a node, and keep what is shown.
  async expand(id) {
    const before = this.picture.nodes.size;
    if (await this.load({ node: id, depth: 1, max_nodes: this.form.elements.max.value }, { keep: true })) {
      this.select(id);
      this.drawing?.follow(id);
      say(`${many(this.picture.nodes.size - before, "node")} more`);
    }
  }

  async load(params, { keep }) {
    this.turn += 1;
    const mine = this.turn;
    this.stage.setAttribute("aria-busy", "true");
    try {
      const part = await ask(pathOf(this.base) + "/graph", { params: { ...params, communities: true } });
      if (mine !== this.turn) return false; // the reader has gone on
      this.picture.take(part, { keep });
      this.recolour();
      this.drawing?.show(this.picture.nodes, this.picture.edges);
      return true;
    } catch (error) {
      say(error.message, { problem: true });
      return false;
    } finally {
      this.stage.removeAttribute("aria-busy");
    }
  }

  async colourBy(what) {
    const hub = () => [...this.picture.nodes.values()].reduce((best, node) => (node.degree > best.degree ? node : best)).id;
    try {
      if (what === "heat" && this.picture.nodes.size) {
        const seed = this.selected ?? this.picture.heat?.seed ?? hub();
        this.picture.warm(await ask(pathOf(this.base) + "/pagerank", { params: { node: seed, top_k: 5000 } }));
      }
      this.picture.colouring = what;
      this.recolour();
    } catch (error) {
      say(error.message, { problem: true });
    }
  }

  // -- walking ---------------------------------------------------------------------------------------

  select(id) {
    this.selected = this.picture.nodes.has(id) ? id : null;
    this.drawing?.select(this.selected);
    this.drawDetails();
  }

  // Go to a node: it is selected if it is shown, else the graph around it is.
  reach(id) {
    if (!this.picture.nodes.has(id)) {
      this.open(id);
      return;
    }
    this.select(id);
    this.drawing?.look(id);
  }

  // Show the graph around a node and nothing else; again, a step further.
  open(id) {
    const { depth, max } = this.form.elements;
    if (here().params.node === id) this.expand(id);
    else go(this.base, "graph", { node: id, depth: depth.value, max: max.value });
  }

  key(event) {
    const arrow = ARROWS[event.key];
    const act = {
      Enter: () => this.selected !== null && this.expand(this.selected),
      Escape: () => this.select(null),
      "+": () => this.drawing?.zoom(1 / ZOOM), "=": () => this.drawing?.zoom(1 / ZOOM),
      "-": () => this.drawing?.zoom(ZOOM), 0: () => this.drawing?.fit(),
    }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || !(arrow || act)) return;
    event.preventDefault();
    if (act) act();
    else if (event.shiftKey) this.drawing?.move(...arrow);
    else {
      const next = this.drawing?.toward(...arrow, (id) => this.picture.visible(id));
      if (next) this.reach(next);
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
        const open = (node) => () => { found.replaceChildren(); this.open(node.id); };
        found.replaceChildren(...nodes.map((node) => this.nodeButton(node, node.kind, open(node))));
        if (!nodes.length) found.append(el("li", { class: "quiet" }, "no such node"));
      } catch (error) {
        say(error.message, { problem: true });
      }
    };
    const input = el("input", {
      type: "search", name: "find", "aria-label": "Find a node", placeholder: "Find a node by name", autocomplete: "off", maxlength: 2000,
      oninput: () => { clearTimeout(waiting); waiting = setTimeout(() => find(input.value), 150); },
    });
    const first = (event) => { event.preventDefault(); found.querySelector("button")?.click(); };
    return el("form", { class: "find", role: "search", onsubmit: first }, input, found);
  }

  controls() {
    const select = (name, choices, onchange) => el("select", { name, onchange }, choices.map(([value, label]) => option(value, label)));
    const again = () => go(this.base, "graph", { ...here().params, depth: this.form.elements.depth.value, max: this.form.elements.max.value });
    this.form = el("form", { class: "controls", onsubmit: (event) => event.preventDefault() },
      el("label", {}, "Steps ", select("depth", ["1", "2", "3"].map((value) => [value, value]), again)),
      el("label", {}, "At most ", select("max", ["50", "200", "1000", "5000"].map((value) => [value, `${value} nodes`]), again)),
      el("label", {}, "Colours ", select("colours", [["kind", "kinds"], ["community", "communities"], ["heat", "heat from a node"]],
        (event) => this.colourBy(event.target.value))),
      el("button", { type: "button", onclick: () => go(this.base, "graph", { max: this.form.elements.max.value }) }, "Overview"));
    return this.form;
  }

  zoomButtons() {
    const button = (label, text, onclick) => el("button", { type: "button", "aria-label": label, title: label, onclick }, text);
    return el("div", { class: "zoom" },
      button("Zoom in", "+", () => this.drawing?.zoom(1 / ZOOM)), button("Zoom out", "−", () => this.drawing?.zoom(ZOOM)),
      button("Show all", "◻", () => this.drawing?.fit()));
  }

  nodeButton(node, note, onclick) {
    return el("li", {}, el("button", { type: "button", class: "plain", title: node.id, onclick },
      swatch(this.picture.colour(node)), el("span", { class: "name" }, node.name), el("span", { class: "quiet" }, note)));
  }

  drawDetails() {
    const node = this.picture.nodes.get(this.selected);
    if (!node) {
      this.details.replaceChildren(el("p", { class: "quiet" }, "Choose a node: click it, find it by name, or use the arrow keys in the graph."));
      return;
    }
    const around = this.picture.neighbours(node.id);
    const text = node.entry !== null && el("p", { class: "text" });
    const button = (label, onclick) => el("button", { type: "button", onclick }, label);
    const walk = (other) => () => { this.reach(other.id); this.details.querySelector("button")?.focus(); };
    this.details.replaceChildren(...[
      el("h2", {}, swatch(this.picture.colour(node)), node.name),
      el("p", { class: "quiet" }, `${node.kind} · ${many(node.degree, "edge")}, ${many(around.length, "neighbour")} shown`),
      el("p", { class: "quiet id" }, node.id),
      el("div", { class: "line" },
        button("Bring neighbours", () => this.expand(node.id)), button("Only around this", () => this.open(node.id)),
        button("Heat from here", () => { this.form.elements.colours.value = "heat"; this.colourBy("heat"); })),
      text,
      around.length > 0 && el("h3", {}, "Neighbours"),
      el("ul", { class: "around" }, around.slice(0, LISTED).map(([other, how]) => this.nodeButton(other, how, walk(other)))),
    ].filter(Boolean));
    if (text) this.fillText(text, node.entry);
  }

  async fillText(paragraph, entry) {
    try {
      const { text } = await ask(pathOf(this.base) + "/entries" + pathOf(entry));
      paragraph.textContent = text.length > 600 ? `${text.slice(0, 600)} …` : text;
    } catch (error) {
      paragraph.textContent = error.message;
    }
  }

  // -- colours and filters ---------------------------------------------------------------------------

  recolour() {
    this.picture.edgeColour = theme("edge");
    this.drawLegend();
    this.refresh();
  }

  refresh() {
    const [nodes, edges] = this.picture.numbers();
    this.count.textContent = `${many(nodes, "node")}, ${many(edges, "edge")}${this.picture.cut ? "; there is more" : ""}`;
    this.drawDetails();
    this.drawing?.repaint();
  }

  drawLegend() {
    const { colouring, kindColours, hiddenKinds, hiddenEdges } = this.picture;
    const dot = (kind) => colouring === "kind" && swatch(kindColours.get(kind) ?? OTHER);
    this.legend.replaceChildren(...[
      colouring === "community" && this.communityLegend(),
      colouring === "heat" && this.picture.heat && this.heatLegend(),
      this.filter("Node kinds", this.picture.kinds(), hiddenKinds, dot),
      this.filter("Edge kinds", this.picture.edgeKinds(), hiddenEdges, () => null),
    ].filter(Boolean));
  }

  filter(title, kinds, hidden, mark) {
    const change = (kind) => (event) => {
      if (event.target.checked) hidden.delete(kind);
      else hidden.add(kind);
      this.refresh();
    };
    return el("fieldset", {}, el("legend", {}, title), kinds.map(([kind, count]) => el("label", { class: "check" },
      el("input", { type: "checkbox", checked: !hidden.has(kind), onchange: change(kind) }),
      mark(kind), el("span", { class: "name" }, kind), el("span", { class: "quiet" }, count))));
  }

  communityLegend() {
    const groups = this.picture.communities();
    const rows = groups.slice(0, LEGEND).map(([community, count]) => {
      const member = this.picture.memberOf(community);
      return this.nodeButton(member, many(count, "node"), () => this.reach(member.id));
    });
    const more = groups.length - LEGEND;
    return el("div", {}, el("h3", {}, `${many(groups.length, "community", "communities")} shown`),
      el("ul", { class: "communities" }, rows), more > 0 && el("p", { class: "quiet" }, `${more} smaller in grey`));
  }

  heatLegend() {
    const { seed, top } = this.picture.heat;
    const scale = el("div", { class: "scale", "aria-hidden": "true" });
    scale.style.background = `linear-gradient(to right, ${[0, 0.2, 0.4, 0.6, 0.8, 1].map(heat).join(", ")})`;
    const rows = top.map((node) => this.nodeButton(node, `${(node.score * 100).toFixed(1)} %`, () => this.reach(node.id)));
    return el("div", {}, el("h3", {}, `Heat from ${top.find((node) => node.id === seed)?.name ?? seed}`), scale,
      el("p", { class: "quiet" }, "Where a walk from it is, in shares."), el("ul", { class: "hot" }, rows));
  }
}

function supportsWebGL() {
  return Boolean(document.createElement("canvas").getContext("webgl2"));
}
