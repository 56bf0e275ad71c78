// The Python originals, rapidocr and faster-whisper, in a process that answers one line of JSON for each.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export async function create({ task, model, python }, threads) {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-bench-python-"));
  const program = fileURLToPath(new URL("originals.py", import.meta.url));
  const child = spawn(python, [program, task, model, String(threads)], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error("the Python program ended");
    return JSON.parse(value);
  };
  const { what } = await next();
  const paths = new Map();
  const pathOf = (file) => {
    if (!paths.has(file)) paths.set(file, join(folder, `${paths.size}.${task === "read" ? "png" : "wav"}`));
    writeFileSync(paths.get(file), file);
    return paths.get(file);
  };
  return {
    what,
    all: async (files) => {
      child.stdin.write(`${JSON.stringify(files.map(pathOf))}\n`);
      return (await next()).texts;
    },
    close: () => {
      child.stdin.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
