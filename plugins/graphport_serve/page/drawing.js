// The graph on the screen: sigma draws with WebGL, a worker finds the places.

import { theme } from "./dom.js";

const { MultiDirectedGraph } = globalThis.graphology ?? {};
const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const CALM = matchMedia("(prefers-reduced-motion: reduce)");
const DARK = matchMedia("(prefers-color-scheme: dark)");
const LABEL = 42;

export class Drawing {
  // `look` gives each node {color, size, hidden, bright: never faded} and each edge {color, hidden}; `onselect` hears of clicks.
  constructor(container, { nodeLook, edgeLook, onselect, onopen }) {
    this.graph = new MultiDirectedGraph();
    this.software = drawnBySoftware();
    this.edgesAtOnce = this.software ? 1500 : 30000; // with more than these, edges wait until the picture stands still
    this.selected = null;
    this.followed = null;
    this.near = new Set();
    this.worker = new Worker(new URL("./layout-worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.#place(data);
    this.sigma = new globalThis.Sigma(this.graph, container, {
      defaultEdgeType: "arrow", minEdgeThickness: 0.5, labelFont: "system-ui, sans-serif", labelSize: 13, labelDensity: 0.6,
      labelGridCellSize: 110, labelRenderedSizeThreshold: 5, stagePadding: Math.max(20, Math.min(70, container.clientWidth / 10)), zIndex: true, minCameraRatio: 0.02, maxCameraRatio: 3,
      defaultDrawNodeHover: drawHover, allowInvalidContainer: true,
      nodeReducer: (id, data) => this.#node(id, data, nodeLook(id)),
      edgeReducer: (key, data) => this.#edge(key, data, edgeLook(key)),
    });
    this.sigma.on("clickNode", ({ node }) => onselect(node));
    this.sigma.on("clickStage", () => onselect(null));
    this.sigma.on("doubleClickNode", (event) => {
      event.preventSigmaDefault();
      onopen(event.node);
    });
    DARK.addEventListener("change", this.#useTheme);
    this.#useTheme();
  }

  #useTheme = () => {
    this.sigma.setSettings({ labelColor: { color: theme("text") } });
  };

  // Show these nodes and edges; what was there already keeps its place.
  show(nodes, edges) {
    for (const id of this.graph.filterNodes((id) => !nodes.has(id))) this.graph.dropNode(id);
    const kept = this.graph.order;
    const places = newPlaces(this.graph, nodes, edges);
    for (const [id, node] of nodes) {
      if (!this.graph.hasNode(id)) this.graph.addNode(id, { ...places.get(id), size: 4, label: short(node.name) });
    }
    for (const [key, edge] of edges) {
      if (!this.graph.hasEdge(key)) this.graph.addEdgeWithKey(key, edge.source, edge.target, { weight: edge.weight, size: 1 });
    }
    const many = this.graph.order > 1500;
    this.sigma.setSettings({ hideEdgesOnMove: this.graph.size > this.edgesAtOnce, labelRenderedSizeThreshold: many ? 7 : 5, defaultEdgeType: many ? "line" : "arrow" });
    this.#layOut(kept);
  }

  #layOut(kept) {
    const order = this.graph.nodes();
    const row = new Map(order.map((id, index) => [id, index]));
    const position = (name) => Float32Array.from(order, (id) => this.graph.getNodeAttribute(id, name));
    const sources = [], targets = [], weights = [];
    this.graph.forEachEdge((key, data, source, target) => {
      if (source === target) return;
      sources.push(row.get(source));
      targets.push(row.get(target));
      weights.push(Math.min(4, 1 + Math.log1p(data.weight)));
    });
    this.placing = order;
    const long = order.length > 1500 ? 6000 : 2500;
    this.worker.postMessage({
      x: position("x"), y: position("y"), sources, targets, weights,
      milliseconds: kept ? long / 2 : long,
      interval: CALM.matches ? 1e9 : order.length <= 1500 ? 60 : this.software ? 1000 : 200,
    });
  }

  #place({ x, y, done }) {
    const order = this.placing;
    if (order.length !== x.length || order.length !== this.graph.order) return;
    const row = new Map(order.map((id, index) => [id, index]));
    this.graph.updateEachNodeAttributes((id, data) => {
      data.x = x[row.get(id)];
      data.y = y[row.get(id)];
      return data;
    }, { attributes: ["x", "y"] });
    if (!done) return;
    this.sigma.refresh();
    if (this.followed !== null) this.look(this.followed);
    this.followed = null;
    this.sigma.getContainer().dataset.placed = String(order.length);
  }

