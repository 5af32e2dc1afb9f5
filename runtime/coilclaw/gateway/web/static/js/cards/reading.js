// Whether a request was read: all of it has been on screen, and it has stood still for half a second.

const SETTLE_MS = 500;
const SLACK_PX = 2;
const LEAST_WIDTH = 0.9;

/** The part of a node that is on screen, in the node's own pixels; null if there is none. */
function visiblePart(node) {
  const whole = node.getBoundingClientRect();
  let { top, bottom, left, right } = whole;
  const clip = (rect) => {
    top = Math.max(top, rect.top);
    bottom = Math.min(bottom, rect.bottom);
    left = Math.max(left, rect.left);
    right = Math.min(right, rect.right);
  };
  for (let each = node.parentElement; each; each = each.parentElement) {
    if (getComputedStyle(each).overflowY !== "visible") clip(each.getBoundingClientRect());
  }
  clip({ top: 0, bottom: innerHeight, left: 0, right: innerWidth });
  if (bottom <= top || right - left < LEAST_WIDTH * whole.width) return null;
  return [top - whole.top, bottom - whole.top, whole.height];
}

/** Watch whether `content` is read. `changed()` is called whenever that, or being ready, may have changed. */
export function reading(content, changed) {
  let parts = [];
  let height = 0;
  let begun = false;
  let readAt = Infinity;
  let due = null;
  let frame = null;

  function settle() {
    readAt = performance.now() + SETTLE_MS;
    clearTimeout(due);
    due = setTimeout(changed, SETTLE_MS + 1);
    changed();
  }

  function look() {
    frame = null;
    if (!begun || document.visibilityState !== "visible" || !content.isConnected) return;
    const found = visiblePart(content);
    if (!found) return;
    const [from, to, now] = found;
    // Another width folds the lines elsewhere: what was seen is the same share of it.
    if (height && now !== height) parts = parts.map(([a, b]) => [(a * now) / height, (b * now) / height]);
    height = now;
    const before = isWhole();
    parts = joined([...parts, [from, to]]);
    if (readAt === Infinity) settle();
    else if (isWhole() !== before) changed();
  }

  function isWhole() {
    return parts.length === 1 && parts[0][0] <= SLACK_PX && parts[0][1] >= height - SLACK_PX;
  }

  const soon = () => { frame ??= requestAnimationFrame(look); };
  const returned = () => {
    if (document.visibilityState !== "visible") return;
    if (readAt !== Infinity) settle();
    soon();
  };
  const resized = new ResizeObserver(soon);
  resized.observe(content);
  const crossed = new IntersectionObserver(soon);
  crossed.observe(content);
  document.addEventListener("scroll", soon, { capture: true, passive: true });
  document.addEventListener("visibilitychange", returned);
  addEventListener("resize", soon);

  return {
    /** Something else is displayed: nothing of it was read. */
    restart() {
      parts = [];
      height = 0;
      begun = true;
      readAt = Infinity;
      changed();
      soon();
    },
    /** It has just appeared, changed or moved: whoever aimed at what was there before must not hit it. */
    unsettle() {
      if (readAt !== Infinity) settle();
    },
    isWhole: () => begun && isWhole(),
    isReady: () => begun && isWhole() && performance.now() >= readAt && document.visibilityState === "visible",
    close() {
      clearTimeout(due);
      if (frame !== null) cancelAnimationFrame(frame);
      resized.disconnect();
      crossed.disconnect();
      document.removeEventListener("scroll", soon, { capture: true });
      document.removeEventListener("visibilitychange", returned);
      removeEventListener("resize", soon);
    },
  };
}

function joined(parts) {
  const made = [];
  for (const [from, to] of parts.sort((a, b) => a[0] - b[0])) {
    const last = made.at(-1);
    if (last && from <= last[1] + SLACK_PX) last[1] = Math.max(last[1], to);
    else made.push([from, to]);
  }
  return made;
}
