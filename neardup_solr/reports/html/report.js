
"use strict";
// Texts reach the page as text nodes only; what is not in view is not in the document.

const ROWS = 50; // of a list at a time
const CONTEXT = 8; // equal words around a change
const HUNKS = 200; // drawn before all are asked for
const LONG = 120; // characters of a word that is clipped
const CLIP = 240; // characters of a preview
const LEAD = 24; // characters before what was looked for
const SLICE = 12; // milliseconds of filtering between two looks at the keyboard

const find = (id) => document.getElementById(id);
const read = (id) => JSON.parse(find(id).textContent);
const later = (id) => {
  let value;
  return () => (value ??= read(id));
};

// Texts come in parts of some rows each, read when one of them is shown or searched.
const parted = [...document.querySelectorAll("script.texts")].map((part) => ({ from: Number(part.dataset.from), texts: later(part.id) }));
const partOf = (row) => {
  let [low, high] = [0, parted.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (parted[middle].from <= row) low = middle;
    else high = middle - 1;
  }
  return parted[low];
};
const textOf = (row) => partOf(row).texts()[row - partOf(row).from];

const [facts] = read("facts");
const ids = read("ids");
const diffs = later("diffs");
const clusters = read("clusters").map(
  ([id, canonical, count, diameter, bridges, members, similarities, distances]) => ({
    id, canonical, count, diameter, bridges: new Set(bridges), members, similarities, distances,
    pairs: [], low: 1, high: 0,
  }),
);
read("pairs").forEach(([place, first, second, similarity, distance, shared], row) => {
  const cluster = clusters[place];
  cluster.pairs.push({ row, first, second, similarity, distance, shared });
  cluster.low = Math.min(cluster.low, similarity);
  cluster.high = Math.max(cluster.high, similarity);
});
for (const cluster of clusters) cluster.pairs.sort((a, b) => b.similarity - a.similarity);

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
const number = (value) => value.toLocaleString("en");
const counted = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;
const decimal = (value) => Math.min(value, value < 1 ? 0.999 : 1).toFixed(3); // 1 is only what is 1
const unpacked = (text) => text.replaceAll(" \u2009", "").replaceAll("\u2009", "").replaceAll("\u00a0", " ");

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

const plainText = (row) => unpacked(textOf(row) ?? "");
const plain = (text) => visible(text, IN_IDS);
const named = (row, type = "id") => make("bdi", { class: type }, ...visible(ids[row], IN_IDS));

function preview(row, query = "", lead = []) {
  if (textOf(row) === null) return make("span", { class: "preview" }, "text not read");
  const at = found(row, query);
  const whole = at < 0 ? unpacked(textOf(row).slice(0, 2 * CLIP)) : plainText(row);
  const from = at < LEAD ? 0 : whole.lastIndexOf(" ", at - LEAD) + 1;
  const before = at < 0 ? "" : whole.slice(Math.max(from, at - 2 * LEAD), at);
  const drawn = visible(`${from ? "… " : ""}${before}`, IN_TEXTS);
  if (at >= 0) drawn.push(make("mark", {}, ...visible(whole.slice(at, at + query.length), IN_TEXTS)));
  const rest = at < 0 ? 0 : at + query.length;
  drawn.push(...visible(whole.slice(rest, rest + CLIP), IN_TEXTS));
  return make("span", { class: "preview" }, ...lead, make("bdi", {}, ...drawn));
}

// Where a text says something; folding may have moved it by a little, or out of sight.
const found = (row, query) => (query ? plainText(row).toLowerCase().indexOf(query) : -1);

function factsList(entries) {
  return entries.map(([label, value]) => make("div", {}, make("dt", {}, ...plain(label)), make("dd", {}, ...plain(value))));
}

/* Lists in pages */

