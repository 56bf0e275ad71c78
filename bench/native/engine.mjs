// One engine in a process of its own, that loads one model, runs it once, and then as often as it is told.
import { fork } from "node:child_process";

const ownProgram = new URL("./engine-child.mjs", import.meta.url);

// `program`: the child's; `environment`: variables of its environment, beside those of this process.
export function startEngine(work, { program = ownProgram, environment = {} } = {}) {
  const child = fork(program, { serialization: "advanced", env: { ...process.env, ...environment } });
  const waiting = [];
  const settle = (message) => waiting.shift()?.(message);
  child.on("message", settle);
  child.once("exit", (code, signal) => settle({ error: `it ended with ${signal ?? `code ${code}`}` }));
  const next = async () => {
    const message = await new Promise((resolve) => waiting.push(resolve));
    if (message.error === undefined) return message;
    child.kill();
    throw new Error(message.error);
  };
  child.send(work);
  return {
    next,
    time(runs) {
      const answer = next();
      child.send({ runs });
      return answer;
    },
    stop: () => child.disconnect(),
  };
}
