
// The report, by means of words.js, which comes before. All clusters are in the document, so that
// they are printed, saved, found and read out; the browser lays out those that are in view.

const ROWS = 50; // of clusters that are laid out together
const MOST = 20000; // clusters that are in the document, before more are asked for
const PRINTED = 2000; // as browsers take four times as long for twice as many pages; so does the style
const FIRST = 10; // documents or pairs of a cluster that is opened
const MORE = 50; // then at a time
const CLIP = 240; // characters of a preview
const LEAD = 24; // characters before what was looked for
const SLICE = 12; // milliseconds of filtering between two looks at the keyboard

const read = (id) => JSON.parse(find(id).textContent);
const later = (id) => {
  let value;
  return () => (value ??= read(id));
};

const [texts, kept, pairs] = ["texts", "kept", "pairs"].map(later); // read when they are needed
const textOf = (row) => texts()[row];
const keptOf = (row) => kept()[row];
const pairsOf = (cluster) => pairs()[cluster];
const [facts] = read("facts");
const ids = read("ids");
const clusters = read("clusters").map(
  ([id, canonical, size, count, diameter, bridgeCount, low, high, bridges, members, similarities, distances], place) => ({
    place, id, canonical, size, count, diameter, bridgeCount, low, high, bridges, members, similarities, distances,
  }),
);
const pairOf = ([first, second, similarity, distance, shared, steps, same = [], answer = "", fields = [], relation = "", passages = []]) => ({ first, second, similarity, distance, shared, steps, same, answer, fields, relation, passages });

// What a document says: its text, or the columns of its record that have a value.
const recordOf = (row) => (facts.kept.length && keptOf(row) ? facts.kept.map((name, at) => [name, keptOf(row)[at]]).filter(([, value]) => value) : []);
const isRecord = (row) => textOf(row) === null && recordOf(row).length > 0;
const plainText = (row) => (isRecord(row) ? recordOf(row).map(([, value]) => unpacked(value)).join(" ") : unpacked(textOf(row) ?? ""));
const isCompared = new Set(facts.compared);
const named = (row, type = "id") => make("bdi", { class: type }, ...visible(ids[row], IN_IDS));
const linked = (row, type = "id") => make("button", { type: "button", class: "open", title: "Show the whole document", click: () => showDocument(row) }, named(row, type));

// The beginning of a text, or what surrounds the query in it.
function excerpt(whole, query, most = CLIP) {
  const at = query ? whole.toLowerCase().indexOf(query) : -1;
  if (at < 0) return visible(whole.length > most ? `${whole.slice(0, most)} …` : whole, IN_TEXTS);
  const from = at < LEAD ? 0 : whole.lastIndexOf(" ", at - LEAD) + 1;
  const rest = at + query.length;
  return [
    ...visible(`${from ? "… " : ""}${whole.slice(Math.max(from, at - 2 * LEAD), at)}`, IN_TEXTS),
    make("mark", {}, ...visible(whole.slice(at, rest), IN_TEXTS)),
    ...visible(`${whole.slice(rest, rest + most)}${whole.length > rest + most ? " …" : ""}`, IN_TEXTS),
  ];
}

function preview(row, query = "", lead = []) {
  const columns = recordOf(row).filter(([name]) => !isCompared.size || isCompared.has(name));
  if (columns.length && (isCompared.size || isRecord(row))) {
    const shown = columns.map(([name, value]) => make("span", {}, make("b", {}, ...plain(name)), " ", make("bdi", {}, ...excerpt(unpacked(value), query))));
    return make("span", { class: "record" }, ...lead, ...shown);
  }
  if (textOf(row) === null) return make("span", { class: "preview" }, "text not in this page");
  const whole = query ? plainText(row) : unpacked(textOf(row).slice(0, 2 * CLIP));
  return make("span", { class: "preview" }, ...lead, make("bdi", {}, ...excerpt(whole, query)));
}

function factsList(entries) {
  return entries.map(([label, value]) => make("div", {}, make("dt", {}, ...plain(label)), make("dd", {}, ...plain(value))));
}

/* One document */