function pager(nav, go) {
  let page = 0;
  let total = 0;
  const back = button("← Previous", () => move(-1));
  const where = make("span", { role: "status" });
  const on = button("Next →", () => move(1));
  nav.replaceChildren(back, where, on);
  function show() {
    nav.hidden = total <= ROWS;
    where.textContent = `${number(page * ROWS + 1)}–${number(Math.min(total, (page + 1) * ROWS))} of ${number(total)}`;
    back.disabled = page === 0;
    on.disabled = (page + 1) * ROWS >= total;
    go(page * ROWS, Math.min(total, (page + 1) * ROWS));
  }
  function move(step) {
    page += step;
    show();
    const list = nav.parentElement;
    if (list.getBoundingClientRect().top < 0) list.scrollIntoView();
    const [wanted, other] = step > 0 ? [on, back] : [back, on];
    (wanted.disabled ? other : wanted).focus({ preventScroll: true });
  }
  return (count) => {
    page = 0;
    total = count;
    show();
  };
}

function paged(type, items, draw) {
  const list = make("ul", { class: type });
  const nav = make("nav", { class: "pager", "aria-label": `Pages of ${type}` });
  const start = pager(nav, (from, to) => list.replaceChildren(...items.slice(from, to).map(draw)));
  start(items.length);
  return [list, nav];
}

