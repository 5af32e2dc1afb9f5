// Where the calls of a run stand in a picture: a time axis with folded breaks, and lanes for what ran in parallel.

const BREAK_PX = 64;
const SHORTEST_QUEUE_MS = 1000;

/** A moment in milliseconds with its microseconds, which a date would drop: many calls take less than one of them. */
function momentOf(when) {
  const micros = /\.\d{3}(\d{1,3})/.exec(when)?.[1] ?? "";
  return Date.parse(when) + Number(micros.padEnd(3, "0")) / 1000;
}

/** When a call was asked for, waited for a person, ran and ended; milliseconds since 1970, or null. */
export function momentsOf(call) {
  const found = { requested: null, asked: null, decided: null, started: null, ended: null };
  for (const [kind, , when] of call.steps) {
    const at = momentOf(when);
    if (kind === "requested") found.requested ??= at;
    else if (kind === "pending") found.asked ??= at;
    else if (kind === "approved") found.decided = at;
    else if (kind === "started") found.started = at;
    else if (kind !== "progress") found.ended = at;
  }
  found.requested ??= found.asked ?? found.started ?? found.ended ?? 0;
  return found;
}

/** Breaks in the axis: while a run was suspended, queued, or had no process, nothing of it can be drawn to scale. */
export function breaksOf(moments, end) {
  const breaks = [];
  let since = null;
  let before = null;
  for (const [kind, , when] of moments) {
    const at = momentOf(when);
    if (kind === "run.queued") since = { kind: "queued", from: at };
    else if (kind === "run.suspended") since = { kind: "waiting", from: at };
    else if (kind === "run.resumed" && since === null && before !== null) since = { kind: "stopped", from: before };
    if (["run.started", "run.resumed", "run.finished", "run.diverged"].includes(kind) && since !== null) {
      if (since.kind !== "queued" || at - since.from >= SHORTEST_QUEUE_MS) breaks.push({ ...since, to: at });
      since = null;
    }
    before = at;
  }
  if (since !== null) breaks.push({ ...since, to: Math.max(end, since.from) });
  return breaks;
}

/** The axis: `x(ms)` for a width in pixels at a zoom; breaks have a fixed width. */
export function axisOf(from, to, breaks, width, zoom = 1) {
  const folded = breaks.reduce((sum, each) => sum + each.to - each.from, 0);
  const active = Math.max(to - from - folded, 1);
  const room = Math.max(width - breaks.length * BREAK_PX, 120) * zoom;
  const scale = room / active;
  function x(at) {
    let left = (at - from) * scale;
    for (const { from: begin, to: end } of breaks) {
      if (at <= begin) break;
      left -= (Math.min(at, end) - begin) * scale;
      left += at >= end ? BREAK_PX : BREAK_PX * ((at - begin) / Math.max(end - begin, 1));
    }
    return left;
  }
  return { x, width: room + breaks.length * BREAK_PX, scale, active };
}

/** Give every bar the first lane that is free when it begins. `bars` are sorted by their beginning. */
export function assignLanes(bars) {
  // A heap of [end, lane] for lanes in use, and a heap of free lane numbers.
  const busy = heap((a, b) => a[0] - b[0]);
  const free = heap((a, b) => a - b);
  let count = 0;
  for (const bar of bars) {
    while (busy.size() && busy.top()[0] <= bar.from) free.push(busy.pop()[1]);
    bar.lane = free.size() ? free.pop() : count++;
    busy.push([bar.to, bar.lane]);
  }
  return count;
}

function heap(compare) {
  const items = [];
  const swap = (a, b) => { [items[a], items[b]] = [items[b], items[a]]; };
  return {
    size: () => items.length,
    top: () => items[0],
    push(item) {
      let at = items.push(item) - 1;
      while (at > 0 && compare(items[at], items[(at - 1) >> 1]) < 0) {
        swap(at, (at - 1) >> 1);
        at = (at - 1) >> 1;
      }
    },
    pop() {
      const first = items[0];
      const last = items.pop();
      if (items.length) {
        items[0] = last;
        for (let at = 0; ;) {
          let least = at;
          for (const child of [2 * at + 1, 2 * at + 2]) if (child < items.length && compare(items[child], items[least]) < 0) least = child;
          if (least === at) break;
          swap(at, least);
          at = least;
        }
      }
      return first;
    },
  };
}

/** Everything that a picture of a run needs: bars with lanes, breaks, beginning and end. */
export function pictureOf({ calls, moments }, now = Date.now()) {
  let from = Infinity;
  let to = -Infinity;
  const over = moments.some(([kind]) => kind === "run.finished" || kind === "run.diverged");
  const times = moments.map(([, , when]) => momentOf(when));
  const bars = calls.map((call) => ({ call, ...momentsOf(call) }));
  for (const at of times) { from = Math.min(from, at); to = Math.max(to, at); }
  for (const bar of bars) {
    from = Math.min(from, bar.requested);
    to = Math.max(to, bar.ended ?? bar.started ?? bar.decided ?? bar.asked ?? bar.requested);
  }
  if (!Number.isFinite(from)) from = to = now;
  const last = moments.at(-1)?.[0];
  const end = over || last === "run.suspended" ? to : Math.max(to, now);
  const breaks = breaksOf(moments, last === "run.suspended" || last === "run.queued" ? now : end);
  const began = times[moments.findIndex(([kind]) => kind === "run.started")];
  const first = Math.min(...bars.slice(0, 1).map((bar) => bar.requested), Infinity);
  // Start-up would otherwise take most of the picture of a short run.
  if (first - began > 0.25 * (end - began) && breaks.every((each) => each.from >= first || each.to <= began)) {
    breaks.splice(breaks.filter((each) => each.to <= began).length, 0, { kind: "before", from: began, to: first });
  }
  for (const bar of bars) {
    bar.from = bar.requested;
    bar.to = Math.max(bar.ended ?? end, bar.from);
  }
  bars.sort((a, b) => a.from - b.from || (a.call.number ?? 0) - (b.call.number ?? 0));
  const lanes = assignLanes(bars);
  return { bars, breaks, lanes, from, to: Math.max(end, ...breaks.slice(-1).map((each) => each.to)), over };
}