function showDocument(row) {
  const values = recordOf(row);
  const text = textOf(row);
  const lines = (packed) => withLines(packed).split("\n").map((line) => make("p", { dir: "auto" }, ...visible(line, IN_TEXTS)));
  const entry = ([name, value]) => make("div", {}, make("dt", {}, ...plain(name)), make("dd", {}, ...lines(value)));
  const columns = values.length ? [make("dl", { class: "kept" }, ...values.map(entry))] : [];
  const body = text === null
    ? values.length ? [] : [make("p", { class: "nothing" }, "The text of this document is not in this page.")]
    : [make("div", { class: "whole" }, ...lines(text))];
  find("document-id").replaceChildren(named(row));
  find("document-body").replaceChildren(...columns, ...body);
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
  }, "quiet more");
  function grow(count) {
    const added = items.slice(drawn, drawn + count).map(draw);
    list.append(...added);
    drawn += added.length;
    const left = items.length - drawn;
    more.textContent = `Show ${number(Math.min(MORE, left))} more of ${number(left)}`;
    more.dataset.left = number(left);
    more.hidden = left === 0;
  }
  grow(FIRST);
  return [list, more];
}

// The list of clusters, in blocks that the browser lays out when they come near the window.
const drawnRows = new Map(); // by cluster, and what was looked for in it
let most = MOST;

function rowsFor(cluster) {
  const drawn = drawnRows.get(cluster);
  if (drawn?.query === matched.query) return details.has(cluster) ? [drawn.row, details.get(cluster)] : [drawn.row];
  const rows = rowsOf(cluster);
  drawnRows.set(cluster, { query: matched.query, row: rows[0] });
  return rows;
}

function startList() {
  const listed = shown.slice(0, most);
  const blocks = [];
  for (let from = 0; from < listed.length; from += ROWS) {
    blocks.push(make("tbody", {}, ...listed.slice(from, from + ROWS).flatMap(rowsFor)));
  }
  find("list").replaceChildren(...[...find("list").children].filter((part) => part.tagName !== "TBODY"), ...blocks);
  const unprinted = shown.length - PRINTED;
  find("unprinted").textContent = unprinted > 0 ? `Only the first ${number(PRINTED)} of these ${number(shown.length)} groups are printed: to print others, use the filters.` : "";
  const left = shown.length - listed.length;
  find("rest").hidden = left === 0;
  find("rest").replaceChildren(`${counted(left, "more group")} not shown yet; the filters search them, too. `, button(`Show ${number(Math.min(MOST, left))} more`, () => { most += MOST; startList(); }));
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
      entry("Chance of being found", percent(chance(pair.similarity)), "at this similarity"),
    );
  }
  return [make("dl", { class: "why" }, ...entries), make("p", { class: "why-note" }, reason(pair))];
}

const COMPARED = { all: "All pairs of documents", bands: "Documents that share a band", shingles: "Documents that share some of their shingles", words: "Documents that share a rare word, or a combination of common words," };
const IS_JACCARD = ["estimate", "jaccard"].includes(facts.measure);

function reason(pair) {
  if (!facts.curve) return `${COMPARED[facts.by]} are compared.`;
  const [bands, rows] = facts.curve;
  const rule = `Documents that share one of ${number(bands)} bands of ${counted(rows, "row")} are compared.`;
  if (IS_JACCARD || !pair.shared) return rule;
  const alike = ((pair.shared / bands) ** (1 / rows)).toFixed(2);
  return `${rule} The chance depends on the Jaccard similarity of shingles, here about ${alike}, estimated from the shared bands.`;
}

const sideOf = (row) => ({ words: textOf(row) ? textOf(row).split(" ") : [], name: named(row), head: linked(row) });

// The rows of a pair's table, with the values of its fields.
const rowsOfPair = (pair) => pair.fields.map(([field, ...more]) => (typeof field === "number"
  ? [[pair.first, pair.second].map((row) => keptOf(row)[field] ?? ""), facts.kept[field], ...more]
  : [null, field, ...more]));