function opens(opener, isOpen, toggle) {
  opener.setAttribute("aria-expanded", isOpen);
  opener.addEventListener("click", () => {
    const opened = opener.getAttribute("aria-expanded") !== "true";
    opener.setAttribute("aria-expanded", opened);
    toggle(opened);
  });
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

function marked(hunk, words, others, isWhole) {
  const drawn = [];
  for (const part of hunk) {
    if (part.isEqual && words) drawn.push(...run(words, part.first, part.removed, isWhole), " ");
    else if (part.isEqual) drawn.push(...run(others, part.second, part.added, isWhole), " ");
    if (!part.isEqual && words && part.removed) drawn.push(make("del", {}, ...run(words, part.first, part.removed, isWhole)), " ");
    if (!part.isEqual && others && part.added) drawn.push(make("ins", {}, ...run(others, part.second, part.added, isWhole)), " ");
  }
  return drawn;
}

function diffView(pair, steps) {
  const split = (row) => (textOf(row) ? textOf(row).split(" ") : []);
  const words = split(pair.first);
  const others = split(pair.second);
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
  function rows(hunk) {
    if (typeof hunk === "number") return [make("p", { class: "gap" }, `… ${counted(hunk, "equal word")} …`)];
    if (!isSide) return [text("both", ...marked(hunk, words, others, isWhole))];
    return [text("first", ...marked(hunk, words, null, isWhole)), text("second", ...marked(hunk, null, others, isWhole))];
  }
  function draw() {
    const wanted = isWhole ? [all] : some.found.slice(0, HUNKS);
    body.className = isSide ? "diff side" : "diff";
    body.replaceChildren(...wanted.flatMap(rows));
    if (isSide) body.prepend(make("p", { class: "whose" }, named(pair.first)), make("p", { class: "whose second" }, named(pair.second)));
    if (!isWhole && some.found.length > HUNKS) body.append(make("p", { class: "gap" }, `… and ${number(some.found.length - HUNKS)} further parts: show all`));
    inline.setAttribute("aria-pressed", !isSide);
    side.setAttribute("aria-pressed", isSide);
    whole.setAttribute("aria-pressed", isWhole);
  }
  draw();
  whole.hidden = !needsWhole;
  const legend = all.every((part) => part.isEqual)
    ? make("p", { class: "legend" }, "No word differs; case and punctuation do not count.")
    : make("p", { class: "legend" }, make("del", {}, "only in"), " ", named(pair.first), make("span", { class: "apart" }), make("ins", {}, "only in"), " ", named(pair.second));
  return [make("div", { class: "tools" }, legend, inline, side, whole), body];
}

/* Why a pair was found */

const chance = (similarity) => 1 - (1 - similarity ** facts.curve[1]) ** facts.curve[0];
const percent = (share) => (share > 0.9999 ? "over 99.99 %" : `${(100 * share).toFixed(share > 0.99 ? 2 : 1)} %`);
const track = (from, to) => {
  const filled = make("i");
  filled.style.left = `${100 * from}%`;
  filled.style.width = `${100 * Math.max(to - from, 0.04)}%`;
  return make("span", { class: "track", "aria-hidden": "true" }, filled);
};

function why(pair) {
  const bands = facts.curve ? facts.curve[0] : 0;
  const entry = (label, value, detail, ...more) => make("div", {}, make("dt", {}, label), make("dd", {}, value, " ", make("small", {}, detail), ...more));
  const entries = [
    pair.shared
      ? entry("Shared bands", number(pair.shared), bands ? `of ${number(bands)}` : "", ...(bands ? [track(0, pair.shared / bands)] : []))
      : entry("Shared bands", "–", "not counted"),
    pair.distance === null
      ? entry("Distance", "–", "this measure has none")
      : entry("Distance", number(pair.distance), pair.distance === 1 ? "word" : "words"),
    entry("Similarity", decimal(pair.similarity), `by ${facts.measure}`),
  ];
  if (facts.curve) entries.push(entry("Chance of being found", percent(chance(pair.similarity)), "at that similarity"));
  return [make("dl", { class: "why" }, ...entries), make("p", { class: "why-note" }, reason(pair))];
}

const IS_JACCARD = ["estimate", "jaccard"].includes(facts.measure);

function reason(pair) {
  if (!facts.curve) return "Documents that share a band are compared.";
  const [bands, rows] = facts.curve;
  const rule = `Documents that share one of ${number(bands)} bands of ${counted(rows, "row")} are compared.`;
  if (IS_JACCARD || !pair.shared) return rule;
  const alike = ((pair.shared / bands) ** (1 / rows)).toFixed(2);
  return `${rule} Bands see the Jaccard similarity of shingles, for which the chance stands; judged by the shared bands it is about ${alike} here.`;
}

function compared(pair) {
  const steps = diffs()[pair.row];
  const shown = steps === null ? [make("p", { class: "nothing" }, "The texts were not read, so there is no diff.")] : diffView(pair, steps);
  return make("div", { class: "compared" }, ...why(pair), ...shown);
}

/* Clusters */

const COLUMNS = [
  { label: "Cluster", of: (cluster) => cluster.id, type: "", title: "The first id of the cluster" },
  { label: "Documents", of: (cluster) => cluster.members.length, type: "number", title: "Documents in the cluster" },
  { label: "Pairs", of: (cluster) => cluster.count, type: "number", title: "Verified pairs" },
  { label: "Similarity", of: (cluster) => cluster.low, type: "number", title: "Of the least and of the most similar pair" },
  { label: "Diameter", of: (cluster) => cluster.diameter, type: "number", title: "Most pairs between two documents on the shortest path; 1: any two are a pair" },
  { label: "Bridges", of: (cluster) => cluster.bridges.size, type: "number", title: "Documents without which the cluster falls apart" },
  { label: "Canonical", of: (cluster) => cluster.canonical, type: "", title: "The document to keep" },
];
const order = { column: COLUMNS[1], descending: true };
const details = new Map(); // of open clusters
let shown = []; // clusters that match
let matched = { query: "", least: 0 }; // what they match

function pairItem(pair, _, siblings) {
  const opener = button("", () => {}, "opener");
  opener.append(make("span", {}, named(pair.first), " ↔ ", named(pair.second)));
  const said = [decimal(pair.similarity)];
  if (pair.distance !== null) said.push(counted(pair.distance, "word"));
  if (pair.shared) said.push(counted(pair.shared, "band"));
  const item = make("li", {}, make("div", { class: "pair" }, opener, make("span", { class: "figure" }, said.join(" · "))));
  const toggle = (isOpen) => (isOpen ? item.append(compared(pair)) : item.lastChild.remove());
  opens(opener, siblings.length === 1, toggle);
  if (siblings.length === 1) toggle(true);
  return item;
}

function memberItem(cluster, place) {
  const row = cluster.members[place];
  const name = make("span", {}, named(row));
  if (row === cluster.canonical) name.append(make("span", { class: "tag" }, "canonical"));
  if (cluster.bridges.has(row)) name.append(make("span", { class: "tag bridge" }, "bridge"));
  const distance = cluster.distances[place];
  const far = [decimal(cluster.similarities[place])];
  if (distance !== null) far.push(counted(distance, "word"));
  const figure = row === cluster.canonical ? "to keep" : far.join(" · ");
  return make("li", {}, name, preview(row), make("span", { class: "figure" }, figure));
}

function detail(cluster) {
  const near = cluster.pairs.filter((pair) => pair.similarity >= matched.least);
  const places = cluster.members.map((_, place) => place);
  const title = near.length < cluster.pairs.length ? `${counted(near.length, "pair")} of ${number(cluster.pairs.length)}, by the filter` : counted(near.length, "pair");
  const cell = make("td", { colspan: COLUMNS.length },
    make("section", {}, make("h3", {}, `${counted(places.length, "document")}, compared with the canonical one`), ...paged("members", places, (place) => memberItem(cluster, place))),
    make("section", {}, make("h3", {}, title), ...paged("pairs", near, pairItem)),
  );
  return make("tr", { class: "detail" }, cell);
}

function similarityRange(cluster) {
  if (!cluster.pairs.length) return "–";
  const [low, high] = [decimal(cluster.low), decimal(cluster.high)];
  return make("span", { class: "range" }, track(cluster.low, cluster.high), low === high ? low : `${low} – ${high}`);
}

const cell = (label, ...children) => make("td", { "data-label": label, class: "number" }, ...children);
const orDash = (value, dash = "–") => (value ? number(value) : make("span", { class: "nothing" }, dash));

// The canonical text, or the text that was looked for.
function shortly(cluster) {
  const { query } = matched;
  const row = query ? [cluster.canonical, ...cluster.members].find((member) => says(member, query)) : cluster.canonical;
  return preview(row, query, row === cluster.canonical ? [] : ["in ", named(row), ": "]);
}

function rowsOf(cluster) {
  const opener = button("", () => {}, "opener");
  opener.append(named(cluster.id, "id is-clipped"));
  const row = make("tr", { class: "row" },
    make("th", { scope: "row" }, opener),
    cell("Documents", number(cluster.members.length)),
    cell("Pairs", number(cluster.count)),
    cell("Similarity", similarityRange(cluster)),
    cell("Diameter", orDash(cluster.diameter)),
    cell("Bridges", orDash(cluster.bridges.size)),
    make("td", { class: "canonical", "data-label": "Canonical" }, named(cluster.canonical, "id is-clipped"), shortly(cluster)),
  );
  opens(opener, details.has(cluster), (isOpen) => {
    row.classList.toggle("is-open", isOpen);
    if (isOpen) details.set(cluster, detail(cluster));
    if (isOpen) row.after(details.get(cluster));
    else details.get(cluster).remove();
    if (!isOpen) details.delete(cluster);
  });
  row.classList.toggle("is-open", details.has(cluster));
  row.addEventListener("click", (event) => {
    if (!event.target.closest("button") && getSelection().isCollapsed) opener.click();
  });
  return details.has(cluster) ? [row, details.get(cluster)] : [row];
}

const fold = (text) => text.normalize("NFKC").toLowerCase();
const folded = []; // id and text of a document, once they have been searched

function says(row, query) {
  folded[row] ??= fold(`${ids[row]} ${plainText(row)}`);
  return folded[row].includes(query);
}

function passes(cluster, { query, least, size }) {
  return cluster.members.length >= size
    && (least <= 0 || cluster.high >= least)
    && (!query || cluster.members.some((row) => says(row, query)));
}

let turn = 0;
const pause = () => new Promise((resume) => { setTimeout(resume); });

// A little at a time, so that typing on is never waited for.
async function refilter(wanted) {
  const mine = ++turn;
  const passed = [];
  let until = performance.now() + SLICE;
  for (const cluster of clusters) {
    if (passes(cluster, wanted)) passed.push(cluster);
    if (performance.now() < until) continue;
    await pause();
    if (mine !== turn) return;
    until = performance.now() + SLICE;
  }
  if (wanted.least !== matched.least) details.clear(); // they list pairs by it
  [shown, matched] = [passed, wanted];
  show();
}

const startList = pager(find("pager"), (from, to) => find("list").replaceChildren(...shown.slice(from, to).flatMap(rowsOf)));

function show() {
  const { column, descending } = order;
  shown.sort((a, b) => (descending ? column.of(b) - column.of(a) : column.of(a) - column.of(b)));
  for (const [at, header] of [...find("headers").children].entries()) {
    if (COLUMNS[at] === column) header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else header.removeAttribute("aria-sort");
  }
  const all = clusters.length ? counted(clusters.length, "cluster") : "No near-duplicates were found.";
  find("count").textContent = shown.length < clusters.length ? `${number(shown.length)} of ${all}` : all;
  find("empty").hidden = shown.length > 0 || clusters.length === 0;
  startList(shown.length);
}

/* The head of the page, its controls, and the keyboard */

function sortBy(column) {
  order.descending = column === order.column ? !order.descending : column.type === "number";
  order.column = column;
  show();
}

function readFilters() {
  const value = (id) => find(id).valueAsNumber || 0;
  refilter({ query: fold(find("query").value.trim()), least: value("least"), size: value("size") });
}

function clearFilters() {
  find("filters").reset();
  readFilters();
  find("query").focus();
}

const THEMES = ["auto", "light", "dark"];

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  find("theme").textContent = `Theme: ${theme}`;
  find("theme").value = theme;
}

