
// The report, by means of words.js, which comes before. What is not in view is not in the document.

const ROWS = 50; // of clusters that are drawn together
const FIRST = 10; // documents or pairs of a cluster that is opened
const MORE = 50; // then at a time
const TALL = 64; // pixels of a row that was not drawn yet, about
const CLIP = 240; // characters of a preview
const LEAD = 24; // characters before what was looked for
const SLICE = 12; // milliseconds of filtering between two looks at the keyboard

const read = (id) => JSON.parse(find(id).textContent);
const later = (id) => {
  let value;
  return () => (value ??= read(id));
};

// Texts, kept columns and pairs come in parts of some rows, each read when one of them is needed.
function parted(name) {
  const parts = [...document.querySelectorAll(`script[data-of=${name}]`)].map((part) => ({ from: Number(part.dataset.from), values: later(part.id) }));
  return (row) => {
    let [low, high] = [0, parts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (parts[middle].from <= row) low = middle;
      else high = middle - 1;
    }
    return parts[low]?.values()[row - parts[low].from];
  };
}

const [textOf, keptOf, pairsOf] = ["texts", "kept", "pairs"].map(parted);
const [facts] = read("facts");
const ids = read("ids");
const clusters = read("clusters").map(
  ([id, canonical, size, count, diameter, bridgeCount, low, high, bridges, members, similarities, distances], place) => ({
    place, id, canonical, size, count, diameter, bridgeCount, low, high, bridges, members, similarities, distances,
  }),
);
const pairOf = ([first, second, similarity, distance, shared, steps, stands = [], answer = ""]) => ({ first, second, similarity, distance, shared, steps, stands, answer });

const plainText = (row) => unpacked(textOf(row) ?? "");
const named = (row, type = "id") => make("bdi", { class: type }, ...visible(ids[row], IN_IDS));
const linked = (row, type = "id") => make("button", { type: "button", class: "open", title: "Show the whole document", click: () => showDocument(row) }, named(row, type));

function preview(row, query = "", lead = []) {
  if (textOf(row) === null) return make("span", { class: "preview" }, "text not in this page");
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

/* One document */

function showDocument(row) {
  const kept = facts.kept.length ? keptOf(row) : [];
  const values = facts.kept.map((name, at) => [name, kept[at] ?? null]).filter(([, value]) => value !== null);
  const text = textOf(row);
  const body = text === null
    ? make("p", { class: "nothing" }, "The text of this document is not in this page.")
    : make("div", { class: "whole" }, ...withLines(text).split("\n").map((line) => make("p", { dir: "auto" }, ...visible(line, IN_TEXTS))));
  const columns = values.length ? [make("dl", { class: "kept" }, ...factsList(values))] : [];
  find("document-id").replaceChildren(named(row));
  find("document-body").replaceChildren(...columns, body);
  find("document").showModal();
  find("document-body").scrollTop = 0;
}

/* Lists that grow */

// The first items, and a button for more.
function growing(type, items, draw) {
  const list = make("ul", { class: type });
  let drawn = 0;
  const more = button("", () => {
    grow(MORE);
    list.children[drawn - 1].scrollIntoView({ block: "nearest" });
  });
  function grow(count) {
    const added = items.slice(drawn, drawn + count).map(draw);
    list.append(...added);
    drawn += added.length;
    const left = items.length - drawn;
    more.textContent = `Show ${number(Math.min(MORE, left))} more of ${number(left)}`;
    more.hidden = left === 0;
  }
  grow(FIRST);
  return [list, more];
}

// The list of clusters: blocks of rows that are drawn when they come near the window, and given up
// when they are far from it, so that however long it is, few rows are in the document.
const blocks = new Map(); // by element, what it shows
const nearness = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (isIntersecting) fill(target);
    else if (!target.contains(document.activeElement)) empty(target);
  }
}, { rootMargin: "1200px" });

