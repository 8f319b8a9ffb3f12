"use strict";
// What pages about texts have in common. Texts reach a page as text nodes only.

const CONTEXT = 8; // equal words around a change
const HUNKS = 200; // drawn before all are asked for
const AROUND = 40; // words on either side of a longer run in common
const LONG = 120; // characters of a word that is clipped

const find = (id) => document.getElementById(id);

/* Elements and words */

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const button = (label, click, type = "quiet") => make("button", { type: "button", class: type, click }, label);
const NUMBERS = new Intl.NumberFormat("en"); // ten times as fast as to ask each number
const number = (value) => NUMBERS.format(value);
const counted = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;
const decimal = (value) => Math.min(value, value < 1 ? 0.999 : 1).toFixed(3); // 1 is only what is 1
const withLines = (text) => text.replaceAll(" \u2009", "").replaceAll("\u2009", "").replaceAll("\u00a0", " ").replaceAll(" \n", "\n");
const unpacked = (text) => withLines(text).replaceAll("\n", " ").trimStart();

// Controls, format characters (bidi overrides too), unpaired surrogates, variants, blank letters.
const INVISIBLE = "\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Default_Ignorable_Code_Point}\\u2028\\u2029\\u2800";
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const meaning = (character) => {
  if (DIRECTION.test(character)) return "changes the reading direction";
  return /\p{Cc}/u.test(character) ? "a control character" : "an invisible character";
};
const IN_IDS = new RegExp(`[${INVISIBLE}]`, "gu");
// Joiners and variants belong to the spelling of several scripts and of emoji.
const IN_TEXTS = new RegExp(`(?![\\u200c\\u200d\\ufe0e\\ufe0f])[${INVISIBLE}]`, "gu");

function visible(text, pattern) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    if (parts.length > 1000) break;
    const code = match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    parts.push(text.slice(at, match.index), make("span", { class: "escape", title: meaning(match[0]) }, `U+${code}`));
    at = match.index + match[0].length;
  }
  parts.push(parts.length > 1000 ? text.slice(at).replace(pattern, "\ufffd") : text.slice(at));
  return parts;
}

const plain = (text) => visible(text, IN_IDS);
const fold = (text) => text.normalize("NFKC").toLowerCase();

const track = (from, to) => {
  const filled = make("i");
  const width = Math.max(to - from, 0.04); // of a single value, too, also of 1
  filled.style.left = `${100 * Math.min(from, 1 - width)}%`;
  filled.style.width = `${100 * width}%`;
  return make("span", { class: "track", "aria-hidden": "true" }, filled);
};

function opens(opener, isOpen, toggle) {
  opener.setAttribute("aria-expanded", isOpen);
  opener.addEventListener("click", () => {
    const opened = opener.getAttribute("aria-expanded") !== "true";
    opener.setAttribute("aria-expanded", opened);
    toggle(opened);
  });
}

const THEMES = ["auto", "light", "dark"];

function turnTheme() {
  const theme = THEMES[(THEMES.indexOf(find("theme").value || "auto") + 1) % THEMES.length];
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  find("theme").textContent = `Theme: ${theme}`;
  find("theme").value = theme;
}

/* Word diffs */

function parts(steps) {
  const found = [];
  let first = 0;
  let second = 0;
  for (let at = 0; at < steps.length; at += 3) {
    const [equal, removed, added] = steps.slice(at, at + 3);
    if (equal) found.push({ isEqual: true, first, second, removed: equal, added: equal });
    first += equal;
    second += equal;
    if (removed || added) found.push({ isEqual: false, first, second, removed, added });
    first += removed;
    second += added;
  }
  return found;
}

