/** Analysis of libraries as Debian and PyPI distribute them, fetched for the test and never loaded. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { type LibraryAnalysis, analyzeLibrary } from "../../src/libraries/index.ts";
import { keptInstallation } from "../fixtures/installations.ts";
import { needsInstalled, problemOfInstallation } from "../fixtures/installed.ts";

/** Where libraries were unpacked. */
const folders: string[] = [];

const run = promisify(execFile);
const quiet = { timeout: 240_000 } as const;

/** Downloads Debian packages and unpacks them, without installing them. */
function fetchDebian(...packages: readonly string[]): Promise<string | undefined> {
  return problemOfInstallation(async () => {
    const release = readFileSync("/etc/os-release", "utf8");
    const kept = await keptInstallation({ tool: "apt-get download", release, packages }, async (inside) => {
      await run("apt-get", ["download", ...packages], { ...quiet, cwd: inside });
      for (const file of readdirSync(inside).filter((name) => name.endsWith(".deb")))
        await run("dpkg", ["-x", file, "debian"], { ...quiet, cwd: inside });
    });
    folders.push(kept);
  });
}

/** Downloads a wheel for a platform and unpacks it, without installing it. */
function fetchWheel(name: string, platforms: readonly string[]): Promise<string | undefined> {
  return problemOfInstallation(async () => {
    const kept = await keptInstallation({ tool: "pip download", packages: [name], platforms }, async (folder) => {
      const platformFlags = platforms.flatMap((platform) => ["--platform", platform]);
      const flags = [
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--python-version",
        "3.11",
        ...platformFlags,
        "--dest",
        folder,
      ];
      await run("python3", ["-m", "pip", "download", ...flags, name], quiet);
      for (const wheel of readdirSync(folder)) await run("python3", ["-m", "zipfile", "-e", join(folder, wheel), folder], quiet);
    });
    folders.push(kept);
  });
}

/** The analysis of the library with this file name, somewhere below the folders. */
async function analyze(file: string): Promise<LibraryAnalysis> {
  const paths = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  const path = paths.find((name) => basename(name) === file);
  expect(path, `${file} in what was fetched`).toBeDefined();
  return await analyzeLibrary(path ?? "");
}

const classesOf = ({ classes }: LibraryAnalysis): string[] => classes.map(({ name, confidence }) => `${name} ${confidence}`);

describe.skipIf(!existsSync("/usr/bin/apt-get"))("libraries of Debian", () => {
  needsInstalled(() => fetchDebian("libopenblas0-pthread", "libblis4-pthread", "libdnnl2", "libgomp1", "musl"));

  it.each([
    ["libopenblas.so.0", ["openblas certain"], []],
    ["libblis.so.4", ["blis certain"], []],
    ["libdnnl.so.2", ["onednn certain"], ["opencl"]], // Debian builds it with OpenCL
    ["libgomp.so.1", ["openmp certain"], []],
  ])("%s", async (file, classes, accelerators) => {
    const analysis = await analyze(file);
    expect(classesOf(analysis)).toEqual(classes);
    expect(analysis.verdict.accelerators).toEqual(accelerators);
  });

  it("musl's C library is for musl", async () => {
    const { file, classes } = await analyze("ld-musl-x86_64.so.1");
    expect(file.libc).toBe("musl");
    expect(classes).toEqual([]);
  });
});

describe("libraries of PyPI", () => {
  needsInstalled(
    async () =>
      (await fetchWheel("nvidia-cuda-runtime-cu12==12.9.79", ["manylinux2014_x86_64"])) ??
      (await fetchWheel("onnxruntime==1.16.3", ["manylinux2014_aarch64"])) ??
      (await fetchWheel("onnxruntime==1.22.1", ["macosx_13_0_universal2"])) ??
      (await fetchWheel("onnxruntime==1.22.1", ["win_amd64"])),
  );

  it.each([
    ["libcudart.so.12", "x86-64 shared object", ["cuda-runtime certain"], ["cuda"]],
    ["libcudart_static.a", "x86-64 archive", ["cuda-runtime certain"], ["cuda"]],
    ["libonnxruntime_providers_shared.so", "arm64 shared object", ["onnxruntime-provider likely"], []],
    ["libonnxruntime.1.22.1.dylib", "x86-64 shared object", ["onnxruntime certain"], []],
    ["onnxruntime.dll", "x86-64 shared object", ["onnxruntime certain"], []],
  ])("%s", async (file, kind, classes, accelerators) => {
    const analysis = await analyze(file);
    expect(`${analysis.file.architecture} ${analysis.file.kind}`).toBe(kind);
    expect(classesOf(analysis)).toEqual(classes);
    expect(analysis.verdict.accelerators).toEqual(accelerators);
  });
});
