// The server under attack: started as users start it, within a memory limit.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { memoryOfTree } from "../server/process-tree.mjs";

const program = fileURLToPath(new URL("../../bin/inferyard.js", import.meta.url));
const mebibyte = 2 ** 20;

// `group`: see memory-limit.mjs; `env`: further variables.
export async function startServer({ folder, settings, group, heapMebibytes, flags = [], env = {} }) {
  const heap = heapMebibytes === undefined ? [] : [`--max-old-space-size=${heapMebibytes}`];
  const command = [process.execPath, ...heap, program, "serve", "--port", "0", "--config", settings, ...flags];
  // The shell enters the group before it becomes the server, so that every byte counts.
  const [file, ...rest] = group === undefined ? command : ["sh", "-c", `echo $$ > ${group.procs} && exec "$@"`, "sh", ...command];
  const child = spawn(file, rest, {
    cwd: folder,
    env: { ...process.env, INFERYARD_HOME: `${folder}/home`, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr = (stderr + text).slice(-20_000)));
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  let alive = true;
  void ended.then(() => (alive = false));
  const url = await new Promise((resolve, reject) => {
    void ended.then(({ code }) => reject(new Error(`the server ended with code ${code}: ${stderr}`)));
    child.stdout.setEncoding("utf8").on("data", (text) => {
      const found = /https?:\/\/\S+/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    url,
    port: Number(new URL(url).port),
    child,
    ended,
    isAlive: () => alive,
    stderr: () => stderr,
    // Of the server and all it started, in MB: pages that processes share count once.
    memory: () => (group === undefined ? (memoryOfTree(child.pid)?.proportional ?? Number.NaN) : group.anonymous() / mebibyte),
    // Of the server's own process, in MB, without the pages of its files.
    ownMemory: () => anonymousMemory(child.pid) / mebibyte,
  };
}

// RssAnon of proc(5), in bytes.
function anonymousMemory(pid) {
  try {
    return 1024 * Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN);
  } catch {
    return Number.NaN; // it has ended, or there is no /proc here
  }
}
