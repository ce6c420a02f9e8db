// The gazetteer: every entity with its origin; those added at run time can be changed here.

import { ask, pathOf } from "./api.js";
import { el, say } from "./dom.js";
import { linkTo } from "./place.js";
import { proposals } from "./proposals.js";

const TYPES = ["person", "location", "topic", "doctrine", "council", "book", "sermon", "institution", "event", "concept", "other"];
const SHOWN = 500;

export async function showGazetteer(main, status) {
  const base = status.name;
  let rows = await allRows(base);
  const list = el("tbody", {});
  const count = el("p", { class: "quiet" });
  const filter = el("input", { type: "search", "aria-label": "Filter entities", placeholder: "Filter by name or type", oninput: draw });

  const form = el("form", { class: "add", onsubmit: add },
    el("h2", {}, "Add an entity"),
    el("label", {}, "Type", el("input", { name: "type", list: "types", required: true, maxlength: 200, autocomplete: "off" })),
    el("datalist", { id: "types" }, TYPES.map((type) => el("option", { value: type }))),
    el("label", {}, "Name", el("input", { name: "name", required: true, maxlength: 1000, autocomplete: "off" })),
    el("label", {}, "Further names, one a line", el("textarea", { name: "aliases", rows: 3 })),
    el("button", { class: "main" }, "Add"));

  main.append(el("div", { class: "gazetteer" },
    el("section", { "aria-label": "Entities" },
      el("div", { class: "line" }, filter), count,
      el("table", {},
        el("thead", {}, el("tr", {}, ["Name", "Type", "Further names", "Origin", ""].map((title) => el("th", { scope: "col" }, title)))),
        list)),
    el("div", { class: "aside" }, form, proposals(base, refresh))));

  function draw() {
    const wanted = filter.value.toLowerCase();
    const found = rows.filter((row) => !wanted || row.type.toLowerCase().includes(wanted) || row.names.some((name) => name.toLowerCase().includes(wanted)));
    list.replaceChildren(...found.slice(0, SHOWN).map(line));
    count.textContent = found.length > SHOWN
      ? `${found.length} entities, the first ${SHOWN} are shown; filter to see others`
      : `${found.length} of ${rows.length} entities`;
  }

  function line(row) {
    const [name, ...others] = row.names;
    const declared = row.origin === "declared";
    return el("tr", {},
      el("th", { scope: "row" }, status.graph ? el("a", { href: linkTo(base, "graph", { node: row.id }) }, name) : name),
      el("td", { "data-label": "Type" }, row.type),
      el("td", { "data-label": "Further names" }, others.join(", ") || "–"),
      el("td", { "data-label": "Origin" },
        el("span", { class: `badge ${row.origin}`, title: declared ? "from the config; change it there" : "added at run time" }, row.origin),
        row.shadowed && el("span", { class: "badge", title: "the config declares the same entity; this row has no effect" }, "shadowed")),
      el("td", {}, !declared && el("button", { type: "button", "aria-label": `Remove ${name}`, onclick: () => remove(row) }, "Remove")));
  }

  async function refresh() {
    rows = await allRows(base);
    draw();
  }

  async function change(action, done) {
    try {
      await action();
      await refresh();
      done();
    } catch (error) {
      say(error.message, { problem: true });
    }
  }

  async function add(event) {
    event.preventDefault();
    const { type, name, aliases } = form.elements;
    const names = [name.value, ...aliases.value.split("\n")].map((item) => item.trim()).filter(Boolean);
    await change(() => put(type.value.trim(), names), () => {
      say(`${names[0]} added. The next question knows it.`);
      name.value = aliases.value = "";
      name.focus();
    });
  }

  const put = (type, names) => ask(pathOf(base) + "/gazetteer/add", { method: "POST", body: { type, names } });

  async function remove(row) {
    const params = { type: row.type, name: row.names[0] };
    await change(() => ask(pathOf(base) + "/gazetteer/remove", { method: "DELETE", params }), () => {
      say(`${row.names[0]} removed.`, { action: ["Undo", () => change(() => put(row.type, row.names), () => say(`${row.names[0]} is back.`))] });
      filter.focus();
    });
  }

  draw();
  return {};
}

async function allRows(base) {
  const rows = [];
  let cursor = null;
  do {
    const page = await ask(pathOf(base) + "/gazetteer", { params: { cursor } });
    rows.push(...page.entities);
    cursor = page.next_cursor;
  } while (cursor);
  return rows;
}