function fill(block) {
  const part = blocks.get(block);
  if (!part || part.isDrawn) return;
  part.isDrawn = true;
  block.replaceChildren(...shown.slice(part.from, part.from + ROWS).flatMap(rowsOf));
}

function empty(block) {
  const part = blocks.get(block);
  if (!part?.isDrawn) return;
  const space = spacer(block.offsetHeight);
  part.isDrawn = false;
  block.replaceChildren(space);
}

function spacer(height) {
  const space = make("tr", { class: "space", "aria-hidden": "true" }, make("td", { colspan: COLUMNS.length }));
  space.firstChild.style.height = `${height}px`;
  return space;
}

function startList() {
  nearness.disconnect();
  blocks.clear();
  for (let from = 0; from < shown.length; from += ROWS) {
    const rows = Math.min(ROWS, shown.length - from);
    blocks.set(make("tbody", {}, spacer(rows * TALL)), { from, isDrawn: false });
  }
  const [first] = blocks.keys();
  if (first) fill(first);
  find("list").replaceChildren(...[...find("list").children].filter((part) => part.tagName !== "TBODY"), ...blocks.keys());
  for (const block of blocks.keys()) nearness.observe(block);
}

/* Why a pair was found */

const chance = (similarity) => 1 - (1 - similarity ** facts.curve[1]) ** facts.curve[0];
const percent = (share) => (share > 0.9999 ? "over 99.99 %" : `${(100 * share).toFixed(share > 0.99 ? 2 : 1)} %`);
function why(pair) {
  const entry = (label, value, detail, ...more) => make("div", {}, make("dt", {}, label), make("dd", {}, value, " ", make("small", {}, detail), ...more));
  const entries = [entry(facts.likeness, decimal(pair.similarity), `by ${facts.measure}`)];
  if (pair.distance !== null) entries.push(entry("Distance", number(pair.distance), pair.distance === 1 ? "word" : "words"));
  if (facts.curve) {
    const bands = facts.curve[0];
    entries.push(
      pair.shared ? entry("Shared bands", number(pair.shared), `of ${number(bands)}`, track(0, pair.shared / bands)) : entry("Shared bands", "–", "not counted"),
      entry("Chance of being found", percent(chance(pair.similarity)), "at that similarity"),
    );
  }
  return [make("dl", { class: "why" }, ...entries), make("p", { class: "why-note" }, reason(pair))];
}

const COMPARED = { all: "All pairs of documents", bands: "Documents that share a band", shingles: "Documents that share some of their shingles", words: "Documents that share a rare word, or two common ones in a row," };
const IS_JACCARD = ["estimate", "jaccard"].includes(facts.measure);

function reason(pair) {
  if (!facts.curve) return `${COMPARED[facts.by]} are compared.`;
  const [bands, rows] = facts.curve;
  const rule = `Documents that share one of ${number(bands)} bands of ${counted(rows, "row")} are compared.`;
  if (IS_JACCARD || !pair.shared) return rule;
  const alike = ((pair.shared / bands) ** (1 / rows)).toFixed(2);
  return `${rule} Bands see the Jaccard similarity of shingles, for which the chance stands; judged by the shared bands it is about ${alike} here.`;
}

const sideOf = (row) => ({ words: textOf(row) ? textOf(row).split(" ") : [], name: named(row), head: linked(row) });

function compared(pair) {
  const shown = pair.steps === null ? [make("p", { class: "nothing" }, "The texts are not in this page, so there is no diff.")] : diffView([sideOf(pair.first), sideOf(pair.second)], pair.steps, pair.stands);
  return make("div", { class: "compared" }, ...why(pair), ...shown);
}

/* Clusters */

