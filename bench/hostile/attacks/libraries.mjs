// Files that are no library, in a program of a user that loads llama.cpp's library into its own process: each is refused there with an error of ours.
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { sharedPath } from "../../measuring/shared-data.mjs";

const program = `
  import { createRuntime } from "inferyard";
  const [library, model] = process.argv.slice(1);
  const runtime = await createRuntime({ library, host: "inline", threads: 1 });
  await runtime.generate("Once", { model, target: "library:cpu", maxNewTokens: 1 }).then(() => console.log("ran"), ({ name, code }) => console.log(name, code));
  await runtime.dispose();`;

// Undefined where node-llama-cpp is not installed.
function installedLibrary() {
  const { platform, arch } = process;
  try {
    const found = createRequire(import.meta.url).resolve(`@node-llama-cpp/${platform}-${arch}`);
    const folder = join(dirname(found), "..", "bins", `${platform}-${arch}`);
    return join(
      folder,
      readdirSync(folder).find((name) => /^libllama\.(?:v[\d.]+\.)?so$/.test(name)),
    );
  } catch {
    return undefined;
  }
}

// By kind: makes the file.
function kindsOf(bytes) {
  const changed = (change) => {
    const copy = Buffer.from(bytes);
    change(copy);
    return copy;
  };
  const written = (content) => (path) => writeFileSync(path, content);
  return {
    "its first megabyte": written(bytes.subarray(0, 2 ** 20)),
    "its first half": written(bytes.subarray(0, bytes.length / 2)),
    "without its last page": written(bytes.subarray(0, -4096)),
    "of another processor": written(changed((copy) => copy.writeUInt16LE(183, 18))),
    "of 32 bits": written(changed((copy) => copy.writeUInt8(1, 4))),
    "with segments far behind its end": written(changed((copy) => copy.writeBigUInt64LE(2n ** 40n, 32))),
    "with a section of zeros": written(changed((copy) => copy.fill(0, copy.length / 2, copy.length / 2 + 65_536))),
    "a text": written("#!/bin/sh\nexit 1\n"),
    empty: written(""),
    "a sparse terabyte": (path) => {
      writeFileSync(path, bytes);
      truncateSync(path, 2 ** 40);
    },
    "a folder": (path) => mkdirSync(path),
    "a pipe": (path) => execFileSync("mkfifo", [path]),
    "an endless device": (path) => symlinkSync("/dev/zero", path),
    "a link to itself": (path) => symlinkSync(path, path),
  };
}

export const libraries = {
  name: "files that are no library",
  items: "7",
  async run() {
    const library = installedLibrary();
    if (library === undefined) return { said: "not run: node-llama-cpp is not installed", wrong: 0 };
    const folder = mkdtempSync(join(tmpdir(), "inferyard-libraries-"));
    const wrong = [];
    const kinds = kindsOf(readFileSync(library));
    for (const [index, [kind, make]] of Object.entries(kinds).entries()) {
      const path = join(folder, `${index}`, "libllama.so");
      mkdirSync(dirname(path));
      make(path);
      const outcome = await load(path, folder);
      if (!outcome.startsWith("InferyardError")) wrong.push(`${kind}: ${outcome}`);
    }
    rmSync(folder, { recursive: true });
    return { said: [`${Object.keys(kinds).length} kinds`, ...wrong].join("; "), wrong: wrong.length };
  },
};

function load(path, folder) {
  return new Promise((resolve) => {
    const options = {
      cwd: fileURLToPath(new URL("../../..", import.meta.url)),
      timeout: 60_000,
      killSignal: "SIGKILL",
      env: { ...process.env, INFERYARD_HOME: join(folder, "home") },
    };
    const model = sharedPath("tinyllm/tinyllm.gguf");
    execFile(process.execPath, ["--input-type=module", "-e", program, path, model], options, (error, stdout) => {
      resolve(error === null ? stdout.trim() : `the program ended: ${error.signal ?? error.code} ${stdout.trim()}`);
    });
  });
}