function hunks(all) {
  const found = [[]];
  let hidden = 0;
  all.forEach((part, at) => {
    const head = at === 0 ? 0 : CONTEXT;
    const tail = at === all.length - 1 ? 0 : CONTEXT;
    const gap = part.removed - head - tail;
    if (!part.isEqual || gap < 12) return found.at(-1).push(part);
    const rest = part.removed - tail;
    if (head) found.at(-1).push({ ...part, removed: head, added: head });
    found.push(gap, []);
    if (tail) found.at(-1).push({ ...part, first: part.first + rest, second: part.second + rest, removed: tail, added: tail });
    hidden += gap;
  });
  return { hidden, found: found.filter((hunk) => typeof hunk === "number" || hunk.length) };
}

function run(words, from, count, isWhole) {
  const clip = (word) => isWhole || word.length <= LONG ? word : `${word.slice(0, LONG / 2)}… (${number(word.length)} characters)`;
  return visible(unpacked(words.slice(from, from + count).map(clip).join(" ")), IN_TEXTS);
}

// Words that differ; those that stand for a word of the other text are no difference.
function markChanged(tag, words, from, count, isWhole, stands, others) {
  const drawn = [];
  const kindOf = (at) => (!stands.has(at) ? tag : standsFor(words[at], said(others, stands.get(at))) ? "stands" : "same");
  for (let at = from; at < from + count;) {
    const kind = kindOf(at);
    let end = at + 1;
    while (kind !== "stands" && end < from + count && kindOf(end) === kind) end += 1;
    const text = run(words, at, end - at, isWhole);
    if (kind === "same") drawn.push(...text);
    else if (kind === "stands") drawn.push(make("span", { class: "stands", title: `stands for ${said(others, stands.get(at))}` }, ...text));
    else drawn.push(make(tag, {}, ...text));
    drawn.push(gap(words, end));
    at = end;
  }
  return drawn;
}

const gap = (words, at) => (words[at]?.startsWith("\u2009") ? "" : " "); // before a word
const standsFor = (word, other) => other.trim() && fold(unpacked(word)) !== fold(other);
const said = (words, places) => unpacked(places.map((place) => words[place] ?? "").join(" "));

// Words that both have, without the middle of a long run.
function equalRun(words, from, count) {
  if (count <= 2 * AROUND + 1) return [...run(words, from, count, false), gap(words, from + count)];
  const middle = make("i", { class: "elided" }, ` … ${number(count - 2 * AROUND)} words in common … `);
  return [...run(words, from, AROUND, false), middle, ...equalRun(words, from + count - AROUND, AROUND)];
}

// Both values of a field, each as its words.
function markedCells([words, others], steps, same) {
  const sides = [["del", words, "first", "removed", partnersOf(same, 0), others], ["ins", others, "second", "added", partnersOf(same, 1), words]];
  return sides.map(([tag, all, from, count, partners, rest]) => {
    const whole = all.length ? [{ isEqual: true, [from]: 0, [count]: all.length }] : [];
    return (steps.length ? parts(steps) : whole).flatMap((part) => (part.isEqual
      ? equalRun(all, part[from], part[count])
      : markChanged(tag, all, part[from], part[count], false, partners, rest)));
  });
}

const signed = (bits) => `${bits < 0 ? "−" : "+"}${Math.abs(bits).toFixed(1)}`;

const isWeighed = ([, , , , , bits]) => typeof bits === "number";

// A pair field by field: both values, and how far they agree. The last rows may only be shown.
function fieldTable(names, rows, { measure = "", hasLevels = true, shown = 0 } = {}) {
  const columns = rows.filter(([values]) => values);
  const isLeveled = hasLevels && columns.some(isWeighed);
  const heads = ["Column", ...names, ...(isLeveled ? ["Agreement"] : [])];
  const drawn = columns.map(([values, field, steps = [], same = [], level = ""]) => {
    const cells = markedCells(values.map((value) => (value ? value.split(" ") : [])), steps, same).map((cell) => make("td", { dir: "auto" }, ...(cell.length ? cell : [make("i", { class: "elided" }, "nothing")])));
    return make("tr", {}, make("th", { scope: "row" }, ...plain(field)), ...cells, ...(isLeveled ? [make("td", {}, level)] : []));
  });
  if (shown) drawn.splice(-shown, 0, make("tr", { class: "beside" }, make("th", { scope: "rowgroup", colspan: heads.length }, "Only shown to help you, not compared:")));
  const note = isLeveled || !measure ? [] : [make("caption", {}, "The columns are compared together, as one text.")];
  const head = make("tr", {}, ...heads.map((each) => make("th", { scope: "col" }, each)));
  return make("div", { class: "wide" }, make("table", { class: "fields" }, ...note, make("thead", {}, head), make("tbody", {}, ...drawn)));
}