const COLUMNS = [
  { label: "Cluster", of: (cluster) => cluster.id, type: "", title: "The first id of the cluster" },
  { label: "Documents", of: (cluster) => cluster.size, type: "number", title: "Documents in the cluster" },
  { label: "Pairs", of: (cluster) => cluster.count, type: "number", title: "Verified pairs" },
  { label: facts.likeness, of: (cluster) => cluster.low, type: "number", title: "Of the least and of the most similar pair" },
  { label: "Diameter", of: (cluster) => cluster.diameter, type: "number", title: "Most pairs between two documents on the shortest path; 1: any two are a pair" },
  { label: "Bridges", of: (cluster) => cluster.bridgeCount, type: "number", title: "Documents without which the cluster falls apart" },
  { label: "Canonical", of: (cluster) => cluster.canonical, type: "", title: "The document to keep" },
];
const order = { column: COLUMNS[1], descending: true };
const details = new Map(); // of open clusters
let shown = []; // clusters that match
let matched = { query: "", least: 0 }; // what they match
find("least").previousElementSibling.textContent = `${facts.likeness} from`;

function pairItem(pair, siblings) {
  const opener = button("", () => {}, "opener");
  opener.append(make("span", {}, named(pair.first), " ↔ ", named(pair.second)));
  const said = [decimal(pair.similarity)];
  if (pair.distance !== null) said.push(counted(pair.distance, "word"));
  if (facts.curve && pair.shared) said.push(counted(pair.shared, "band"));
  if (pair.answer) said.push(`judged ${pair.answer}`);
  const item = make("li", {}, make("div", { class: "pair" }, opener, make("span", { class: "figure" }, said.join(" · "))));
  const toggle = (isOpen) => (isOpen ? item.append(compared(pair)) : item.lastChild.remove());
  opens(opener, siblings === 1, toggle);
  if (siblings === 1) toggle(true);
  return item;
}

function memberItem(cluster, place) {
  const row = cluster.members[place];
  const name = make("span", {}, linked(row));
  if (row === cluster.canonical) name.append(make("span", { class: "tag" }, "canonical"));
  if (cluster.bridges.includes(row)) name.append(make("span", { class: "tag bridge" }, "bridge"));
  const distance = cluster.distances[place];
  const far = [decimal(cluster.similarities[place])];
  if (distance !== null) far.push(counted(distance, "word"));
  const figure = row === cluster.canonical ? "to keep" : far.join(" · ");
  return make("li", {}, name, preview(row), make("span", { class: "figure" }, figure));
}

const some = (count, all, one) => (count < all ? `${number(count)} of ${counted(all, one)}` : counted(all, one));

function detail(cluster) {
  const pairs = pairsOf(cluster.place).map(pairOf);
  const near = pairs.filter((pair) => pair.similarity >= matched.least);
  const places = cluster.members.map((_, place) => place);
  const choice = pairs.length < cluster.count ? `${some(pairs.length, cluster.count, "pair")} of this cluster are in this page: the least similar, then those of bridges, and examples` : counted(pairs.length, "pair");
  const title = near.length < pairs.length ? `${counted(near.length, "pair")} of ${number(cluster.count)}, by the filter` : choice;
  const cell = make("td", { colspan: COLUMNS.length },
    make("section", {}, make("h3", {}, `${some(places.length, cluster.size, "document")}, compared with the canonical one`), ...growing("members", places, (place) => memberItem(cluster, place))),
    make("section", {}, make("h3", {}, title), ...growing("pairs", near, (pair) => pairItem(pair, near.length))),
  );
  return make("tr", { class: "detail" }, cell);
}

