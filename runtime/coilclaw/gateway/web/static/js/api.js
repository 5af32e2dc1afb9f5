// Requests to the server. The session's cookie goes along by itself; the secret in the header proves that this page sends them.

const SECRET = "coilclaw.secret";

/** A request that the server refused, or that never reached it. */
export class Problem extends Error {
  constructor(status, { code = "unreachable", message = "the server cannot be reached", hint = null, details = null } = {}) {
    super(message);
    Object.assign(this, { status, code, hint, details });
  }
}

/** Keep the secret that came with a session; null forgets it. */
export function keepSecret(secret) {
  if (secret === null) localStorage.removeItem(SECRET);
  else localStorage.setItem(SECRET, secret);
}

export function hasSecret() {
  return localStorage.getItem(SECRET) !== null;
}

/** The headers that every request of this page carries. */
export function headers(more = {}) {
  const secret = localStorage.getItem(SECRET);
  return { ...(secret ? { "X-CoilClaw-Secret": secret } : {}), ...more };
}

const signedOut = new Set();

/** Call a function whenever the server says that there is no session any more. */
export function onSignedOut(listener) {
  signedOut.add(listener);
}

async function send(method, path, body, signal) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: headers(body === undefined ? {} : { "Content-Type": "application/json" }),
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      redirect: "error",
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0);
  }
  const isJson = (response.headers.get("content-type") || "").startsWith("application/json");
  const answer = isJson ? await response.json() : await response.text();
  if (!response.ok) {
    if (response.status === 401) for (const listener of signedOut) listener();
    throw new Problem(response.status, answer?.error ?? { code: "error", message: `the server answered ${response.status}` });
  }
  return answer;
}

export const get = (path, signal) => send("GET", path, undefined, signal);
export const post = (path, body = {}) => send("POST", path, body);
export const put = (path, body) => send("PUT", path, body);
export const patch = (path, body) => send("PATCH", path, body);
export const remove = (path) => send("DELETE", path);

/** A path with its parameters encoded: ``at`/api/runs/${id}` ``. */
export function at(texts, ...values) {
  return texts.reduce((path, text, number) => path + encodeURIComponent(values[number - 1]) + text);
}

/** Query parameters that are not empty, with their question mark. */
export function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}
