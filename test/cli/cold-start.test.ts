/** What a start of the command line loads: the modules that the built program imports, not how long that takes. `npm run bench:cold` measures. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const root = new URL("../..", import.meta.url);

/** Paths below the package of all modules that a command loads; V8 lists them in its coverage. */
async function modulesOf(...args: string[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "inferyard-modules-"));
  try {
    const env = { ...process.env, NODE_V8_COVERAGE: folder };
    await promisify(execFile)(process.execPath, ["bin/inferyard.js", ...args], { cwd: fileURLToPath(root), env });
    const urls = new Set<string>();
    for (const name of await readdir(folder)) {
      const { result } = JSON.parse(await readFile(join(folder, name), "utf8")) as { result: { url: string }[] };
      for (const { url } of result) urls.add(url);
    }
    return [...urls].filter((url) => url.startsWith(root.href)).map((url) => url.slice(root.href.length));
  } finally {
    await rm(folder, { recursive: true });
  }
}

const commandsAmong = (modules: readonly string[]): string[] =>
  modules.filter((path) => path.startsWith("dist/cli/commands/")).map((path) => path.split("/").at(-1) ?? "");

describe("a cold start", () => {
  it("of `embed` with the built-in model loads one command, and neither the schema library, the server nor the engine", async () => {
    const modules = await modulesOf("embed", "hello");
    expect(modules.length).toBeGreaterThan(100);
    expect(commandsAmong(modules)).toEqual(["embed.js"]);
    const heavy =
      /node_modules\/(zod|hono|onnxruntime)|dist\/(server|inspection|models\/hub|engine\/(?!transformers\/architecture-names))/;
    expect(modules.filter((path) => heavy.test(path))).toEqual([]);
    expect(modules.length).toBeLessThan(345);
  });

  it("of `--help` loads no command", async () => {
    const modules = await modulesOf("--help");
    expect(commandsAmong(modules)).toEqual([]);
    expect(modules.length).toBeLessThan(20);
  });
});

describe("the compile cache", () => {
  const version = async (environment: Readonly<Record<string, string>>): Promise<string> => {
    const { NODE_COMPILE_CACHE: _folder, NODE_DISABLE_COMPILE_CACHE: _off, ...inherited } = process.env;
    const options = { cwd: fileURLToPath(root), env: { ...inherited, ...environment }, timeout: 60_000 };
    const { stdout } = await promisify(execFile)(process.execPath, ["bin/inferyard.js", "version"], options);
    return stdout;
  };

  it.skipIf(process.platform !== "linux").each(["/dev/null", "/proc/none", "/no/such/folder"])(
    "is left out where %s is the user's cache folder",
    async (folder) => expect(await version({ XDG_CACHE_HOME: folder })).toMatch(/^inferyard /),
  );

  it.skipIf(process.platform !== "linux" || !("enableCompileCache" in module))(
    "is in the user's cache folder, and off with NODE_DISABLE_COMPILE_CACHE (Node.js 22.8 and later)",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "inferyard-cache-"));
      try {
        await version({ XDG_CACHE_HOME: folder, NODE_DISABLE_COMPILE_CACHE: "1" });
        expect(existsSync(join(folder, "inferyard-compile"))).toBe(false);
        await version({ XDG_CACHE_HOME: folder });
        expect(await readdir(join(folder, "inferyard-compile"))).toHaveLength(1);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );
});
