// The page: a knowledge base is chosen, one of three views is shown.

import { ask, pathOf } from "./api.js";
import { el, hush, option, say } from "./dom.js";
import { here, linkTo, go } from "./place.js";
import { showGazetteer } from "./gazetteer.js";
import { showGraph } from "./graph.js";
import { showSearch } from "./search.js";

const VIEWS = { search: ["Search", showSearch], graph: ["Graph", showGraph], gazetteer: ["Entities", showGazetteer] };

const main = document.getElementById("main");
const chooser = document.getElementById("base");
let shown = null; // what is on screen: {base, view, content}, content having update(params) and leave() if it needs them

async function route() {
  const { base, view, params } = here();
  if (!base || !VIEWS[view]) return;
  if (shown?.base === base && shown.view === view) {
    shown.content.update?.(params);
    return;
  }
  shown?.content.leave?.();
  shown = null;
  hush();
  chooser.value = base;
  drawNavigation(base, view);
  try {
    const status = await ask(pathOf(base));
    main.replaceChildren();
    const content = await VIEWS[view][1](main, status, params);
    shown = { base, view, content };
    document.title = `${VIEWS[view][0]} · ${base} · graphport`;
  } catch (error) {
    main.replaceChildren(el("p", { class: "empty" }, error.message));
    say(error.message, { problem: true });
  }
}

function drawNavigation(base, view) {
  const links = Object.entries(VIEWS).map(([name, [label]]) =>
    el("a", { href: linkTo(base, name), "aria-current": name === view && "page" }, label));
  document.getElementById("views").replaceChildren(...links);
}

async function start() {
  let names;
  try {
    names = (await ask("")).knowledge_bases.map((item) => item.name);
  } catch (error) {
    main.replaceChildren(el("p", { class: "empty" }, error.message));
    return;
  }
  if (!names.length) {
    main.replaceChildren(el("p", { class: "empty" }, "There is no knowledge base yet. Make one with: graphport index PATH --db NAME"));
    return;
  }
  chooser.replaceChildren(...names.map((name) => option(name, name)));
  chooser.addEventListener("change", () => go(chooser.value, here().view));
  addEventListener("hashchange", route);
  if (names.includes(here().base)) route();
  else {
    go(names[0], "search", {}, { replace: true });
    route();
  }
}

start();
