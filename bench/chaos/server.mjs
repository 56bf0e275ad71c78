// A server as users start it, the processes below it, and what is left when it has ended.
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../bin/inferyard.js", import.meta.url));

export async function startServer(folder, file, port) {
  const child = spawn(process.execPath, [program, "serve", "--port", String(port), "--config", file], {
    cwd: folder,
    env: { ...process.env, INFERYARD_HOME: `${folder}/home` },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  const url = await new Promise((resolve, reject) => {
    void ended.then(({ code }) => reject(new Error(`the server ended with code ${code}`)));
    child.stdout.setEncoding("utf8").on("data", (text) => {
      const found = /http:\/\/\S+/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    });
  });
  const seen = new Set();
  const children = () => {
    const now = childrenOf(child.pid);
    for (const pid of now) seen.add(pid);
    return now;
  };
  const watch = setInterval(children, 50);
  void ended.then(() => clearInterval(watch));
  return { url, port: Number(new URL(url).port), child, ended, children, seen };
}

export function childrenOf(parent) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const [state, itsParent] = statusOf(pid);
      return itsParent === String(parent) && state !== "Z";
    });
}

// Processes that still run, a while after they should not.
export async function leftOf(pids) {
  for (let look = 0; look < 40; look += 1) {
    const left = [...pids].filter((pid) => ![undefined, "Z"].includes(statusOf(pid)[0]));
    if (left.length === 0) return [];
    await pause(50);
  }
  return [...pids].filter((pid) => ![undefined, "Z"].includes(statusOf(pid)[0]));
}

export function portIsFree(port) {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

// State and parent, as Linux tells.
function statusOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
  } catch {
    return [];
  }
}
