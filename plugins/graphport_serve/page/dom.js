// Building the page. Every string becomes a text node or an attribute; nothing is ever parsed as HTML.

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function option(value, label, chosen) {
  return el("option", { value, selected: value === chosen }, label);
}

// A circle of a colour; style attributes are barred by the page's security policy, element.style is not.
export function swatch(colour) {
  const dot = el("span", { class: "swatch", "aria-hidden": "true" });
  dot.style.backgroundColor = colour;
  return dot;
}

export const many = (count, one, more = `${one}s`) => `${count} ${count === 1 ? one : more}`;

const notice = document.getElementById("notice");
let clearing = 0;

// Say something in the corner, and to a screen reader; `action` is a [label, function] beside it.
export function say(text, { problem = false, action = null } = {}) {
  clearTimeout(clearing);
  notice.className = problem ? "problem" : "";
  const button = action && el("button", { type: "button", onclick: () => { hush(); action[1](); } }, action[0]);
  notice.replaceChildren(el("span", {}, text), ...(button ? [button] : []));
  clearing = setTimeout(hush, problem || action ? 12000 : 4000);
}

export function hush() {
  notice.replaceChildren();
}

export function theme(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
