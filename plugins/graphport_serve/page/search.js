// One question, asked without and with the graph, side by side: what moved, and why.

import { ask, pathOf } from "./api.js";
import { el, many, option, say } from "./dom.js";
import { go, linkTo } from "./place.js";

const MODES = [["", "as configured"], ["hybrid", "hybrid"], ["lexical", "words only"], ["dense", "meaning only"]];

export function showSearch(main, status, params) {
  const base = status.name;
  const withGraph = status.graph !== null;
  const results = el("div", { class: withGraph ? "columns" : "column" });
  const form = searchForm(status, (values) => {
    if (linkTo(base, "search", values) === location.hash) update(values);
    else go(base, "search", values);
  });
  main.append(form, results);
  let running = null;

  async function update(values) {
    running?.abort();
    fill(form, values);
    if (!values.q) {
      results.replaceChildren(welcome(status));
      form.elements.q.focus();
      return;
    }
    running = new AbortController();
    results.setAttribute("aria-busy", "true");
    try {
      const answers = await Promise.all((withGraph ? ["false", "true"] : ["false"]).map((graph) =>
        timed(ask(pathOf(base) + "/search", { params: { ...asked(values), graph, explain: true }, signal: running.signal }))));
      draw(results, base, values.q, answers);
    } catch (error) {
      if (error.name === "AbortError") return;
      results.replaceChildren(el("p", { class: "empty" }, error.message));
      say(error.message, { problem: true });
    }
    results.removeAttribute("aria-busy");
  }

  update(params);
  return { update, leave: () => running?.abort() };
}

// The address says fuzzy=1 where misspelt names are forgiven; the server takes linkers.
const asked = ({ fuzzy, ...values }) => (fuzzy ? { ...values, linker: ["containment", "fuzzy"] } : values);

async function timed(promise) {
  const start = performance.now();
  const answer = await promise;
  return { ...answer, milliseconds: Math.round(performance.now() - start) };
}

function searchForm(status, submit) {
  const weight = el("output", { name: "shown" }, "0.5");
  return el("form", {
    class: "ask", role: "search",
    onsubmit(event) {
      event.preventDefault();
      const { q, mode, top_k, graph_weight, fuzzy } = event.target.elements;
      submit({ q: q.value.trim(), mode: mode.value, top_k: top_k.value, graph_weight: graph_weight?.disabled ? "" : graph_weight?.value, fuzzy: fuzzy?.checked ? "1" : "" });
    },
  },
  el("div", { class: "line" },
    el("input", { type: "search", name: "q", "aria-label": "Question", placeholder: "Ask a question", autocomplete: "off", maxlength: 2000 }),
    el("button", { class: "main" }, "Search")),
  el("details", {}, el("summary", {}, "Options"),
    el("div", { class: "options" },
      el("label", {}, "Search by ", el("select", { name: "mode" }, MODES.map(([value, label]) => option(value, label)))),
      el("label", {}, "Hits ", el("input", { type: "number", name: "top_k", min: 1, max: 50, placeholder: "8" })),
      status.graph && el("label", {}, "Weight of the graph ", el("input", {
        type: "range", name: "graph_weight", min: 0, max: 1, step: 0.05,
        oninput: (event) => { weight.textContent = Number(event.target.value).toFixed(2); },
      }), weight),
      status.graph && el("label", {}, el("input", { type: "checkbox", name: "fuzzy" }), "Forgive misspelt names"))));
}

function fill(form, values) {
  form.elements.q.value = values.q ?? "";
  form.elements.mode.value = values.mode ?? "";
  form.elements.top_k.value = values.top_k ?? "";
  if (form.elements.fuzzy) form.elements.fuzzy.checked = Boolean(values.fuzzy);
  if (form.elements.graph_weight && values.graph_weight) {
    form.elements.graph_weight.value = values.graph_weight;
    form.elements.shown.textContent = Number(values.graph_weight).toFixed(2);
  }
}

function welcome(status) {
  const held = [`${status.entries} entries`, `${status.documents} documents`];
  if (status.graph) held.push(`a graph of ${status.graph.nodes} nodes and ${status.graph.edges} edges (${status.backend})`);
  held.push(status.embedder ? `vectors by ${status.embedder}` : "no vectors: search is by words");
  return el("p", { class: "empty" }, `${status.name} holds ${held.join(", ")}.`);
}

