// Views by their address. Every view has a URL of its own that survives a reload and can be sent to somebody.

const routes = [];
let current = null;
let shownAt = 0;

/** Show `view(parameters, query)` at a path such as `/app/runs/:id`. */
export function route(path, view) {
  const names = [];
  const pattern = path.replace(/:([a-z]+)/g, (_, name) => (names.push(name), "([^/]+)"));
  routes.push({ pattern: new RegExp(`^${pattern}$`), names, view });
}

/** Go to a view. */
export function go(path, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", path);
  return show();
}

let place = null;
let changed = () => {};

/** Show the view of the present address in a node; `whenChanged(path, view)` is told of each. */
export function start(node, whenChanged) {
  place = node;
  changed = whenChanged;
  addEventListener("popstate", show);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const url = new URL(link.href, location.href);
    if (url.origin !== location.origin || !url.pathname.startsWith("/app/") || link.target) return;
    event.preventDefault();
    go(url.pathname + url.search);
  });
  return show();
}

async function show() {
  const mine = ++shownAt;
  const path = location.pathname.replace(/\/$/, "") || "/app/inbox";
  for (const { pattern, names, view } of routes) {
    const match = pattern.exec(path);
    if (!match) continue;
    const parameters = Object.fromEntries(names.map((name, number) => [name, decodeURIComponent(match[number + 1])]));
    current?.close?.();
    current = null;
    const made = await view(parameters, new URLSearchParams(location.search));
    if (mine !== shownAt) return made.close?.(); // Somebody has gone elsewhere meanwhile.
    current = made;
    place.replaceChildren(made.node);
    changed(path, made);
    return undefined;
  }
  return go("/app/inbox", { replace: true });
}
