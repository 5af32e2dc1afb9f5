// Projects, and the files of one. Its conversation is in the chat beside it.

import { at, get, headers, patch, post, Problem, query } from "../api.js";
import { el, mount, shown } from "../dom.js";
import { ago, counted } from "../format.js";
import { action, empty, heading, notice, refreshing } from "../pieces.js";
import { go } from "../router.js";
import { listen } from "../stream.js";

function followed(load, changes) {
  const made = refreshing(load);
  const unlisten = listen(({ name, data }) => {
    if (name === "reconnected" || name === "missed" || changes(name, data)) made.refresh();
  });
  return { node: made.node, refresh: made.refresh, close: () => { made.close(); unlisten(); } };
}

export async function projectsView(parameters, asked) {
  const archived = asked.get("archived") === "true";
  const name = el("input", { type: "text", required: true, maxlength: 200, placeholder: "Name of a new project", "aria-label": "Name of a new project" });
  const create = async () => {
    if (!name.value.trim()) return name.focus();
    const made = await post("/api/projects", { name: name.value });
    return go(at`/app/projects/${made.id}`);
  };
  const form = el("form.filters", { on: { submit: (event) => { event.preventDefault(); button.click(); } } }, name);
  const button = action("Make project", create, { kind: "primary" });
  form.append(button);
  const list = followed(async () => {
    const { projects } = await get("/api/projects" + query({ archived: archived ? "true" : "", limit: 200 }));
    if (!projects.length) return empty(archived ? "No archived projects" : "No projects yet", archived ? "" : "A project has files, and a conversation of its own.");
    return el("table.rows", el("thead", el("tr", el("th", { scope: "col" }, "Project"), el("th", { scope: "col" }, "Made"))),
      el("tbody", projects.map((each) => el("tr", el("td", el("a", { href: at`/app/projects/${each.id}` }, shown(each.name))), el("td", ago(each.created_at))))));
  }, (event) => /^project\.(created|changed)$/.test(event));
  const other = el("a", { href: archived ? "/app/projects" : "/app/projects?archived=true" }, archived ? "Active projects" : "Archived projects");
  return { title: "Projects", node: el("div", heading("Projects", { actions: [other] }), archived ? null : form, list.node), close: list.close };
}

/** Send a file's request with the version that it is about, so that nobody's change is lost. */
async function sendFile(method, path, version, body) {
  let response;
  try {
    response = await fetch(path, {
      method, credentials: "same-origin", redirect: "error", body: body && JSON.stringify(body),
      headers: headers({ ...(body ? { "Content-Type": "application/json" } : {}), ...(version === "*" ? { "If-None-Match": "*" } : { "If-Match": `"${version}"` }) }),
    });
  } catch {
    throw new Problem(0);
  }
  const answer = await response.json();
  if (!response.ok) throw new Problem(response.status, answer.error);
  return answer;
}

export async function projectView({ id }, asked) {
  const project = await get(at`/api/projects/${id}`).catch((error) => error);
  if (project instanceof Error) return { title: "Project", node: el("div", heading("Project"), el("p.problem", shown(project.message)), el("a", { href: "/app/projects" }, "All projects")) };
  const base = at`/api/projects/${id}/files`;
  const address = (path) => `${base}/${path.split("/").map(encodeURIComponent).join("/")}`;
  const place = el("section.card", { "aria-label": "File", hidden: true });
  const rename = action("Rename", async () => {
    const field = el("input", { type: "text", maxlength: 200, value: project.name, "aria-label": "New name" });
    const keep = action("Keep", async () => { await patch(at`/api/projects/${id}`, { name: field.value }); await go(location.pathname, { replace: true }); }, { kind: "primary" });
    mount(naming, field, keep);
    field.focus();
  });
  const naming = el("div.filters");
  const archive = action(project.archived_at ? "Restore" : "Archive", async () => {
    await patch(at`/api/projects/${id}`, { archived: !project.archived_at });
    await go(location.pathname, { replace: true });
  });

  async function open(path) {
    const file = await get(address(path));
    place.hidden = false;
    if (file.encoding !== "text") return mount(place, el("h2", shown(path)), el("p.dim", `${counted(file.size, "byte")} that are no text`), removal(path, file.version));
    return edit(path, file.content, file.version);
  }

  function removal(path, version) {
    return action("Delete", async () => {
      await sendFile("DELETE", address(path), version);
      place.hidden = true;
      await list.refresh();
    }, { kind: "danger" });
  }

  function edit(path, content, version) {
    const text = el("textarea", { rows: 18, spellcheck: "false", "aria-label": "Content of the file", class: "mono file-text" });
    text.value = content;
    const save = action("Save", async () => {
      const written = await sendFile("PUT", address(path), version, { content: text.value });
      notice("Saved");
      edit(path, text.value, written.version);
      await list.refresh();
    }, { kind: "primary" });
    place.hidden = false;
    mount(place, el("h2", shown(path)), text, el("div.actions", save, version === "*" ? null : removal(path, version)));
  }

  const list = followed(async () => {
    const { files, truncated } = await get(base);
    if (!files.length) return empty("No files yet", "Files that the project's work makes appear here.");
    return el("div", el("table.rows", el("thead", el("tr", el("th", { scope: "col" }, "File"), el("th", { scope: "col" }, "Size"), el("th", { scope: "col" }, "Changed"))),
      el("tbody", files.map((each) => el("tr",
        el("td", el("button.plain", { type: "button", on: { click: () => open(each.path).catch((error) => notice(error.message, "bad")) } }, shown(each.path))),
        el("td", counted(each.size, "byte")), el("td", ago(each.modified_at)))))),
      truncated ? el("p.dim", "There are more files than are listed.") : null);
  }, (event, data) => event.startsWith("project.file") && JSON.stringify(data).includes(id));
  const path = el("input", { type: "text", placeholder: "Path of a new file", "aria-label": "Path of a new file" });
  const fresh = action("New file", async () => (path.value.trim() ? edit(path.value.trim(), "", "*") : path.focus()));
  return {
    title: project.name,
    node: el("div", heading(shown(project.name), { about: project.archived_at ? "Archived: it can be read, and restored." : null, actions: [rename, archive] }), naming,
      project.archived_at ? null : el("div.filters", path, fresh), list.node, place),
    close: list.close,
  };
}
