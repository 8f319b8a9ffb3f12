// Checks documents by the service, and sends those that are admitted to Solr, as docs/serve.md says.
// Node 18 or newer, without packages:
//
//   node feed.mjs http://127.0.0.1:8985 http://localhost:8983/solr/articles < new.jsonl

import { createInterface } from "node:readline";

const [service, solr] = process.argv.slice(2);

class Refused extends Error {}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    const { id, action, reason } = await post(`${service}/check`, line);
    console.log(id, action, reason);
    if (action === "hold" || action === "reject") continue;
    const { entries } = await post(`${service}/entries`, line);
    const documents = JSON.stringify([{ ...JSON.parse(line), ...entries[0] }]);
    await post(`${solr}/update?commit=true`, documents);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    console.error(`left out: ${line}\n${error.message}`);
    process.exitCode = 1;
  }
}

async function post(address, body) {
  const end = Date.now() + 600_000;
  for (let pause = 1; ; pause = Math.min(2 * pause, 16)) {
    const headers = { "Content-Type": "application/json" };
    const signal = AbortSignal.timeout(30_000);
    const request = new Request(address, { method: "POST", headers, body, signal });
    const { status, text, after } = await fetch(request)
      .then(async (answer) => ({
        status: answer.status,
        text: await answer.text(),
        after: answer.headers.get("Retry-After"),
      }))
      .catch((error) => ({ status: 503, text: String(error.cause ?? error) })); // nobody answers
    if (status === 200) return JSON.parse(text);
    if (status === 400) throw new Refused(text);
    const mayPass = status === 429 || status >= 500;
    if (!mayPass || Date.now() > end) throw new Error(`${address}: ${status} ${text}`);
    const wait = Math.max(pause, Number(after) || 0) * (1 + Math.random() / 4);
    console.error(`${status}, again in ${wait.toFixed(1)} s: ${text}`);
    await new Promise((done) => setTimeout(done, 1000 * wait));
  }
}