function compared(pair) {
  const shown = pair.fields.length ? [fieldTable([pair.first, pair.second].map((row) => named(row)), rowsOfPair(pair), { measure: isCompared.size ? facts.measure : "" })] : [];
  const sides = [sideOf(pair.first), sideOf(pair.second)];
  if (pair.passages.length) shown.push(...passagesView(sides, pair.passages));
  else if (pair.steps && !(isCompared.size && shown.length)) shown.push(...diffView(sides, pair.steps, pair.same));
  if (!shown.length) shown.push(make("p", { class: "nothing" }, "The texts are not in this page, so there is no diff."));
  return make("div", { class: "compared" }, ...shown, ...expertFold(rowsOfPair(pair), why(pair)));
}

/* Clusters */

const COLUMNS = [
  { label: "Group", of: (cluster) => cluster.id, type: "", title: "The first id of the group" },
  { label: "Documents", of: (cluster) => cluster.size, type: "number", title: "Documents in the group" },
  { label: "Pairs", of: (cluster) => cluster.count, type: "number", title: "Pairs of documents that are near enough" },
  { label: facts.likeness, of: (cluster) => cluster.low, type: "number", title: "Of the least and the most similar pair" },
  { label: "Linked", of: (cluster) => cluster.diameter, type: "number", title: "Each to each: every two documents are a pair. In a chain, only neighbors are: look closer from 3 on" },
  { label: "To keep", of: (cluster) => cluster.canonical, type: "", title: "The document to keep" },
];
const order = { column: COLUMNS[1], descending: true };
const details = new Map(); // of open clusters
let shown = []; // clusters that match
let matched = { query: "", least: 0 }; // what they match
find("likeness").textContent = `${facts.likeness} of the pairs`;
find("least").previousElementSibling.textContent = `${facts.likeness} from`;

const RELATIONS = { copy: "copies", edited: "edited", "part of": "the first is part of the second", contains: "the first contains the second", shares: "share passages" };

function pairItem(pair, siblings) {
  const opener = button("", () => {}, "opener");
  opener.append(make("span", {}, named(pair.first), " ↔ ", named(pair.second)));
  const said = [decimal(pair.similarity)];
  if (pair.distance !== null) said.push(counted(pair.distance, "word"));
  if (facts.curve && pair.shared) said.push(counted(pair.shared, "band"));
  if (pair.relation) said.push(RELATIONS[pair.relation]);
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
  if (row === cluster.canonical) name.append(make("span", { class: "tag" }, "to keep"));
  if (cluster.bridges.includes(row)) name.append(make("span", { class: "tag bridge" }, "links others"));
  const distance = cluster.distances[place];
  const far = [decimal(cluster.similarities[place])];
  if (distance !== null) far.push(counted(distance, "word"));
  const figure = row === cluster.canonical ? "" : far.join(" · ");
  return make("li", {}, name, preview(row), make("span", { class: "figure" }, figure));
}

const some = (count, all, one) => (count < all ? `${number(count)} of ${counted(all, one)}` : counted(all, one));

function detail(cluster) {
  const pairs = pairsOf(cluster.place).map(pairOf);
  const near = pairs.filter((pair) => pair.similarity >= matched.least);
  const places = cluster.members.map((_, place) => place);
  const choice = pairs.length < cluster.count ? `${some(pairs.length, cluster.count, "pair")} of this group are in this page: the least similar, then those of documents that link others, and examples` : counted(pairs.length, "pair");
  const title = near.length < pairs.length ? `${counted(near.length, "pair")} of ${number(cluster.count)}, selected by the filter` : choice;
  const cell = make("td", { colspan: COLUMNS.length },
    make("section", {}, make("h3", {}, `${some(places.length, cluster.size, "document")}, compared with the one to keep`), ...growing("members", places, (place) => memberItem(cluster, place))),
    make("section", {}, make("h3", {}, title), ...growing("pairs", near, (pair) => pairItem(pair, near.length))),
    ...expertFold([], [make("p", {}, `Diameter: ${cluster.diameter ? number(cluster.diameter) : "not computed"}. Bridges, whose removal splits the cluster: ${number(cluster.bridgeCount)}.`)], "Figures of the group, for experts"),
  );
  return make("tr", { class: "detail" }, cell);
}

