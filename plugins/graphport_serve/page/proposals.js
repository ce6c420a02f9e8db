// What the texts seem to name and the gazetteer lacks: each to accept with a type, or to reject.

import { ask, pathOf } from "./api.js";
import { el, many, say } from "./dom.js";
import { linkTo } from "./place.js";

const SHOWN = 20;

// A section that asks when it is opened; `accepted()` is told of each entity that it adds.
export function proposals(base, accepted) {
  const list = el("ul", { class: "proposals" });
  const told = el("p", { class: "quiet", role: "status" });
  const more = el("button", { type: "button", hidden: true, onclick: () => read() }, "More");
  const summary = el("summary", {}, "Proposed by the texts");
  const shown = new Map(); // cards by name

  // Asks from the start: a cursor would pass over names, as the list is shorter by those that were decided on.
  async function read() {
    told.textContent = "Reading the texts…";
    try {
      const page = await ask(pathOf(base) + "/proposals", { params: { limit: shown.size + SHOWN } });
      const fresh = page.proposals.filter((proposal) => !shown.has(proposal.name));
      for (const proposal of fresh) shown.set(proposal.name, card(proposal));
      list.replaceChildren(...shown.values());
      more.hidden = page.next_cursor === null;
      if (fresh.length < shown.size) shown.get(fresh[0]?.name)?.querySelector("input").focus();
    } catch (error) {
      say(error.message, { problem: true });
    }
    count();
  }

  function count() {
    told.textContent = list.children.length
      ? "Names seen in two texts or more that no entity has."
      : "The texts name nothing else, as far as capitals tell.";
  }

  function card(proposal) {
    const { name, examples } = proposal;
    const type = el("input", { name: "type", list: "types", required: true, maxlength: 200, autocomplete: "off", value: proposal.type, placeholder: "Type", "aria-label": `Type of ${name}` });
    return el("li", {},
      el("form", { onsubmit: (event) => { event.preventDefault(); accept(name, type.value.trim()); } },
        el("h3", {}, name, el("span", { class: "quiet" }, ` ${many(proposal.passages, "text")}, ${many(proposal.count, "time")}`)),
        examples.slice(0, 1).map((example) => el("p", { class: "quiet" }, example.text, " ",
          el("a", { href: linkTo(base, "search", { q: name }), "aria-label": `Search for ${name}` }, "Search"))),
        el("div", { class: "line" }, type,
          el("button", { "aria-label": `Accept ${name}` }, "Accept"),
          el("button", { type: "button", "aria-label": `Reject ${name}`, onclick: () => reject(name) }, "Reject"))));
  }

  async function accept(name, type) {
    await change(name, "/proposals/accept", { type, names: [name] }, `${name} added. The next question knows it.`);
    await accepted();
  }

  function reject(name) {
    const item = shown.get(name);
    const undo = async () => {
      try {
        await ask(pathOf(base) + "/proposals/rejected", { method: "DELETE", params: { name } });
        shown.set(name, item);
        list.append(item);
        count();
        item.querySelector("input").focus();
      } catch (error) {
        say(error.message, { problem: true });
      }
    };
    return change(name, "/proposals/reject", { names: [name] }, `${name} is not proposed again.`, ["Undo", undo]);
  }

  // Asks for the change; once it is made the card goes, and the keyboard is on the next one.
  async function change(name, path, body, done, action = null) {
    try {
      await ask(pathOf(base) + path, { method: "POST", body });
    } catch (error) {
      say(error.message, { problem: true });
      return;
    }
    const item = shown.get(name);
    const next = item.nextElementSibling ?? item.previousElementSibling;
    item.remove();
    shown.delete(name);
    (next?.querySelector("input") ?? summary).focus();
    count();
    say(done, { action });
  }

  let begun = false;
  return el("details", { class: "proposed", ontoggle: (event) => {
    if (event.target.open && !begun) {
      begun = true;
      read();
    }
  } }, summary, told, list, more);
}
