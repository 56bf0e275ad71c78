/** What a start loads: files and kilobytes of the bundle and of packages, not how long that takes. `npm run bench:cold` measures. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { mkdtemp, readFile, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { commands } from "../../src/cli/command-table.ts";
import { sampled } from "../fixtures/slow.ts";

const root = new URL("../..", import.meta.url);

interface Loaded {
  readonly files: number;
  readonly kilobytes: number;
  /** Names of the packages among them. */
  readonly packages: readonly string[];
}

/** The files below the repository that Node.js loads for these arguments; V8 lists them in its coverage. */
async function loadedBy(...args: readonly string[]): Promise<Loaded> {
  const folder = await mkdtemp(join(tmpdir(), "inferyard-modules-"));
  try {
    const env = { ...process.env, NODE_V8_COVERAGE: folder, INFERYARD_HOME: folder };
    await promisify(execFile)(process.execPath, args, { cwd: fileURLToPath(root), env });
    const urls = new Set<string>();
    for (const name of (await readdir(folder)).filter((file) => file.startsWith("coverage-"))) {
      const { result } = JSON.parse(await readFile(join(folder, name), "utf8")) as { result: { url: string }[] };
      for (const { url } of result) if (/\.(js|mjs|cjs)$/.test(url) && url.startsWith(root.href)) urls.add(url);
    }
    const sizes = await Promise.all([...urls].map(async (url) => (await stat(new URL(url))).size));
    const packages = [...urls].flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
    return {
      files: urls.size,
      kilobytes: Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / 1000),
      packages: [...new Set(packages)].toSorted(),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

const program = (code: string): readonly string[] => ["--input-type=module", "--eval", code];
const command = (...args: readonly string[]): readonly string[] => ["bin/inferyard.js", ...args];
const cli = ["commander"];
const runtime = ["commander", "pbf"];

/** Largest numbers of files and kilobytes, and exactly these packages. A row that shrinks by much should be lowered. */
const table: readonly (readonly [
  name: string,
  args: readonly string[],
  files: number,
  kilobytes: number,
  packages: readonly string[],
])[] = [
  ['import "inferyard"', program('await import("inferyard")'), 6, 670, ["pbf"]],
  ["createRuntime()", program('await (await import("inferyard")).createRuntime()'), 6, 670, ["pbf"]],
  [
    "a first vector of builtin",
    program('await (await (await import("inferyard")).createRuntime()).embed("hello")'),
    20,
    835,
    ["pbf"],
  ],
  ['import "inferyard/backend"', program('await import("inferyard/backend")'), 2, 45, []],
  ['import "inferyard/client"', program('await import("inferyard/client")'), 1, 6, []],
  ['import "inferyard/inspect"', program('await import("inferyard/inspect")'), 15, 800, ["pbf"]],
  ['import "inferyard/libraries"', program('await import("inferyard/libraries")'), 26, 838, ["pbf"]],
  ["inferyard --help", command("--help"), 15, 195, cli],
  ["inferyard version", command("version"), 16, 195, cli],
  ["inferyard embed hello", command("embed", "hello"), 37, 1030, runtime],
  ["inferyard tokenize hello", command("tokenize", "hello"), 27, 985, runtime],
  ["inferyard explain builtin", command("explain", "builtin"), 24, 850, runtime],
  ["inferyard list", command("list"), 23, 850, runtime],
];

describe("a start loads no more than", () => {
  const measured: string[] = [];
  const row = (name: string, { files, kilobytes, packages }: Loaded): void => {
    measured.push(
      `${name.padEnd(32)}${String(files).padStart(4)} files${String(kilobytes).padStart(6)} kB  ${packages.join(", ")}`,
    );
  };
  afterAll(() => console.log(measured.toSorted().join("\n")));

  it.concurrent.each(table)("%s", async (name, args, files, kilobytes, packages) => {
    const loaded = await loadedBy(...args);
    row(name, loaded);
    expect(loaded.files).toBeGreaterThan(0);
    expect(loaded.files).toBeLessThanOrEqual(files);
    expect(loaded.kilobytes).toBeLessThanOrEqual(kilobytes);
    expect(loaded.packages).toEqual(packages);
  });

  const alone = commands.filter(({ readsOthers }) => !readsOthers).map(({ name }) => name);
  const flags = "the flags of inferyard %s, and neither an engine nor the server";
  for (const [skip, title, some] of sampled(flags, alone, (_name, index) => index % 6 === 0))
    it.skipIf(skip).concurrent.each(some)(title, async (name) => {
      const loaded = await loadedBy(...command(name, "--help"));
      row(`inferyard ${name} --help`, loaded);
      expect(loaded.files).toBeLessThanOrEqual(42);
      expect(loaded.kilobytes).toBeLessThanOrEqual(995);
      expect(["commander", "pbf"]).toEqual(expect.arrayContaining([...loaded.packages]));
    });

  it.concurrent("the flags of all these commands in one process, and neither an engine nor the server", async () => {
    const code = `
      import { Readable, Writable } from "node:stream";
      import { run } from "./dist/command-line.js";
      const nothing = new Writable({ write: (_chunk, _encoding, done) => done() });
      const terminal = { stdout: nothing, stderr: nothing, stdin: Readable.from([]), environment: {}, directory: "/", signal: new AbortController().signal };
      for (const name of ${JSON.stringify(alone)}) if ((await run([name, "--help"], terminal)) !== 0) process.exit(1);`;
    const loaded = await loadedBy(...program(code));
    row("all --help", loaded);
    expect(alone.length).toBeGreaterThan(20);
    expect(loaded.files).toBeLessThanOrEqual(148);
    expect(loaded.kilobytes).toBeLessThanOrEqual(1_605);
    expect(loaded.packages).toEqual(["commander", "pbf"]);
  });
});

it("what a model's thread or process can load needs the chunk of the runtime for `library` alone, whose program reads manifests", async () => {
  const dist = new URL("dist/", root);
  const importers: string[] = [];
  const seen = new Set<string>();
  const waiting = ["model-thread.js", "model-process.js", "engine-thread.js", "backends-native.js"];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    const code = await readFile(new URL(name, dist), "utf8");
    const imported = [...code.matchAll(/(?:^(?:import|export)[^;]*?from |^import |import\()"\.\/([^"]+)"/gm)].map(
      ([, file = ""]) => file,
    );
    if (imported.includes("chunk-runtime.js")) importers.push(name);
    waiting.push(...imported.filter((file) => file !== "chunk-runtime.js"));
  }
  const { sources } = JSON.parse(await readFile(new URL(`${importers[0]}.map`, dist), "utf8")) as { sources: string[] };
  expect(importers).toHaveLength(1);
  expect(sources).toContain("../src/backends/library/open-language-model.ts");
});

describe("the compile cache", () => {
  const version = async (environment: Readonly<Record<string, string>>): Promise<string> => {
    const { NODE_COMPILE_CACHE: _folder, NODE_DISABLE_COMPILE_CACHE: _off, ...inherited } = process.env;
    const options = { cwd: fileURLToPath(root), env: { ...inherited, ...environment }, timeout: 60_000 };
    const { stdout } = await promisify(execFile)(process.execPath, ["bin/inferyard.js", "version"], options);
    return stdout;
  };

  const title = "is left out where %s is the user's cache folder";
  const folders = sampled(title, ["/dev/null", "/proc/none", "/no/such/folder"], (_folder, index) => index === 0);
  for (const [skipFolders, name, some] of folders)
    it.skipIf(skipFolders || process.platform !== "linux").each(some)(name, async (folder) =>
      expect(await version({ XDG_CACHE_HOME: folder })).toMatch(/^inferyard /),
    );

  const skip = process.platform !== "linux" || !("enableCompileCache" in module);

  it.skipIf(skip)("is in the user's cache folder, and off with NODE_DISABLE_COMPILE_CACHE (Node.js 22.8 and later)", async () => {
    const folder = await mkdtemp(join(tmpdir(), "inferyard-cache-"));
    try {
      await version({ XDG_CACHE_HOME: folder, NODE_DISABLE_COMPILE_CACHE: "1" });
      expect(existsSync(join(folder, "inferyard-compile"))).toBe(false);
      await version({ XDG_CACHE_HOME: folder });
      expect(await readdir(join(folder, "inferyard-compile"))).toHaveLength(1);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  const used = "is used by a model's %s in a library too, and not by the program that uses it";
  for (const [skipHosts, name, some] of sampled(used, ["worker", "process"], (host) => host === "process"))
    it.skipIf(skip || skipHosts).each(some)(name, async (host) => {
      const folder = await mkdtemp(join(tmpdir(), "inferyard-cache-"));
      try {
        const code = (used: boolean): readonly string[] =>
          program(`const runtime = await (await import("inferyard")).createRuntime({ host: "${host}" });
            ${used ? 'await runtime.embed("hello");' : ""} await runtime.dispose();`);
        const environment = { ...process.env, XDG_CACHE_HOME: folder };
        await promisify(execFile)(process.execPath, code(false), { cwd: fileURLToPath(root), env: environment });
        expect(existsSync(join(folder, "inferyard-compile"))).toBe(false);
        await promisify(execFile)(process.execPath, code(true), { cwd: fileURLToPath(root), env: environment });
        expect(existsSync(join(folder, "inferyard-compile"))).toBe(true);
      } finally {
        await rm(folder, { recursive: true });
      }
    });
});