function similarityRange(cluster) {
  if (!cluster.high) return "–";
  const [low, high] = [decimal(cluster.low), decimal(cluster.high)];
  return make("span", { class: "range" }, track(cluster.low, cluster.high), low === high ? low : `${low} – ${high}`);
}

const cell = (label, ...children) => make("td", { "data-label": label, class: "number" }, ...children);

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
    cell("Linked", cluster.diameter === 1 ? "each to each" : cluster.diameter ? `chain of ${number(cluster.diameter)}` : "–"),
    make("td", { class: "canonical", "data-label": "To keep" }, linked(cluster.canonical, "id is-clipped"), shortly(cluster)),
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
  folded[row] ??= fold([ids[row], plainText(row), ...(isRecord(row) ? [] : recordOf(row).map(([, value]) => unpacked(value)))].join(" "));
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
  if (wanted.least !== matched.least) { // by which they list pairs
    details.clear();
    drawnRows.clear();
  }
  const isNew = wanted.query && wanted.query !== matched.query;
  [shown, matched] = [passed, wanted];
  show();
  if (isNew) find("bar").scrollIntoView(); // with the hits below
}

function show() {
  const { column, descending } = order;
  shown.sort((a, b) => (descending ? column.of(b) - column.of(a) : column.of(a) - column.of(b)));
  for (const [at, header] of [...find("headers").children].entries()) {
    if (COLUMNS[at] === column) header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else header.removeAttribute("aria-sort");
  }
  const all = facts.clusters ? some(clusters.length, facts.clusters, "group") : "No near-duplicates were found.";
  find("count").textContent = shown.length < clusters.length ? `${number(shown.length)} of ${all}` : all;
  find("empty").hidden = shown.length > 0 || clusters.length === 0;
  find("list").querySelector(".is-hit")?.classList.remove("is-hit");
  hit = -1;
  startList();
}

/* Pictures: bars, with a line over them */

const [WIDTH, HEIGHT, TOP, BOTTOM] = [432, 216, 18, 181]; // of the bars; titles are above, the axis and its name below
const LETTER = 7; // its width in the largest font of pictures, about
const ROUND = [...Array(12).keys()].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));
const POWERS = ROUND.filter((each) => String(each).startsWith("1"));

