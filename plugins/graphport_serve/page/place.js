// Where the reader is: knowledge base, view and its parameters, all in the address, so that Back works.

export function here() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [base = "", view = "search"] = path.split("/").filter(Boolean).map(decodeURIComponent);
  return { base, view, params: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

export function linkTo(base, view, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, value);
  }
  const tail = query.toString();
  return `#/${encodeURIComponent(base)}/${view}${tail ? `?${tail}` : ""}`;
}

export function go(base, view, params, { replace = false } = {}) {
  const target = linkTo(base, view, params);
  if (target === location.hash) return;
  if (replace) history.replaceState(null, "", target);
  else location.hash = target;
}
