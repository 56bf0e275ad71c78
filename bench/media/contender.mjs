// The program of one child process: one contender on one work. It is told what to do in a message, answers with one message and ends.
process.once("message", async ({ contender, work, threads, quick }) => {
  const { create } = await import(`./contenders/${contender}.mjs`);
  const { what, all, close } = await create(work, threads);
  await all(work.files.slice(0, 2));
  const milliseconds = [];
  let answers = [];
  for (let call = 0; call < (quick ? 1 : 3); call += 1) {
    const started = performance.now();
    answers = await all(work.files);
    milliseconds.push(performance.now() - started);
  }
  await close();
  process.send({ what, milliseconds, answers }, () => process.disconnect());
});