const MOVES = {
  ArrowDown: (all, at) => all[at + 1]?.focus(),
  ArrowUp: (all, at) => (at > 0 ? all[at - 1].focus() : find("query").focus()),
  ArrowRight: (all, at) => (all[at].ariaExpanded === "true" ? all[at + 1]?.focus() : all[at].click()),
  ArrowLeft: (all, at) => (all[at].ariaExpanded === "true" ? all[at].click() : outer(all[at])?.focus()),
  Home: (all) => all[0].focus(),
  End: (all) => all.at(-1).focus(),
};
const outer = (opener) => opener.closest(".detail")?.previousElementSibling.querySelector(".opener");

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const all = [...find("list").querySelectorAll(".opener")];
  const at = all.indexOf(document.activeElement);
  const isTyping = document.activeElement instanceof HTMLInputElement;
  if (event.key === "/" && !isTyping) find("query").focus();
  else if (event.key === "Escape" && find("filters").contains(document.activeElement)) clearFilters();
  else if (event.key === "ArrowDown" && document.activeElement === find("query")) all[0]?.focus();
  else if (at >= 0 && MOVES[event.key]) MOVES[event.key](all, at);
  else return;
  event.preventDefault();
}

function caption() {
  if (!facts.curve) return "Verified pairs.";
  const [bands, rows] = facts.curve;
  const line = `Bars: verified pairs. Line: the chance that two documents share one of ${number(bands)} bands of ${counted(rows, "row")}`;
  return IS_JACCARD ? `${line}, and so are found.` : `${line}, by the Jaccard similarity of their shingles.`;
}

function start() {
  find("title").append(...plain(facts.title));
  document.title = find("title").textContent;
  find("summary").append(...factsList(facts.summary));
  find("parameters").append(...factsList(facts.parameters));
  find("how").hidden = facts.parameters.length === 0;
  find("curve").textContent = caption();
  if (!facts.complete) find("notes").append(make("p", { class: "note warning" }, "This report may be incomplete:"));
  find("notes").append(...facts.notes.map((note) => make("p", { class: "note" }, ...plain(note))));
  find("headers").append(...COLUMNS.map((column) => make("th", { scope: "col", class: column.type, title: column.title }, button(column.label, () => sortBy(column), ""))));
  find("filters").addEventListener("input", readFilters);
  find("filters").addEventListener("submit", (event) => event.preventDefault());
  find("clear").addEventListener("click", clearFilters);
  find("theme").addEventListener("click", () => setTheme(THEMES[(THEMES.indexOf(find("theme").value || "auto") + 1) % 3]));
  document.addEventListener("keydown", onKey);
  shown = [...clusters];
  show();
}

start();
