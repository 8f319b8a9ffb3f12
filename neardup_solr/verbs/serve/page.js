"use strict";
// The page to paste a text, after words.js: it asks the service, and shows what that says as text.

const CANDIDATES = 50; // that a text is compared with
const SECONDS = 60; // for an answer
const MOST = 2000; // words that differ; of more, none is marked, and so many are shown
const PREVIEW = 40; // words
const QUICK = 20_000; // characters; Chromium takes seconds to find the direction of very long ones
const MEANING = {
  allow: "Accepted",
  tag: "Accepted, marked as a near-duplicate",
  hold: "Needs a decision by a person",
  reject: "Not accepted",
};
const INNER = "\\p{L}\\p{M}\\p{N}\\p{Cf}-"; // what words are made of, as in the normal form of a text
const PIECE = new RegExp(`[^${INNER}]*[${INNER}]+[^${INNER}]*`, "gu");
const KEPT = `token of ${location.pathname}`; // which this tab remembers
let turn = 0;

/* The words of two texts, and what differs */

// Words as they are shown, in the form of words.js, and as they are compared.
function split(text) {
  const pieces = text.match(PIECE) ?? [text];
  const isJoined = (at) => at > 0 && !/\s$/.test(pieces[at - 1]);
  return {
    words: pieces.map((piece, at) => (isJoined(at) ? "\u2009" : "") + piece.trim().replace(/\s+/g, " ")),
    forms: pieces.map((piece) => fold(piece.toUpperCase()).replace(/[^\p{L}\p{M}\p{N}-]/gu, "")),
  };
}

// The fewest words to replace, remove and add, as diffView takes them; null if they are too many.
// Each row is about one change more: for each number of words that were removed more than added,
// it has how far into the first text one gets (Ukkonen 1985).
function compare(first, second) {
  const least = Math.min(first.length, second.length);
  let [head, tail] = [0, 0];
  while (head < least && first[head] === second[head]) head += 1;
  while (tail < least - head && first.at(-1 - tail) === second.at(-1 - tail)) tail += 1;
  const [width, height] = [first.length - head - tail, second.length - head - tail];
  const rows = [Int32Array.of(-2, -1, -2)];
  for (let count = 0; count <= MOST; count += 1) {
    const before = rows[count];
    const row = new Int32Array(2 * count + 5).fill(-2);
    for (let more = -count; more <= count; more += 1) {
      const place = more + count;
      let at = Math.max(before[place] + 1, before[place + 1] + 1, before[place + 2]);
      if (at < 0 || at > width || at - more > height) continue;
      while (at < width && at - more < height && first[head + at] === second[head + at - more]) at += 1;
      row[place + 2] = at;
    }
    rows.push(row);
    if (row[width - height + count + 2] === width) return walk(rows, width, width - height, head, tail);
  }
  return null;
}

// The way back along the rows, as [equal, removed, added] for each change.
function walk(rows, width, more, head, tail) {
  const steps = [[tail, 0, 0]];
  let at = width;
  for (let count = rows.length - 2; ; count -= 1) {
    const place = more + count;
    const [removed, replaced, added] = [rows[count][place] + 1, rows[count][place + 1] + 1, rows[count][place + 2]];
    const start = Math.max(removed, replaced, added);
    steps[0][0] += at - start;
    if (count === 0) break;
    if (steps.length === 1 || steps[0][0]) steps.unshift([0, 0, 0]);
    const isRemoved = start === replaced || start === removed;
    const isAdded = start === replaced || !isRemoved;
    steps[0][1] += isRemoved;
    steps[0][2] += isAdded;
    at = start - isRemoved;
    more += isAdded - isRemoved;
  }
  steps[0][0] += head;
  return steps.flat();
}

function drawDiff(match, asked) {
  const [known, own] = [split(match.text), split(asked.text)];
  const steps = compare(known.forms, own.forms);
  const name = () => make("bdi", { class: "id" }, ...plain(match.id));
  const sides = [
    { words: known.words, name: name(), head: name() },
    { words: own.words, name: "your text", head: "Your text" },
  ];
  if (steps) return make("div", { class: "compared" }, ...diffView(sides, steps));
  const whole = ({ words }) => make("p", { dir: "auto" }, ...run(words, 0, MOST, false));
  return make("div", { class: "compared" },
    make("p", { class: "legend" }, `More than ${number(MOST)} words differ, so changes are not marked. The first ${number(MOST)} words are shown.`),
    make("div", { class: "diff side" }, ...sides.map(({ head }) => make("p", { class: "whose" }, head)), ...sides.map(whole)));
}

/* What the service says */

function drawDecision({ action, reason, complete, unsigned }) {
  const why = unsigned === undefined
    ? " Too many documents share a band with the text, so not all were compared."
    : ` ${unsigned ?? "Some"} documents without a signature were not compared.`;
  const more = complete ? "" : why;
  return make("p", { class: "note", "data-action": action }, make("strong", {}, action), ` ${MEANING[action]}: `, ...plain(reason), `.${more}`);
}

