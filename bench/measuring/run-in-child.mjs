// Runs a program in a process of its own: it is told what to do in one message, answers with one message and ends.
import { fork } from "node:child_process";

// `name`: for the error of a child that ends otherwise.
export function runInChild(program, work, name) {
  return new Promise((resolve, reject) => {
    const child = fork(program, { serialization: "advanced" });
    let result;
    child.once("message", (message) => (result = message));
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (code === 0 && result !== undefined) resolve(result);
      else reject(new Error(`${name} ended with ${signal ?? `code ${code}`}`));
    });
    child.send(work);
  });
}
