// A run as a picture: one bar for each call, lanes for what ran in parallel, folded breaks where it waited.
// Up to 2,000 bars are SVG, each of which can be focused; more are drawn on a canvas as large as what can be seen.

import { el, mount } from "./dom.js";
import { duration } from "./format.js";
import { axisOf, pictureOf } from "./lanes.js";
import { marked } from "./legible.js";

const MOST_SVG = 2000;
const LANE = 22;
const BAR = 16;
const TOP = 24;
const LETTER = 6.6;
const BREAKS = { waiting: "waited for a person", queued: "queued", stopped: "no process", before: "before the first call" };

/** Text on one line with every unseen character as a mark, cut to a number of letters. */
export function lineOf(text, most = 200) {
  const whole = marked(text.slice(0, 2 * most)).map((piece) => piece.text).join("");
  return whole.length > most ? `${whole.slice(0, Math.max(most - 1, 1))}…` : whole;
}

/** What a bar is called: the tool and the argument that tells its calls apart. */
export function nameOf(call) {
  return call.label ? `${call.tool} ${call.label}` : call.tool;
}

/** Make a timeline; `picked(call)` is told which bar was chosen. */
export function timeline(picked) {
  const room = el("div.timeline-room", { tabindex: "-1" });
  const about = el("p.dim.timeline-about");
  const zoomed = (by) => () => { zoom = Math.min(Math.max(zoom * by, 1), 4096); draw(); };
  const node = el("section.timeline", { "aria-label": "Timeline of calls" },
    el("div.timeline-head", about, el("span.actions",
      el("button.small", { type: "button", "aria-label": "Zoom out", on: { click: zoomed(1 / 2) } }, "−"),
      el("button.small", { type: "button", "aria-label": "Zoom in", on: { click: zoomed(2) } }, "+"),
      el("button.small", { type: "button", on: { click: () => { zoom = 1; draw(); } } }, "Fit"))),
    room,
    el("p.legend", el("span.key.queue", "queueing"), el("span.key.person", "waiting for a person"), el("span.key.run", "running"), el("span.key.failed", "failed or denied")));
  let zoom = 1;
  let picture = null;
  let axis = null;
  let selected = null;
  let line = null;
  let svgBars = new Map();
  let paint = null;

  function show(data) {
    picture = pictureOf(data);
    draw();
  }

  function draw() {
    if (!picture) return;
    axis = axisOf(picture.from, picture.to, picture.breaks, Math.max(room.clientWidth - 4, 200), zoom);
    mount(about, `${picture.bars.length.toLocaleString("en")} ${picture.bars.length === 1 ? "call" : "calls"}, ${duration(axis.active)} active` +
      `${picture.lanes > 1 ? `, up to ${picture.lanes} in parallel` : ""}`);
    svgBars = new Map();
    paint = null;
    if (picture.bars.length > MOST_SVG) drawCanvas();
    else drawSvg();
  }

  const height = () => TOP + Math.max(picture.lanes, 1) * LANE + 6;
  function place(bar) {
    const left = axis.x(bar.from);
    const start = axis.x(bar.started ?? bar.to);
    return { left, start, width: Math.max(axis.x(bar.to) - left, 3), top: TOP + bar.lane * LANE };
  }
  const tone = (bar) => (["failed", "denied"].includes(bar.call.status) ? "failed" : bar.call.status === "unknown" ? "unknown" : bar.started ? "run" : bar.asked ? "person" : "queue");

  function drawSvg() {
    const nextOf = new Map();
    const lastIn = new Map();
    for (const bar of picture.bars) {
      if (lastIn.has(bar.lane)) nextOf.set(lastIn.get(bar.lane), bar);
      lastIn.set(bar.lane, bar);
    }
    const drawn = picture.bars.map((bar, number) => {
      const { left, start, width, top } = place(bar);
      const until = nextOf.has(bar) ? axis.x(nextOf.get(bar).from) : axis.width;
      const inside = width > 70;
      const space = Math.floor(((inside ? width : until - left - width) - 8) / LETTER);
      const took = duration(Math.max(bar.to - (bar.started ?? bar.from), 0));
      const group = el("g.bar", { class: tone(bar), role: "button", tabindex: number ? "-1" : "0", "data-call": bar.call.id,
        "aria-label": lineOf(`${bar.call.number ?? ""} ${nameOf(bar.call)}, ${bar.call.status}, ${took}`),
        on: { click: () => picked(bar.call), keydown: (event) => key(event, number) } },
        el("rect.whole", { x: left, y: top, width, height: BAR, rx: 3 }),
        bar.started !== null ? el("rect.ran", { x: start, y: top, width: Math.max(left + width - start, 2), height: BAR, rx: 3 }) : null,
        space > 4 ? el("text", { x: left + (inside ? 5 : width + 4), y: top + 12, class: inside && tone(bar) !== "queue" ? "inside" : "beside" }, lineOf(nameOf(bar.call), space)) : null);
      svgBars.set(bar.call.id, group);
      return group;
    });
    mount(room, el("svg.picture", { width: Math.ceil(axis.width), height: height(), role: "group", "aria-label": "Calls by time" }, drawBreaks(), drawn));
    mark();
  }

  function drawBreaks() {
    return picture.breaks.map((each) => {
      const left = axis.x(each.from);
      const width = axis.x(each.to) - left;
      const label = `${BREAKS[each.kind]} ${duration(each.to - each.from)}`;
      return el("g.break", { class: each.kind }, el("title", { svg: true }, label),
        el("rect", { x: left + 3, y: 2, width: Math.max(width - 6, 4), height: height() - 4, rx: 4 }),
        el("text", { x: left + width / 2, y: 14 }, duration(each.to - each.from)));
    });
  }

  function key(event, number) {
    const to = { ArrowRight: number + 1, ArrowDown: number + 1, ArrowLeft: number - 1, ArrowUp: number - 1, Home: 0, End: picture.bars.length - 1 }[event.key];
    if (event.key === "Enter" || event.key === " ") picked(picture.bars[number].call);
    else if (to === undefined || !picture.bars[to]) return;
    else svgBars.get(picture.bars[to].call.id)?.focus();
    event.preventDefault();
  }

  function drawCanvas() {
    const canvas = el("canvas.picture", { role: "img", "aria-label": `${picture.bars.length} calls by time; the list below has each of them` });
    const inner = el("div.picture-space", canvas);
    inner.style.width = `${Math.ceil(axis.width)}px`;
    inner.style.height = `${height()}px`;
    mount(room, inner);
    let due = false;
    paint = () => {
      if (due) return;
      due = true;
      requestAnimationFrame(() => { due = false; paintNow(canvas); });
    };
    canvas.addEventListener("click", (event) => {
      const box = canvas.getBoundingClientRect();
      const found = at(event.clientX - box.left + room.scrollLeft, event.clientY - box.top + room.scrollTop);
      if (found) picked(found.call);
    });
    paint();
  }

  function at(x, y) {
    const lane = Math.floor((y - TOP) / LANE);
    let best = null;
    for (const bar of picture.bars) {
      if (bar.lane !== lane) continue;
      const { left, width } = place(bar);
      const away = x < left ? left - x : x > left + width ? x - left - width : 0;
      if (away <= 3 && (best === null || away < best.away)) best = { away, bar };
    }
    return best?.bar ?? null;
  }

  function paintNow(canvas) {
    const width = room.clientWidth;
    const tall = Math.min(room.clientHeight, height());
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.max(width * ratio, 1);
    canvas.height = Math.max(tall * ratio, 1);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${tall}px`;
    const pen = canvas.getContext("2d");
    const colour = (name) => getComputedStyle(node).getPropertyValue(name).trim();
    const colours = { run: colour("--accent"), queue: colour("--dim"), person: colour("--wait"), failed: colour("--bad"), unknown: colour("--wait") };
    const [pale, chosen] = [colour("--strong-line"), colour("--text")];
    pen.setTransform(ratio, 0, 0, ratio, -room.scrollLeft * ratio, -room.scrollTop * ratio);
    for (const each of picture.breaks) {
      pen.fillStyle = each.kind === "waiting" ? colour("--wait-ground") : colour("--sunken");
      pen.fillRect(axis.x(each.from) + 3, 2, axis.x(each.to) - axis.x(each.from) - 6, height() - 4);
    }
    pen.font = "11px system-ui";
    for (const bar of picture.bars) {
      const { left, start, width: wide, top } = place(bar);
      if (left + wide < room.scrollLeft || left > room.scrollLeft + width || top + LANE < room.scrollTop || top > room.scrollTop + tall) continue;
      pen.fillStyle = pale;
      pen.fillRect(left, top, Math.max(wide, 1), BAR);
      pen.fillStyle = colours[tone(bar)];
      pen.fillRect(bar.started === null ? left : start, top, Math.max(left + wide - start, 1), BAR);
      if (bar.call.id === selected || (line !== null && bar.call.line === line)) {
        pen.strokeStyle = chosen;
        pen.lineWidth = bar.call.id === selected ? 2 : 1;
        pen.strokeRect(left - 1, top - 1, wide + 2, BAR + 2);
      }
    }
  }

  function mark() {
    if (paint) return paint();
    for (const bar of picture?.bars ?? []) {
      const group = svgBars.get(bar.call.id);
      group.classList.toggle("selected", bar.call.id === selected);
      group.classList.toggle("of-line", line !== null && bar.call.line === line);
      if (bar.call.id === selected) group.setAttribute("aria-pressed", "true");
      else group.removeAttribute("aria-pressed");
    }
    return undefined;
  }

  /** Mark a call, and every call of its line. */
  function select(call, ofLine = call?.line ?? null) {
    selected = call?.id ?? null;
    line = ofLine;
    mark();
    const bar = picture?.bars.find((each) => each.call.id === selected);
    if (!bar) return;
    const { left, width, top } = place(bar);
    if (left < room.scrollLeft || left + width > room.scrollLeft + room.clientWidth) room.scrollLeft = left - room.clientWidth / 3;
    if (top < room.scrollTop || top + LANE > room.scrollTop + room.clientHeight) room.scrollTop = top - room.clientHeight / 3;
  }

  room.addEventListener("scroll", () => paint?.());
  let wide = 0;
  const watch = new ResizeObserver(() => {
    if (Math.abs(room.clientWidth - wide) > 2) { wide = room.clientWidth; draw(); }
  });
  watch.observe(room);
  return { node, show, select, close: () => watch.disconnect() };
}
