// The part of the graph that is shown: its nodes and edges, which of them are hidden, and what colour each has.

import { heat, OTHER, palette } from "./colours.js";

export class Picture {
  // `kinds` maps each node kind of the whole graph to its number, so that a kind keeps its colour.
  constructor(kinds) {
    this.nodes = new Map();
    this.edges = new Map();
    this.cut = false;
    this.hiddenKinds = new Set();
    this.hiddenEdges = new Set();
    this.colouring = "kind"; // or "community" or "heat"
    this.heat = null; // {seed, shares in [0, 1] by node, top}
    this.edgeColour = OTHER;
    this.kindColours = palette(Object.entries(kinds).sort((a, b) => b[1] - a[1]).map(([kind]) => kind));
    this.communityColours = new Map();
  }

  // Take in an answer of the server, in place of what is shown or in addition to it.
  take(part, { keep }) {
    if (!keep) {
      this.nodes.clear();
      this.edges.clear();
    }
    for (const node of part.nodes) this.nodes.set(node.id, node);
    for (const edge of part.edges) this.edges.set(JSON.stringify([edge.source, edge.target, edge.kind]), edge);
    this.cut = part.truncated;
    this.communityColours = palette(this.communities().map(([community]) => community));
  }

  // Shares of a walk span decades, so heat is their logarithm.
  warm({ node, scores }) {
    const least = Math.log(Math.max(scores.at(-1)?.score ?? 1e-6, 1e-6));
    const span = -least || 1;
    const share = (score) => (Math.log(Math.max(score, 1e-6)) - least) / span;
    this.heat = { seed: node, shares: new Map(scores.map((item) => [item.id, share(item.score)])), top: scores.slice(0, 10) };
  }

  node(id) {
    const node = this.nodes.get(id);
    if (!node || this.hiddenKinds.has(node.kind)) return { hidden: true };
    const scale = this.nodes.size > 1500 ? 0.5 : 1;
    if (this.colouring === "heat" && this.heat) {
      return { color: this.colour(node), size: (3 + 11 * (this.heat.shares.get(id) ?? 0)) * scale, bright: true };
    }
    return { color: this.colour(node), size: scale * Math.min(15, 3 + 1.7 * Math.log2(1 + node.degree)) };
  }

  edge(key) {
    const edge = this.edges.get(key);
    if (!edge || this.hiddenEdges.has(edge.kind)) return { hidden: true };
    return this.visible(edge.source) && this.visible(edge.target) ? { color: this.edgeColour } : { hidden: true };
  }

  // The colour of a node, shown or not.
  colour(node) {
    if (this.colouring === "heat" && this.heat) return heat(this.heat.shares.get(node.id) ?? 0);
    if (this.colouring === "community" && node.community !== undefined) return this.communityColours.get(node.community) ?? OTHER;
    return this.kindColours.get(node.kind) ?? OTHER;
  }

  visible(id) {
    const node = this.nodes.get(id);
    return node !== undefined && !this.hiddenKinds.has(node.kind);
  }

  // What is joined to a node by edges that are shown, as [node, how], the best connected first.
  neighbours(id) {
    const how = new Map();
    const note = (other, text) => how.set(other, [...(how.get(other) ?? []), text]);
    for (const edge of this.edges.values()) {
      if (this.hiddenEdges.has(edge.kind) || edge.source === edge.target) continue;
      if (edge.source === id) note(edge.target, `${edge.kind} →`);
      if (edge.target === id) note(edge.source, `← ${edge.kind}`);
    }
    return [...how].filter(([other]) => this.visible(other)).map(([other, texts]) => [this.nodes.get(other), texts.join(", ")])
      .sort(([a], [b]) => b.degree - a.degree);
  }

  // Groups as [name, how many], the largest first.
  communities() {
    return counted([...this.nodes.values()].map((node) => node.community));
  }

  kinds() {
    return counted([...this.nodes.values()].map((node) => node.kind));
  }

  edgeKinds() {
    return counted([...this.edges.values()].map((edge) => edge.kind));
  }

  // The best connected node of a community.
  memberOf(community) {
    const members = [...this.nodes.values()].filter((node) => node.community === community);
    return members.reduce((best, node) => (node.degree > best.degree ? node : best));
  }

  // How many nodes and edges are to be seen.
  numbers() {
    const nodes = [...this.nodes.keys()].filter((id) => this.visible(id)).length;
    const edges = [...this.edges.keys()].filter((key) => !this.edge(key).hidden).length;
    return [nodes, edges];
  }
}

function counted(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (String(a[0]) < String(b[0]) ? -1 : 1));
}
