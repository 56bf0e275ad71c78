// The program of one child process: one contender, one precision, one kind of work. It is told what to do in a message, answers with one
// message and ends.
import { median } from "../statistics.mjs";

const warmUpCalls = 10;
const warmUpTexts = 32;

process.once("message", async ({ contender, precision, threads, kind, workload }) => {
  const { create } = await import(`./contenders/${contender}.mjs`);
  const { what, embedOne, bulk, close } = await create(precision, threads);
  const measured = kind === "latency" ? await measureLatency(embedOne, workload) : await measureBulk(bulk, workload);
  const megabytes = process.memoryUsage().rss / 2 ** 20;
  await close();
  process.send({ what, megabytes, ...measured }, () => process.disconnect());
});

async function measureLatency(embedOne, { short, long, shortCalls, longCalls }) {
  const times = {};
  const vectors = [];
  for (const [name, texts, calls] of [
    ["16 tokens", short, shortCalls],
    ["128 tokens", long, longCalls],
  ]) {
    for (let call = 0; call < warmUpCalls; call += 1) await embedOne(texts[call % texts.length]);
    const milliseconds = [];
    for (let call = 0; call < calls; call += 1) {
      const started = performance.now();
      await embedOne(texts[call % texts.length]);
      milliseconds.push(performance.now() - started);
    }
    times[name] = { median: median(milliseconds), min: Math.min(...milliseconds) };
    for (const text of texts) vectors.push(await embedOne(text));
  }
  return { times, vectors };
}

async function measureBulk(modes, { bulk }) {
  const times = {};
  let vectors = [];
  for (const [mode, embed] of Object.entries(modes)) {
    await embed(bulk.slice(0, warmUpTexts));
    const started = performance.now();
    vectors = await embed(bulk);
    times[mode] = performance.now() - started;
  }
  return { times, vectors };
}