function drawTitle(count, least) {
  const [is, has] = count > 1 ? ["are", "have"] : ["is", "has"];
  return make("h2", {}, `${count ? counted(count, "document") : "No document"} ${least ? `${has} a similarity of ${least} or more` : `${is} similar`}`);
}

function drawMatches(matches, asked, met) {
  const list = make("ul", { class: "pairs" }, ...matches.map((match) => drawMatch(match, asked, met?.has(match.id))));
  list.querySelector(".opener")?.click();
  const rule = "The gate considers only the marked documents: they share a band with the text and reach the threshold.";
  const isMore = met && matches.some(({ id }) => !met.has(id));
  return isMore ? [make("p", { class: "left" }, rule), list] : [list];
}

function drawMatch(match, asked, isMet) {
  const opener = button("", () => {}, "opener");
  opener.append(make("bdi", { class: "id" }, ...plain(match.id)));
  const far = match.distance === null ? "" : ` · ${counted(match.distance, "word")} apart`;
  const figure = make("span", { class: "figure range" }, track(0, match.similarity), `${decimal(match.similarity)} similar${far}`);
  const tags = [isMet && "gate", match.id === asked.id && "same id: would be replaced"].filter(Boolean).map((said) => make("span", { class: "tag" }, said));
  const closed = make("p", { class: "preview", dir: "auto" }, ...run(split(match.text.slice(0, 1000)).words, 0, PREVIEW, false));
  const item = make("li", {}, make("div", { class: "pair" }, make("span", { class: "name" }, opener, ...tags), figure), closed);
  let diff; // made when it is first seen
  opens(opener, false, (isOpen) => item.lastChild.replaceWith(isOpen ? (diff ??= drawDiff(match, asked)) : closed));
  return item;
}

/* The question */

async function ask(path, body) {
  const token = find("token").value.trim();
  try {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(1000 * SECONDS),
    });
    const unknown = { error: `the server answered with status ${answer.status}`, next: "report this to the operator" };
    const found = await answer.json().catch(() => unknown);
    return { status: answer.status, wait: Number(answer.headers.get("Retry-After")), ...(answer.ok ? {} : unknown), ...found };
  } catch {
    return { error: "the service does not answer", next: "check that it is running" };
  }
}

async function compareTexts(event) {
  event.preventDefault();
  const mine = ++turn; // what comes after the next question is too late
  const asked = { text: find("text").value, id: find("id").value.trim(), least: find("least").valueAsNumber || 0 };
  if (!asked.text.trim()) {
    find("text").focus();
    return show([{ error: "the text is missing", next: "paste a text" }]);
  }
  const held = document.activeElement;
  setBusy(true);
  sessionStorage.setItem(KEPT, find("token").value);
  const answers = await Promise.all([
    ask("check", { id: asked.id || "(pasted)", text: asked.text }),
    ask("search", { text: asked.text, candidates: CANDIDATES, min_similarity: asked.least }),
  ]);
  if (mine !== turn) return;
  show(answers, asked);
  if (document.activeElement === document.body) held.focus(); // as a button loses it that is disabled
}

function setBusy(isBusy) {
  find("go").disabled = isBusy;
  for (const id of ["answer", "matches"]) find(id).setAttribute("aria-busy", isBusy);
}

function show(answers, asked) {
  const problems = answers.filter(({ error }) => error);
  const lines = problems.map(({ status, error, next, wait }) => {
    const again = wait ? ` Try again in ${counted(wait, "second")}.` : "";
    return `${error}; ${status === 401 ? "enter a token above" : next}.${again}`;
  });
  find("problem").replaceChildren(...[...new Set(lines)].map((line) => make("p", { class: "note warning" }, ...plain(line))));
  const [decision, found] = answers;
  const matches = found?.matches;
  const met = decision.matches && new Set(decision.matches.map(({ id }) => id));
  find("answer").replaceChildren(...(decision.action ? [drawDecision(decision)] : []), ...(matches ? [drawTitle(matches.length, asked.least)] : []));
  find("matches").replaceChildren(...(matches ? drawMatches(matches, asked, met) : []));
  setBusy(false);
  document.querySelector("main .note")?.scrollIntoView({ block: "nearest" });
  if (!problems.some(({ status }) => status === 401 || status === 403)) return;
  find("access").hidden = false;
  find("token").focus();
}

find("token").value = sessionStorage.getItem(KEPT) ?? "";
if (/Mac|iP/.test(navigator.platform)) find("keys").textContent = "⌘ ↵";
find("text").addEventListener("input", ({ target }) => {
  target.dir = target.value.length < QUICK ? "auto" : "";
});
find("theme").addEventListener("click", turnTheme);
find("form").addEventListener("submit", compareTexts);
find("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) find("form").requestSubmit();
});