function draw(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// An axis with the value `low` at `start`, and `high` at `end`.
function axis({ low, high, start, end, ticks, isLogarithmic = false }) {
  const scale = isLogarithmic ? Math.log : (value) => value;
  const place = (value) => start + ((scale(value) - scale(low)) / (scale(high) - scale(low))) * (end - start);
  return { start, end, ticks, isLogarithmic, place };
}

// Of bars, logarithmic if their heights differ much.
function upwards(counts) {
  const most = Math.max(1, ...counts);
  const least = Math.min(most, ...counts.filter((count) => count > 0));
  const high = Math.max(most, 4) * 1.05;
  const step = ROUND.find((each) => 5 * each >= high);
  return most >= 40 * least
    ? axis({ low: 0.7, high: most * 1.6, start: BOTTOM, end: TOP, ticks: (most < 200 ? ROUND : POWERS).filter((at) => at <= most), isLogarithmic: true })
    : axis({ low: 0, high, start: BOTTOM, end: TOP, ticks: [...Array(Math.floor(high / step) + 1).keys()].map((at) => at * step) });
}

const leftOf = (up) => 6 + LETTER * Math.max(...up.ticks.map((tick) => number(tick).length));
const label = (x, y, text, anchor = "middle", colour = "text") => draw("text", { x, y, dy: "0.35em", "text-anchor": anchor, class: `fill-${colour}` }, text);
const line = (across, y) => draw("path", { d: `M${across.start} ${y}H${across.end}`, class: "stroke-grid", "stroke-width": 0.8 });
const bar = (left, right, top, colour) => draw("rect", { x: left, y: top, width: right - left, height: BOTTOM - top, class: `fill-${colour}` });

function picture(name, across, up, below, above, ...parts) {
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": name, class: "plot" });
  for (const tick of up.ticks) svg.append(line(across, up.place(tick)), label(across.start - 4, up.place(tick), number(tick), "end"));
  svg.append(line(across, BOTTOM), ...across.ticks.map((tick) => label(across.place(tick), 191, number(tick))));
  svg.append(label((across.start + across.end) / 2, 206, below), label(across.start, 8, `${above}${up.isLogarithmic ? " (logarithmic)" : ""}`, "start"), ...parts);
  return svg;
}

// Bars between the edges, a little apart.
const bars = (counts, edges, across, up) => counts.flatMap((count, at) => {
  const [low, high] = [edges[at], edges[at + 1]];
  const gap = 0.06 * (high - low);
  return count ? [bar(across.place(low + gap), across.place(high - gap), up.place(count), "bars")] : [];
});

// Pairs by similarity, with the threshold, and the chance of a candidate over them.
function similaritiesPicture() {
  const counts = facts.bins;
  const [lower, least, higher, near] = facts.border ?? [];
  const below = near && lower < least ? Math.max(1, Math.round(near / (counts.length * (least - lower)))) : 0;
  const up = upwards([...counts, below]);
  const across = axis({ low: 0, high: 1, start: leftOf(up), end: WIDTH - (facts.curve ? 38 : 4), ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] });
  const parts = bars(counts, [...Array(counts.length + 1).keys()].map((at) => at / counts.length), across, up);
  if (facts.border) {
    const [low, at, high] = [lower, least, higher].map(across.place);
    parts.unshift(bar(low, high, TOP, "zone"));
    if (below) parts.push(bar(low, at, up.place(below), "below"));
    parts.push(draw("path", { d: `M${at} ${TOP}V${BOTTOM}`, class: "stroke-mark", "stroke-width": 1.2 }));
    parts.push(label(least < 0.3 ? high + 4 : low - 4, BOTTOM - 12, `pairs from ${Number(least.toPrecision(6))}`, least < 0.3 ? "start" : "end"));
  }
  if (facts.curve) {
    const up = axis({ low: 0, high: 1.05, start: BOTTOM, end: TOP, ticks: [0, 0.25, 0.5, 0.75, 1] });
    const points = [...Array(201).keys()].map((at) => `${across.place(at / 200)},${up.place(chance(at / 200))}`);
    parts.push(draw("polyline", { points: points.join(" "), class: "fill-none stroke-curve", "stroke-width": 2 }));
    parts.push(label(across.end, 8, "chance of being found", "end", "curve"));
    for (const tick of up.ticks) parts.push(label(across.end + 4, up.place(tick), `${100 * tick} %`, "start", "curve"));
  }
  const name = facts.likeness.toLowerCase();
  return picture(`Pairs by ${name}`, across, up, name, "pairs", ...parts);
}

// Clusters by their number of documents, logarithmic if sizes differ much.
function sizesPicture() {
  const most = facts.sizes.at(-1)?.[0] ?? 2;
  const isLogarithmic = most > 24; // up to which each size has a bar, and there is room for eight
  const last = Math.max(most, 9);
  const steps = [...Array(25).keys()].map((at) => Math.round(2 * ((most + 1) / 2) ** (at / 24)));
  const starts = isLogarithmic ? [...new Set(steps)] : [...Array(last).keys()].map((at) => at + 2);
  const counts = starts.slice(0, -1).map((start, at) => facts.sizes.reduce((sum, [size, count]) => sum + (size >= start && size < starts[at + 1] ? count : 0), 0));
  const edges = starts.map((start) => start - 0.5);
  const up = upwards(counts);
  const every = starts.slice(0, -1).filter((_, at) => at % (1 + Math.floor(most / 12)) === 0);
  const ticks = isLogarithmic ? (most < 200 ? ROUND : [2, ...POWERS.slice(1)]).filter((at) => at >= 2 && at <= most) : every;
  const end = WIDTH - 4 - Math.floor((LETTER * number(ticks.at(-1)).length) / 2);
  const across = axis({ low: edges[0], high: edges.at(-1), start: leftOf(up), end, ticks, isLogarithmic });
  return picture("Groups by number of documents", across, up, "documents in the group", "groups", ...bars(counts, edges, across, up));
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
  Home: (all) => all[0].focus(),
  End: (all) => all.at(-1).focus(),
};
const outer = (opener) => opener.closest(".detail")?.previousElementSibling.querySelector(".opener");