function similarityRange(cluster) {
  if (!cluster.high) return "–";
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
    cell("Documents", number(cluster.size)),
    cell("Pairs", number(cluster.count)),
    cell(facts.likeness, similarityRange(cluster)),
    cell("Diameter", orDash(cluster.diameter)),
    cell("Bridges", orDash(cluster.bridgeCount)),
    make("td", { class: "canonical", "data-label": "Canonical" }, linked(cluster.canonical, "id is-clipped"), shortly(cluster)),
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

const folded = []; // id and text of a document, once they have been searched

function says(row, query) {
  folded[row] ??= fold([ids[row], plainText(row), ...(facts.kept.length ? keptOf(row) : [])].join(" "));
  return folded[row].includes(query);
}

function passes(cluster, { query, least, size }) {
  return cluster.size >= size
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

function show() {
  const { column, descending } = order;
  shown.sort((a, b) => (descending ? column.of(b) - column.of(a) : column.of(a) - column.of(b)));
  for (const [at, header] of [...find("headers").children].entries()) {
    if (COLUMNS[at] === column) header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else header.removeAttribute("aria-sort");
  }
  const all = facts.clusters ? some(clusters.length, facts.clusters, "cluster") : "No near-duplicates were found.";
  find("count").textContent = shown.length < clusters.length ? `${number(shown.length)} of ${all}` : all;
  find("empty").hidden = shown.length > 0 || clusters.length === 0;
  startList();
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

const MOVES = {
  ArrowDown: (all, at) => all[at + 1]?.focus(),
  ArrowUp: (all, at) => (at > 0 ? all[at - 1].focus() : find("query").focus()),
  ArrowRight: (all, at) => (all[at].ariaExpanded === "true" ? all[at + 1]?.focus() : all[at].click()),
  ArrowLeft: (all, at) => (all[at].ariaExpanded === "true" ? all[at].click() : outer(all[at])?.focus()),
  Home: () => {
    const [first] = blocks.keys();
    fill(first);
    first.querySelector(".opener").focus();
  },
  End: () => {
    const last = [...blocks.keys()].at(-1);
    fill(last);
    [...last.querySelectorAll(".opener")].at(-1).focus();
  },
};
const outer = (opener) => opener.closest(".detail")?.previousElementSibling.querySelector(".opener");

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || find("document").open) return;
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
  if (!facts.curve) return `Bars: verified pairs. ${COMPARED[facts.by]} were compared.`;
  const [bands, rows] = facts.curve;
  const line = `Bars: verified pairs. Line: the chance that two documents share one of ${number(bands)} bands of ${counted(rows, "row")}`;
  return IS_JACCARD ? `${line}, and so are found.` : `${line}, by the Jaccard similarity of their shingles.`;
}

// What one should know first, in one box.
function notice() {
  if (!facts.notes.length) return [];
  const lead = facts.complete ? [] : ["This report may be incomplete. "];
  const said = facts.notes.length === 1 ? [make("p", {}, ...lead, ...plain(facts.notes[0]))]
    : [make("p", {}, ...lead), make("ul", {}, ...facts.notes.map((note) => make("li", {}, ...plain(note))))];
  return [make("div", { class: facts.complete ? "note" : "note warning" }, ...said)];
}

function start() {
  find("title").append(...plain(facts.title));
  document.title = find("title").textContent;
  find("summary").append(...factsList(facts.summary));
  find("parameters").append(...factsList(facts.parameters));
  find("how").hidden = facts.parameters.length === 0;
  find("curve").textContent = caption();
  find("threshold").textContent = facts.threshold;
  find("threshold").hidden = !facts.threshold;
  find("notes").append(...notice());
  find("left").textContent = facts.left;
  find("left").hidden = !facts.left;
  find("made").append(...plain(facts.made ? `Made by ${facts.made}.` : "Made by neardup_solr."));
  find("command").append(...plain(facts.command));
  find("command").hidden = !facts.command;
  find("close").addEventListener("click", () => find("document").close());
  find("document").addEventListener("click", (event) => event.target === find("document") && find("document").close());
  find("headers").append(...COLUMNS.map((column) => make("th", { scope: "col", class: column.type, title: column.title }, button(column.label, () => sortBy(column), ""))));
  find("filters").addEventListener("input", readFilters);
  find("filters").addEventListener("submit", (event) => event.preventDefault());
  find("clear").addEventListener("click", clearFilters);
  find("theme").addEventListener("click", turnTheme);
  document.addEventListener("keydown", onKey);
  shown = [...clusters];
  show();
}

start();
