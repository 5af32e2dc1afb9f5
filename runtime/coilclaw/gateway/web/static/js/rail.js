// The chat beside every view: which conversation is shown, how wide it is, and whether it is open.

import { at, get, post, query } from "./api.js";
import { thread } from "./chat/thread.js";
import { AGENT } from "./chat/turns.js";
import { el, mount } from "./dom.js";
import { marked } from "./legible.js";
import { action, problem } from "./pieces.js";
import { resizing } from "./chat/resizing.js";
import { listen } from "./stream.js";

const CHOSEN = "coilclaw.rail.project";
const CLOSED = "coilclaw.rail.closed";
const ENTITY = { runs: "run", receipts: "receipt", tools: "tool", projects: "project" };
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
const narrow = matchMedia("(max-width: 760px)");

/** One line of foreign text where no element can stand, with marks in brackets. */
function line(text, most = 60) {
  const whole = marked(text).map((piece) => (piece.mark ? `[${piece.text}]` : piece.text)).join("");
  return whole.length > most ? `${whole.slice(0, most)}…` : whole;
}

/** Make the rail. `moved(path, made)` tells it which view is shown beside it; `opener` opens it where there is no room. */
export function rail() {
  const scope = el("select", { "aria-label": "Project of the chat", on: { change: () => choose(scope.value) } });
  const which = el("select", { "aria-label": "Conversation", on: { change: () => show(which.value) } });
  const begin = action("New", newConversation, { kind: "plain small", title: "Begin another conversation" });
  const hide = el("button.plain.hide", { type: "button", "aria-label": "Hide the chat", title: "Hide the chat", on: { click: () => setOpen(false) } }, "»");
  const about = el("p.agent");
  const body = el("div.body");
  const inner = el("div.inner", { id: "chat" },
    el("header.head", el("div.line", el("h2", "Chat"), about, hide), el("div.line", scope, which, begin)), body);
  const tab = el("button.tab", { type: "button", "aria-controls": "chat", "aria-expanded": "false", on: { click: () => setOpen(true) } }, "Chat");
  const node = el("aside.rail", { "aria-label": "Chat" }, tab, inner);
  const opener = el("button.place.chat-opener", { type: "button", "aria-expanded": "false", "aria-controls": "chat", "aria-label": "Chat", on: { click: () => setSheet(true) } },
    el("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, el("path", { d: "M4 5h16v11H10l-5 4v-4H4z", fill: "none", stroke: "currentColor" })));
  const handle = resizing();
  node.prepend(handle);

  let project = localStorage.getItem(CHOSEN) ?? "";
  let view = null;
  let open = null;
  let asked = 0;

  function setOpen(wanted) {
    if (narrow.matches) return setSheet(wanted);
    localStorage.setItem(CLOSED, wanted ? "" : "yes");
    arrange();
    (wanted ? hide : tab).focus();
    return undefined;
  }

  function arrange() {
    const closed = !narrow.matches && localStorage.getItem(CLOSED) === "yes";
    document.documentElement.classList.toggle("rail-closed", closed);
    inner.hidden = closed;
    tab.hidden = !closed;
    handle.hidden = closed;
    if (!narrow.matches) setSheet(false);
  }

  /** On a narrow screen the chat is a sheet over everything else, which cannot be reached meanwhile. */
  function setSheet(wanted) {
    const was = node.classList.contains("sheet");
    const shownNow = wanted && narrow.matches;
    if (was === shownNow) return;
    node.classList.toggle("sheet", shownNow);
    opener.setAttribute("aria-expanded", String(shownNow));
    for (const other of node.parentElement?.children ?? []) {
      if (other !== node && !other.classList.contains("notices")) other.inert = shownNow;
    }
    if (shownNow) hide.focus();
    else if (narrow.matches) opener.focus();
  }

  node.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && node.classList.contains("sheet")) setSheet(false);
  });
  node.addEventListener("click", (event) => {
    if (event.target.closest?.("a[href]")) setSheet(false);
  });
  narrow.addEventListener("change", arrange);

  async function readProjects() {
    const { projects } = await get("/api/projects" + query({ limit: 200 }));
    if (project && !projects.some((each) => each.id === project)) {
      try {
        projects.unshift(await get(at`/api/projects/${project}`));
      } catch {
        project = "";
      }
    }
    mount(scope, el("option", { value: "" }, "No project"), projects.map((each) => el("option", { value: each.id }, line(each.name))));
    scope.value = project;
  }

  async function choose(wanted, { keep = true } = {}) {
    project = wanted;
    if (keep) localStorage.setItem(CHOSEN, project);
    const mine = ++asked;
    try {
      await readProjects();
      const ambient = project ? await get(at`/api/projects/${project}/conversation`) : null;
      const list = await conversations();
      if (mine !== asked) return;
      const found = ambient ?? list[0] ?? null;
      draw(list, ambient);
      await show(found?.id ?? null);
    } catch (error) {
      if (mine === asked) mount(body, problem(error, () => choose(project, { keep: false })));
    }
  }

  async function conversations() {
    const { conversations: all } = await get("/api/conversations" + query({ project, limit: 100 }));
    return all.filter((each) => each.channel === "gateway" && (each.project ?? "") === project);
  }

  function draw(list, ambient) {
    const rest = list.filter((each) => each.id !== ambient?.id);
    mount(which,
      ambient ? el("option", { value: ambient.id }, "Conversation of the project") : null,
      rest.map((each) => el("option", { value: each.id }, line(each.title || "New conversation"))),
      !ambient && !rest.length ? el("option", { value: "" }, "New conversation") : null);
  }

  async function newConversation() {
    const made = await post("/api/conversations", project ? { project } : {});
    which.prepend(el("option", { value: made.id }, "New conversation"));
    which.querySelector('option[value=""]')?.remove();
    await show(made.id);
    open?.focus();
  }

  async function show(id) {
    if (open && open.talk.id === id) return;
    open?.close();
    open = null;
    if (!id) {
      mount(body, el("div.start", el("p.dim", "There is no conversation yet."), action("Begin a conversation", newConversation, { kind: "primary" })));
      mount(about, AGENT);
      return;
    }
    which.value = id;
    open = thread(id, { view: () => view, changed: named });
    mount(body, open.node);
  }

  function named(talk) {
    if (talk.facts) mount(about, AGENT, el("span.dim", ` · ${line(talk.facts.provider, 30)}`));
    const option = [...which.options].find((each) => each.value === talk.id);
    const title = talk.facts?.title;
    if (option && title && option.textContent === "New conversation") option.textContent = line(title);
  }

  listen(({ name }) => {
    if (name.startsWith("project.") && !name.startsWith("project.file")) readProjects().catch(() => {});
  });

  let begun = false;
  function moved(path) {
    const [, , place, id] = path.split("/").map(decodeURIComponent);
    view = id && ENTITY[place] && NAME.test(id) ? { entityType: ENTITY[place], entityId: id } : null;
    const own = place === "projects" && id ? id : null;
    const wanted = own ?? (localStorage.getItem(CHOSEN) ?? "");
    if (!begun || wanted !== project) choose(wanted, { keep: false });
    begun = true;
  }

  arrange();
  return { node, opener, moved };
}
