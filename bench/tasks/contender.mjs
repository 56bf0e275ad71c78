// The program of one child process: one contender on one task. It is told what to do in a message, answers with one message and ends.
const warmUpTexts = 64;

process.once("message", async ({ contender, task, threads, texts, calls }) => {
  const { create } = await import(`./contenders/${contender}.mjs`);
  const { what, all, close } = await create(task, threads);
  await all(texts.slice(0, warmUpTexts));
  const milliseconds = [];
  let answers = [];
  for (let call = 0; call < calls; call += 1) {
    const started = performance.now();
    answers = await all(texts);
    milliseconds.push(performance.now() - started);
  }
  await close();
  process.send({ what, milliseconds, answers }, () => process.disconnect());
});