// What only experts read, behind a fold: other parts, and what each field adds to the odds.
function expertFold(rows, more = [], name = "Figures for experts") {
  const weighed = rows.filter(isWeighed).map(([, field, , , level = "", bits]) => make("tr", {}, make("th", { scope: "row" }, ...plain(field)), make("td", {}, level), make("td", { class: "number" }, signed(bits))));
  const heads = ["Column", "Agreement", "Bits"].map((each) => make("th", { scope: "col", class: each === "Bits" ? "number" : "" }, each));
  const table = weighed.length ? [make("p", { class: "why-note" }, "Bits above 0 speak for “same”, below 0 for “different”; each doubles or halves the odds."), make("table", { class: "fields" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...weighed))] : [];
  return table.length || more.length ? [make("details", { class: "how" }, make("summary", {}, name), ...more, ...table)] : [];
}

function partnersOf(stands, side) {
  const found = new Map();
  for (const pair of stands) if (pair[side] >= 0) found.set(pair[side], [...(found.get(pair[side]) ?? []), pair[1 - side]]);
  return found;
}

// What stands for what, if it is written in another way: "Blvd. ≈ Boulevard".
function standIns(words, others, partners) {
  const found = [...partners].map(([at, places]) => [said(words, [at]), said(others, places)]);
  return found.filter(([one, other]) => standsFor(one, other)).map((pair) => pair.map((word) => word.replace(/[,;:]+$/, "")).join(" ≈ "));
}

// Two texts, each as its words, a name, and what stands above it side by side.
function diffView([first, second], steps, stands = []) {
  const { words } = first;
  const others = second.words;
  const [ofFirst, ofSecond] = [partnersOf(stands, 0), partnersOf(stands, 1)];
  const all = parts(steps);
  const some = hunks(all);
  const text = (type, ...children) => make("p", { class: type, dir: "auto" }, ...children);
  let isSide = matchMedia("(min-width: 58rem)").matches;
  let isWhole = false;
  const body = make("div");
  const pressed = (name, side) => button(name, () => { isSide = side; draw(); });
  const inline = pressed("Inline", false);
  const side = pressed("Side by side", true);
  const whole = button("Show all", () => { isWhole = !isWhole; draw(); });
  const needsWhole = some.hidden || some.found.length > HUNKS || [...words, ...others].some((word) => word.length > LONG);
  function marked(hunk, isFirst, isSecond) {
    return hunk.flatMap((part) => {
      if (part.isEqual) return [...(isFirst ? run(words, part.first, part.removed, isWhole) : run(others, part.second, part.added, isWhole)), " "];
      const gone = isFirst ? markChanged("del", words, part.first, part.removed, isWhole, ofFirst, others) : [];
      return isSecond ? [...gone, ...markChanged("ins", others, part.second, part.added, isWhole, ofSecond, words)] : gone;
    });
  }
  function rows(hunk) {
    if (typeof hunk === "number") return [make("p", { class: "gap" }, `… ${counted(hunk, "equal word")} …`)];
    if (!isSide) return [text("both", ...marked(hunk, true, true))];
    return [text("first", ...marked(hunk, true, false)), text("second", ...marked(hunk, false, true))];
  }
  function draw() {
    const wanted = isWhole ? [all] : some.found.slice(0, HUNKS);
    body.className = isSide ? "diff side" : "diff";
    body.replaceChildren(...wanted.flatMap(rows));
    if (isSide) body.prepend(make("p", { class: "whose" }, first.head), make("p", { class: "whose second" }, second.head));
    if (!isWhole && some.found.length > HUNKS) body.append(make("p", { class: "gap" }, `… and ${number(some.found.length - HUNKS)} further parts: show all`));
    inline.setAttribute("aria-pressed", !isSide);
    side.setAttribute("aria-pressed", isSide);
    whole.setAttribute("aria-pressed", isWhole);
  }
  draw();
  whole.hidden = !needsWhole;
  const legend = all.every((part) => part.isEqual)
    ? make("p", { class: "legend" }, "No word differs; case and punctuation are ignored.")
    : make("p", { class: "legend" }, make("del", {}, "only in"), " ", first.name, make("span", { class: "apart" }), make("ins", {}, "only in"), " ", second.name);
  const same = standIns(words, others, ofFirst);
  if (same.length) legend.append(make("span", { class: "apart" }), make("span", { class: "stands" }, "in both"), " ", same.join(", "));
  return [make("div", { class: "tools" }, legend, inline, side, whole), body];
}