// Goes from hit to hit, while one types on.
let hit = -1;

function nextHit(step) {
  const rows = [...find("list").querySelectorAll(".row")];
  if (!rows.length) return;
  rows[hit]?.classList.remove("is-hit");
  hit = (hit + step + rows.length) % rows.length;
  rows[hit].classList.add("is-hit");
  rows[hit].scrollIntoView({ block: "nearest" });
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || find("document").open) return;
  const all = [...find("list").querySelectorAll(".opener")];
  const at = all.indexOf(document.activeElement);
  const isTyping = document.activeElement instanceof HTMLInputElement;
  if (event.key === "/" && !isTyping) {
    find("query").focus();
    find("bar").scrollIntoView();
  } else if (event.key === "Enter" && document.activeElement === find("query")) nextHit(event.shiftKey ? -1 : 1);
  else if (event.key === "Escape" && find("filters").contains(document.activeElement)) clearFilters();
  else if (event.key === "ArrowDown" && document.activeElement === find("query")) all[0]?.focus();
  else if (at >= 0 && MOVES[event.key]) MOVES[event.key](all, at);
  else return;
  event.preventDefault();
}

function caption() {
  if (!facts.curve) return `Each bar counts pairs. ${COMPARED[facts.by]} were compared.`;
  return "Each bar counts pairs. The line is the chance that a pair is found.";
}

// What only experts read of the pictures.
function figures() {
  if (!facts.curve) return facts.border_figures;
  const [bands, rows] = facts.curve;
  const line = `Line: the chance that two documents share one of ${number(bands)} bands of ${counted(rows, "row")}`;
  return `${line}${IS_JACCARD ? ", and so are found." : ", by the Jaccard similarity of their shingles."} ${facts.border_figures}`;
}

// A sentence of the library, in which names of arguments stand in backticks.
const prose = (note) => note.split("`").flatMap((part, at) => at % 2 ? [make("code", {}, part)] : plain(part));

// What one should know first, in one box.
function notice() {
  if (!facts.notes.length) return [];
  const lead = facts.complete ? [] : ["This report may be incomplete. "];
  const said = facts.notes.length === 1 ? [make("p", {}, ...lead, ...prose(facts.notes[0]))]
    : [make("p", {}, ...lead), make("ul", {}, ...facts.notes.map((note) => make("li", {}, ...prose(note))))];
  return [make("div", { class: facts.complete ? "note" : "note warning" }, ...said)];
}

function start() {
  find("title").replaceChildren(...plain(facts.title)); // a page that was saved is drawn already
  document.title = find("title").textContent;
  find("summary").replaceChildren(...factsList(facts.summary));
  find("parameters").replaceChildren(...factsList(facts.parameters));
  find("how").hidden = facts.parameters.length === 0 && !figures();
  find("curve").textContent = caption();
  find("experts").textContent = figures();
  find("similarities").replaceChildren(similaritiesPicture());
  find("sizes").replaceChildren(sizesPicture());
  find("threshold").textContent = facts.threshold;
  find("threshold").hidden = !facts.threshold;
  find("notes").replaceChildren(...notice());
  find("left").textContent = facts.left;
  find("left").hidden = !facts.left;
  find("made").replaceChildren(...plain(facts.made ? `Made by ${facts.made}.` : "Made by neardup_solr."));
  find("command").replaceChildren(...plain(facts.command));
  find("command").hidden = !facts.command;
  find("close").addEventListener("click", () => find("document").close());
  find("document").addEventListener("click", (event) => event.target === find("document") && find("document").close());
  find("headers").replaceChildren(...COLUMNS.map((column) => make("th", { scope: "col", class: column.type, title: column.title }, button(column.label, () => sortBy(column), ""))));
  find("filters").addEventListener("input", readFilters);
  find("filters").addEventListener("submit", (event) => event.preventDefault());
  find("clear").addEventListener("click", clearFilters);
  find("theme").addEventListener("click", turnTheme);
  document.addEventListener("keydown", onKey);
  shown = [...clusters];
  show();
}

start();
