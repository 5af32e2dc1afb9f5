// The operator's session: begun by the one-time link that `coilclaw serve` prints, ended by signing out.

import { get, hasSecret, keepSecret, onSignedOut, post, Problem, remove } from "./api.js";

/** Who is signed in, or null. A code in the address is exchanged first, and leaves no trace in it. */
export async function findSession() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code) {
    history.replaceState(null, "", location.pathname + location.search);
    const { secret } = await post("/api/session", { code });
    keepSecret(secret);
  }
  if (!hasSecret()) return null;
  try {
    return await get("/api/session");
  } catch (error) {
    if (error instanceof Problem && (error.status === 401 || error.status === 403)) return null;
    throw error;
  }
}

/** End the session here and on the server. */
export async function signOut() {
  try {
    await remove("/api/session");
  } finally {
    keepSecret(null);
    location.replace("/app/inbox");
  }
}

export { onSignedOut };
