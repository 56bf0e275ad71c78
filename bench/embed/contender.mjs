// The program of one child process: one contender in one precision. It loads the model, sends what it is, and then answers each message
// with what it measured, until the channel is closed.
process.once("message", async ({ contender, precision, threads, workload }) => {
  const { create } = await import(`./contenders/${contender}.mjs`);
  const { what, embedOne, bulk, close } = await create(precision, threads);
  const measures = {
    calls: ({ texts, calls }) => measureCalls(embedOne, workload[texts], calls),
    vectors: ({ texts }) => Promise.all(workload[texts].map(embedOne)),
    bulk: ({ mode }) => measureBulk(bulk[mode], workload.bulk),
  };
  process.on("message", async ({ measure, ...work }) => process.send(await measures[measure](work)));
  process.once("disconnect", () => void close());
  process.send({ what });
});

// Milliseconds of each call.
async function measureCalls(embedOne, texts, calls) {
  const milliseconds = [];
  for (let call = 0; call < calls; call += 1) {
    const started = performance.now();
    await embedOne(texts[call % texts.length]);
    milliseconds.push(performance.now() - started);
  }
  return milliseconds;
}

async function measureBulk(embed, texts) {
  const started = performance.now();
  const vectors = await embed(texts);
  return { milliseconds: performance.now() - started, vectors, megabytes: process.memoryUsage().rss / 2 ** 20 };
}