  #node(id, data, look) {
    if (look.hidden) return { ...data, hidden: true };
    const chosen = id === this.selected;
    const faded = this.selected !== null && !look.bright && !chosen && !this.near.has(id);
    return {
      ...data, color: faded ? remembered("faded") : look.color, size: chosen ? look.size + 3 : look.size, highlighted: chosen,
      label: faded ? "" : data.label, forceLabel: chosen, zIndex: chosen ? 2 : faded ? 0 : 1,
    };
  }

  #edge(key, data, look) {
    if (look.hidden) return { ...data, hidden: true };
    const [source, target] = this.graph.extremities(key);
    const touched = source === this.selected || target === this.selected;
    const size = this.graph.order > 1500 ? 0.5 : 1.6;
    if (this.selected === null) return { ...data, color: look.color, size };
    return touched ? { ...data, color: look.color, size: 2.2, zIndex: 1 } : { ...data, color: remembered("faint"), size };
  }

  select(id) {
    this.selected = id !== null && this.graph.hasNode(id) ? id : null;
    this.near = new Set(this.selected === null ? [] : this.graph.neighbors(this.selected));
    this.repaint();
  }

  repaint() {
    this.sigma.refresh({ skipIndexation: true });
  }

  // The node to go to from the selected one in the direction of an arrow key: a neighbour if there is one.
  toward(dx, dy, visible) {
    const at = (id) => this.sigma.graphToViewport(this.graph.getNodeAttributes(id));
    const { width, height } = this.sigma.getDimensions();
    const from = this.selected === null ? { x: width / 2, y: height / 2 } : at(this.selected);
    const best = (ids) => {
      let found = null, least = Infinity;
      for (const id of ids) {
        if (id === this.selected || !visible(id)) continue;
        const to = at(id);
        const along = (to.x - from.x) * dx + (to.y - from.y) * dy;
        const aside = Math.abs((to.x - from.x) * dy) + Math.abs((to.y - from.y) * dx);
        const cost = along + 2 * aside;
        if (along > 0 && aside <= 1.5 * along && cost < least) [found, least] = [id, cost];
      }
      return found;
    };
    return (this.selected !== null && best(this.near)) || best(this.graph.nodes());
  }

  // Look at a node once the layout, which may carry it off, is done.
  follow(id) {
    this.followed = id;
  }

  look(id) {
    const data = this.sigma.getNodeDisplayData(id);
    if (data) this.#camera({ x: data.x, y: data.y });
  }

  move(dx, dy) {
    const camera = this.sigma.getCamera();
    const step = 0.1 * camera.ratio;
    this.#camera({ x: camera.x + dx * step, y: camera.y - dy * step });
  }

  zoom(factor) {
    this.#camera({ ratio: Math.min(3, Math.max(0.02, this.sigma.getCamera().ratio * factor)) });
  }

  fit() {
    this.#camera({ x: 0.5, y: 0.5, ratio: 1 });
  }

  #camera(state) {
    if (CALM.matches) this.sigma.getCamera().setState(state);
    else this.sigma.getCamera().animate(state, { duration: 200 });
  }

  close() {
    DARK.removeEventListener("change", this.#useTheme);
    this.worker.terminate();
    this.sigma.kill();
  }
}

// Whether WebGL runs on the processor (a virtual machine, a remote desktop): right, but some fifty times slower.
function drawnBySoftware() {
  const context = document.createElement("canvas").getContext("webgl2");
  const info = context?.getExtension("WEBGL_debug_renderer_info");
  const name = info ? String(context.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|basic render/i.test(name);
}

const known = new Map();

// As `theme`, remembered for the many calls of one frame.
function remembered(name) {
  if (!known.has(name)) {
    known.set(name, theme(name));
    if (known.size === 1) requestAnimationFrame(() => known.clear());
  }
  return known.get(name);
}

function short(name) {
  const flat = name.replace(/\s+/g, " ");
  return flat.length > LABEL ? `${flat.slice(0, LABEL - 1)}…` : flat;
}

// New nodes start beside a node they are joined to; the rest in a spiral.
function newPlaces(graph, nodes, edges) {
  const beside = new Map();
  for (const edge of edges.values()) {
    if (graph.hasNode(edge.source) && !graph.hasNode(edge.target)) beside.set(edge.target, edge.source);
    if (graph.hasNode(edge.target) && !graph.hasNode(edge.source)) beside.set(edge.source, edge.target);
  }
  const places = new Map();
  let number = 0;
  for (const id of nodes.keys()) {
    if (graph.hasNode(id)) continue;
    const parent = beside.get(id);
    const centre = parent ? graph.getNodeAttributes(parent) : { x: 0, y: 0 };
    const radius = parent ? 5 + Math.sqrt(number) : 10 * Math.sqrt(number);
    places.set(id, { x: centre.x + radius * Math.cos(number * GOLDEN), y: centre.y + radius * Math.sin(number * GOLDEN) });
    number += 1;
  }
  return places;
}

// The name of the node under the pointer, on the page's own ground: sigma's is always white.
function drawHover(context, data, settings) {
  if (!data.label) return;
  context.font = `${settings.labelWeight} ${settings.labelSize}px ${settings.labelFont}`;
  const width = context.measureText(data.label).width + 12;
  const x = data.x + data.size + 2;
  context.fillStyle = theme("panel");
  context.strokeStyle = theme("line");
  context.beginPath();
  context.roundRect(x, data.y - 11, width, 22, 5);
  context.fill();
  context.stroke();
  context.beginPath();
  context.arc(data.x, data.y, data.size + 2.5, 0, 2 * Math.PI);
  context.strokeStyle = theme("text");
  context.lineWidth = 1.5;
  context.stroke();
  context.fillStyle = theme("text");
  context.fillText(data.label, x + 6, data.y + settings.labelSize / 3);
}