/* Passages of long texts */

// A passage as one side has it, without the middle of long runs, and of very many changes some.
function passageWords(words, from, steps, [tag, start, count]) {
  const all = parts(steps);
  const drawn = all.slice(0, 2 * HUNKS).flatMap((part) => (part.isEqual
    ? equalRun(words, from + part[start], part[count])
    : part[count] ? [make(tag, {}, ...run(words, from + part[start], part[count], false)), " "] : []));
  const left = all.slice(2 * HUNKS).reduce((sum, part) => sum + part[count], 0);
  if (left) drawn.push(make("i", { class: "elided" }, ` … ${counted(left, "more word")} of this passage …`));
  return drawn;
}

// Words between two passages, only those beside them if they are many.
function between(words, from, to, isFirst, isLast) {
  const [head, tail] = [isFirst ? 0 : AROUND, isLast ? 0 : AROUND];
  const left = to - from - head - tail;
  if (left < 12) return [...run(words, from, Math.max(to - from, 0), false), " "];
  const middle = make("i", { class: "elided gap" }, `… ${counted(left, "word")} …`);
  return [...run(words, from, head, false), middle, ...run(words, to - tail, tail, false), " "];
}

// Two long texts in two columns, each cut to its passages; a passage leads to that of the other.
function passagesView(sides, passages) {
  const marks = [[], []];
  const kinds = [["del", "first", "removed"], ["ins", "second", "added"]];
  function show(number, side) {
    for (const both of marks) both.forEach((mark, at) => mark.classList.toggle("is-current", at === number));
    const [column, mark] = [columns[1 - side], marks[1 - side][number]];
    column.scrollTop += mark.getBoundingClientRect().top - column.getBoundingClientRect().top - column.clientHeight / 6;
  }
  function draw({ words }, side) {
    const drawn = [];
    let at = 0;
    const order = [...passages.keys()].sort((one, other) => passages[one][2 * side] - passages[other][2 * side]);
    for (const number of order) {
      const [from, count] = passages[number].slice(2 * side, 2 * side + 2);
      drawn.push(...between(words, at, from, at === 0, false));
      const choose = () => getSelection().isCollapsed && show(number, side);
      const press = (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        show(number, side);
      };
      marks[side][number] = make("span", { class: "passage", role: "button", tabindex: 0, title: "Show it in the other text", click: choose, keydown: press }, ...passageWords(words, from, passages[number][4], kinds[side]));
      drawn.push(marks[side][number], " ");
      at = Math.max(at, from + count);
    }
    return make("div", { class: "column", dir: "auto" }, ...drawn, ...between(words, at, words.length, false, true));
  }
  const columns = sides.map(draw);
  const legend = make("p", { class: "legend" }, `${counted(passages.length, "passage")} in common. Choose one to see it in the other text.`);
  const whole = columns.map((column, at) => make("div", {}, make("p", { class: "whose" }, sides[at].head), column));
  return [make("div", { class: "tools" }, legend), make("div", { class: "diff passages" }, ...whole)];
}