function draw(results, base, query, answers) {
  const places = answers.map((answer) => new Map(answer.hits.map((hit) => [hit.entry, hit.rank])));
  const columns = answers.map((answer, index) => {
    const other = places.length > 1 ? places[1 - index] : null;
    const title = index ? "With the graph" : places.length > 1 ? "Without the graph" : "Found";
    return el("section", { "aria-label": title, class: index ? "graph-on" : "graph-off" },
      el("h2", {}, title, el("span", { class: "quiet" }, ` ${many(answer.hits.length, "hit")}, ${answer.milliseconds} ms`)),
      answer.hits.length
        ? el("ol", { class: "hits" }, answer.hits.map((hit) => hitCard(base, query, hit, other, index === 1)))
        : el("p", { class: "empty" }, "Nothing found. Try other words."));
  });
  const told = answers.length > 1 ? summary(places) : `${many(answers[0].hits.length, "hit")}.`;
  results.replaceChildren(el("p", { class: "summary", role: "status" }, told), ...columns);
}

function summary([before, after]) {
  const moved = [...after].filter(([entry, rank]) => before.has(entry) && before.get(entry) !== rank).length;
  const fresh = [...after.keys()].filter((entry) => !before.has(entry)).length;
  const parts = [moved && `moved ${many(moved, "hit")}`, fresh && `brought ${many(fresh, "new hit")}`].filter(Boolean);
  return parts.length ? `The graph ${parts.join(" and ")}.` : "The graph changed nothing here.";
}

function hitCard(base, query, hit, other, graphOn) {
  const mark = (on) => document.querySelectorAll(".hit").forEach((card) => card.classList.toggle("same", on && card.dataset.entry === hit.entry));
  const card = el("li", {
    class: "hit", onmouseenter: () => mark(true), onmouseleave: () => mark(false), onfocusin: () => mark(true), onfocusout: () => mark(false),
  },
  el("div", { class: "head" },
    el("span", { class: "rank" }, hit.rank),
    el("h3", {}, hit.title || hit.location),
    graphOn && moveBadge(hit.rank, other.get(hit.entry)),
    !graphOn && other && !other.has(hit.entry) && el("span", { class: "badge" }, "not with the graph"),
    el("span", { class: "quiet score", title: "score, 0 to 1" }, hit.score.toFixed(3))),
  el("p", { class: "place quiet" }, hit.location, hit.kind && ` · ${hit.kind}`),
  el("p", { class: "text" }, snippet(hit.text, query)),
  hit.why && whyLine(base, hit.why),
  hit.nodes.length > 0 && el("p", { class: "links" }, el("a", { href: linkTo(base, "graph", { node: hit.nodes[0] }) }, "Show in the graph")));
  card.dataset.entry = hit.entry;
  return card;
}

function moveBadge(rank, before) {
  if (before === undefined) return el("span", { class: "badge new" }, "new");
  if (before === rank) return el("span", { class: "badge", title: "the same place without the graph" }, "=");
  const up = before > rank;
  const text = `${up ? "▲" : "▼"} ${Math.abs(before - rank)}`;
  return el("span", { class: `badge ${up ? "up" : "down"}`, title: `place ${before} without the graph` }, text);
}

function whyLine(base, why) {
  const ranks = Object.entries(why.ranks).map(([leg, rank]) => `${leg} rank ${rank}`);
  const reasons = [ranks.length ? ranks.join(", ") : "found by the graph alone"];
  if (why.ppr !== null) reasons.push(`${Math.round(why.ppr * 100)} % of the walk's largest share`);
  return el("div", { class: "why" },
    el("p", { class: "quiet" }, reasons.join(" · ")),
    why.path_from !== null && pathLine(base, why),
    why.notes.map((note) => el("p", { class: "quiet" }, note)));
}

function pathLine(base, why) {
  const node = (id, name) => el("a", { class: "node", href: linkTo(base, "graph", { node: id }) }, name);
  const parts = [node(why.path_from, why.path_from_name)];
  for (const step of why.path) {
    parts.push(el("span", { class: "step" }, step.forward ? `${step.kind} →` : `← ${step.kind}`));
    parts.push(step.forward ? node(step.target, step.target_name) : node(step.source, step.source_name));
  }
  return el("p", { class: "path", "aria-label": "Path" }, parts);
}

const WIDTH = 260;

// The text around the first of the query's words, these marked.
function snippet(text, query) {
  const flat = text.replace(/\s+/g, " ");
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])];
  const lower = flat.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  let start = Math.max(0, Math.min(...(places.length ? places : [0])) - WIDTH / 4);
  if (start) start = flat.indexOf(" ", start) + 1 || start;
  const cut = flat.slice(start, start + WIDTH);
  return [start > 0 ? "… " : "", ...marked(cut, words), start + WIDTH < flat.length ? " …" : ""];
}

function marked(text, words) {
  if (!words.length) return [text];
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[^\p{L}\p{N}]/gu, "\\$&")).join("|")})`, "giu");
  return text.split(pattern).map((part, index) => (index % 2 ? el("mark", {}, part) : part));
}
