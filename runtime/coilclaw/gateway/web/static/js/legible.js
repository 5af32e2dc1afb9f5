// Untrusted text made safe to read: the same rules as `sdk/legible.py`, with marks instead of escapes.

const MOST_BLANKS = 16;
const MOST_INDENT = 40;
const MOST_COMBINING = 4;

const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u2800\u2D7F\u3164\uFE00-\uFE0F\uFFA0\u{1107F}\u{11A47}\u{11A99}\u{11F42}\u{13441}-\u{13446}\u{16FE4}\u{1BC9D}\u{1D159}\u{E0000}-\u{E0FFF}]/u;
const OTHER_BLANK = /(?! )\p{Zs}/u;
const COMBINING = /\p{M}/u;

function code(character) {
  return `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Split a text into pieces: `{text}` as it is, `{text, mark: true, title}` for what nobody would see. */
export function marked(text, { lines = false } = {}) {
  const pieces = [];
  let plain = "";
  const flush = () => {
    if (plain) pieces.push({ text: plain });
    plain = "";
  };
  const mark = (label, title) => {
    flush();
    pieces.push({ text: label, mark: true, title });
  };
  const characters = Array.from(text);
  let combining = 0;
  let atStart = true;
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at];
    if (character === " ") {
      let end = at;
      while (characters[end] === " ") end += 1;
      const count = end - at;
      if (count > (atStart && lines ? MOST_INDENT : MOST_BLANKS)) mark(`${count} blanks`, `${count} blanks in a row`);
      else plain += " ".repeat(count);
      at = end - 1;
      continue;
    }
    if (character === "\n" && lines) {
      plain += "\n";
      atStart = true;
      continue;
    }
    atStart = false;
    if (COMBINING.test(character)) {
      combining += 1;
      if (combining > MOST_COMBINING) {
        mark(code(character), "one combining character too many");
        continue;
      }
    } else combining = 0;
    if (character === "\t") mark("⇥", "tab");
    else if (character === "\n" || character === "\r") mark("↵", "end of a line");
    else if (UNSEEN.test(character)) mark(code(character), "a character that cannot be seen");
    else if (OTHER_BLANK.test(character)) mark(code(character), "a blank that is not a space");
    else plain += character;
  }
  flush();
  return pieces;
}
