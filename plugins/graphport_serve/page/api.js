// Asking the server: JSON in, JSON out, problems as exceptions, a token where one is needed.

const KEY = "graphport.token";

export class Problem extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

export async function ask(path, { params = {}, method = "GET", body, signal } = {}) {
  const url = new URL(`api/vectordb${path}`, document.baseURI);
  for (const [name, value] of Object.entries(params)) {
    if (value === null || value === undefined || value === "") continue;
    for (const item of [value].flat()) url.searchParams.append(name, item);
  }
  for (;;) {
    const response = await send(url, method, body, signal);
    if (response.status === 401) {
      if (await askForToken()) continue;
      throw new Problem(401, "unauthorized", "This server answers only with a token. Reload the page to give one.");
    }
    if (response.ok) return response.json();
    throw await problemOf(response);
  }
}

async function send(url, method, body, signal) {
  const token = sessionStorage.getItem(KEY);
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    return await fetch(url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "unreachable", "The server cannot be reached. Is it still running?");
  }
}

async function problemOf(response) {
  try {
    const problem = await response.json();
    return new Problem(response.status, problem.code, problem.detail);
  } catch {
    return new Problem(response.status, "no-answer", `The server answered ${response.status}.`);
  }
}

let asking = null;

// Whether the reader gave a token; one question, however many requests wait for it.
function askForToken() {
  asking ??= new Promise((resolve) => {
    const dialog = document.getElementById("token");
    const input = dialog.querySelector("input");
    input.value = "";
    dialog.addEventListener("close", () => {
      asking = null;
      const given = input.value.trim();
      if (given) sessionStorage.setItem(KEY, given);
      input.value = "";
      resolve(given !== "");
    }, { once: true });
    dialog.showModal();
  });
  return asking;
}

export const pathOf = (...parts) => parts.map((part) => `/${encodeURIComponent(part)}`).join("");
