// Foreign text made safe to look at, and JSON shown without changing it.

// What a reader would not see, or what would move the text around it. A joiner
// between emoji or letters of scripts that need it stays. Blanks other than the usual one
// are signs too: a command may hide in front of them. What chooses the form of an emoji stays, and
// other variation selectors are signs.
const hidden = new RegExp(
  "(?<=\\p{Extended_Pictographic})[\\uFE0E\\uFE0F]|" +
  "(?<![\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}])(?<=[\\p{L}\\p{M}\\p{Emoji_Modifier}\\p{Extended_Pictographic}\\uFE0F])[\\u200C\\u200D](?![\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}])(?=[\\p{L}\\p{Extended_Pictographic}])|" +
  "([\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}\\p{Co}\\p{Cn}\\u034F\\u115F\\u1160\\u17B4\\u17B5\\u3164\\uFFA0\\uFFFD\\u2800\\u00A0\\u1680\\u2000-\\u200A\\u202F\\u205F\\u3000\\u180B-\\u180D\\u180F\\uFE00-\\uFE0F\\u{1D159}\\u{E0100}-\\u{E01EF}])", "gu");

const named = { "\0": "NUL", "\x07": "BEL", "\b": "BS", "\t": "TAB", "\n": "LF", "\r": "CR", "\x1b": "ESC", "\x7f": "DEL" };

// What pushes the rest of a text out of sight, or covers it.
const marks = /(?:\p{M}[\u200C\u200D]?){9,}/gu, blanks = /[ \t]{81,}/g, emptyLines = /\n([ \t]*\n){9,}/g;

// visible shows control, bidi and other unseen characters as signs, and long runs of blanks,
// empty lines and marks as their number. Line breaks and tabs stay where lines is true.
export function visible(text, lines = false) {
  return String(text)
    .replace(marks, (run) => "⟨" + [...run].length + " marks⟩")
    .replace(emptyLines, (run) => "\n⟨" + (run.split("\n").length - 2) + " empty lines⟩\n")
    .replace(blanks, (run) => "⟨" + run.length + " blanks⟩").replace(hidden, (all, bad) => {
    if (bad === undefined || (lines && (bad === "\n" || bad === "\t"))) return all;
    const code = bad.codePointAt(0);
    return "⟨" + (named[bad] ?? "U+" + code.toString(16).toUpperCase().padStart(4, "0")) + "⟩";
  });
}

const space = /[ \t\r\n]*/y, word = /[^\s,:[\]{}"]+/y;

function skip(text, at) {
  space.lastIndex = at;
  space.exec(text);
  return space.lastIndex;
}

// quoted is where the string that begins at `at` ends.
function quoted(text, at) {
  for (at++; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  throw new SyntaxError("a string in the JSON does not end");
}

// past is where the value that begins at `at` ends.
function past(text, at) {
  for (let depth = 0; ;) {
    at = skip(text, at);
    if (at >= text.length) throw new SyntaxError("JSON ends too early");
    const c = text[at];
    if (c === "{" || c === "[") { depth++; at++; }
    else if (c === "}" || c === "]") { depth--; at++; }
    else if (c === "," || c === ":") { at++; continue; }
    else if (c === '"') at = quoted(text, at);
    else {
      word.lastIndex = at;
      word.test(text);
      at = word.lastIndex;
    }
    if (depth <= 0) return at;
  }
}

// parts lists what an object or an array holds, as [name, text] and [index, text].
// The text is as it came, so that numbers of any size survive.
export function parts(text) {
  const list = [], object = text[0] === "{";
  for (let at = skip(text, 1); text[at] !== "}" && text[at] !== "]"; at = skip(text, at)) {
    if (text[at] === ",") { at = skip(text, at + 1); continue; }
    let name = list.length;
    if (object) {
      const end = past(text, at);
      name = JSON.parse(text.slice(at, end));
      at = skip(text, skip(text, end) + 1);
    }
    const end = past(text, at);
    list.push([name, text.slice(at, end)]);
    at = end;
  }
  return list;
}

// members is parts as a Map, for an object.
export const members = (text) => new Map(parts(text.trim()));

// text is a member that is a text; "" where there is none.
export const text = (object, name) => object.has(name) ? String(JSON.parse(object.get(name))) : "";

const nests = (text) => text[0] === "{" || text[0] === "[";

// barred lays a text of several lines out, with a bar before each; null for any other value.
function barred(value, margin) {
  const text = value[0] === '"' ? visible(JSON.parse(value), true) : "";
  return text.includes("\n") ? text.replace(/\n$/, "").split("\n").map((line) => margin + "│ " + line).join("\n") : null;
}

// indented lays JSON text out over lines, every value as it came. To be read, texts of several
// lines stand below their names, as in what the router lays out.
export function indented(text, margin = "", read = false) {
  text = text.trim();
  if (!nests(text)) return text;
  const list = parts(text), inner = margin + "  ", object = text[0] === "{";
  if (list.length === 0) return object ? "{}" : "[]";
  const lines = list.map(([name, value], i) => {
    const lines = read ? barred(value, object ? inner + "  " : inner) : null, head = object ? inner + JSON.stringify(name) + ":" : "";
    if (lines !== null) return (object ? head + "\n" : "") + lines;
    return (object ? head + " " : inner) + indented(value, inner, read) + (i < list.length - 1 ? "," : "");
  });
  return text[0] + "\n" + lines.join("\n") + "\n" + margin + (object ? "}" : "]");
}

// shown is a value for a person: a text without quotes and with its line breaks,
// everything else as JSON.
export function shown(text) {
  text = text.trim();
  return visible(text[0] === '"' ? JSON.parse(text) : indented(text, "", true), true);
}

// left says how much time there is, in milliseconds.
export function left(ms) {
  if (ms <= 0) return "over";
  const s = Math.ceil(ms / 1000), two = (n) => String(n).padStart(2, "0");
  if (s < 3600) return Math.floor(s / 60) + ":" + two(s % 60);
  if (s < 86400) return Math.floor(s / 3600) + " h " + two(Math.floor(s / 60) % 60) + " min";
  return Math.floor(s / 86400) + " d " + Math.floor(s / 3600) % 24 + " h";
}

// stamp is a time by the reader's own clock, in the one form that the console has.
export function stamp(time) {
  const t = new Date(time), two = (n) => String(n).padStart(2, "0");
  return t.getFullYear() + "-" + two(t.getMonth() + 1) + "-" + two(t.getDate()) + " " + [t.getHours(), t.getMinutes(), t.getSeconds()].map(two).join(":");
}

// agentName is an agent as people read it: a CloudEvents source without its first slash.
export const agentName = (source) => (source || "").replace(/^\//, "");

// sender is who sent an event: the proven name, if there is one, before the one that is claimed.
export const sender = (emitter, agent) => emitter && emitter !== agent ? emitter + ", as " + agentName(agent) : agentName(agent);
