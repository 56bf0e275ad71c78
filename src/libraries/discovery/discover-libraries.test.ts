import { execFileSync, spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { discoverLibraries, type Discovery } from "./index.ts";

const repository = fileURLToPath(new URL("../../../", import.meta.url));

const hasCompiler = process.platform === "linux" && spawnSync("gcc", ["--version"]).status === 0;

let root = "";
let folder = "";
beforeAll(async () => void (root = await realpath(await mkdtemp(join(tmpdir(), "inferyard-discovery-")))));
beforeEach(async () => void (folder = await mkdtemp(join(root, "case-"))));
afterAll(async () => await rm(root, { recursive: true }));

async function write(path: string, content = path): Promise<string> {
  const file = join(folder, path);
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, content);
  return file;
}

/** What was found below the folder of the test, and what is said of locations by one rule. */
function own(discovery: Discovery, rule: string): { paths: string[]; locations: [string, string, number][] } {
  return {
    paths: discovery.libraries.filter(({ path }) => path.startsWith(folder)).map(({ path }) => path.slice(folder.length + 1)),
    locations: discovery.locations
      .filter((location) => location.rule === rule)
      .map(({ path = "", outcome, libraries }) => [path.slice(folder.length + 1), outcome, libraries]),
  };
}

describe("discoverLibraries", () => {
  it("finds libraries in the build folders of a source tree, and reports every folder", async () => {
    await write("build/3rdparty/llama.cpp/src/libllama.so");
    await write("build/3rdparty/llama.cpp/ggml/src/ggml-cuda/libggml-cuda.so");
    await write("build/bin/readme.txt");
    const found = own(await discoverLibraries({ environment: { BITNET_CPP_DIR: folder }, directory: folder }), "BITNET_CPP_DIR");
    expect(found.paths).toEqual([
      "build/3rdparty/llama.cpp/src/libllama.so",
      "build/3rdparty/llama.cpp/ggml/src/ggml-cuda/libggml-cuda.so",
    ]);
    expect(found.locations).toContainEqual(["build/3rdparty/llama.cpp/src", "found", 1]);
    expect(found.locations).toContainEqual(["build/bin", "empty", 0]);
    expect(found.locations).toContainEqual(["build/lib", "absent", 0]);
  });

  it("reports variables that are not set", async () => {
    const { locations } = await discoverLibraries({ environment: { LLAMA_CPP_DIR: "" }, directory: folder });
    expect(locations.find(({ rule }) => rule === "LLAMA_CPP_DIR")).toEqual({
      rule: "LLAMA_CPP_DIR",
      outcome: "absent",
      libraries: 0,
      notes: ["the variable is not set"],
    });
  });

  it("takes several folders and files of a variable, relative ones from the directory", async () => {
    await write("one/plugin.bin");
    await write("two/pjrt_c_api_cpu_plugin.so");
    const environment = { PJRT_PLUGIN_LIBRARY_PATH: ["one/plugin.bin", join(folder, "two"), "two"].join(delimiter) };
    const found = own(await discoverLibraries({ environment, directory: folder }), "PJRT_PLUGIN_LIBRARY_PATH");
    expect(found.paths).toEqual(["one/plugin.bin", "two/pjrt_c_api_cpu_plugin.so"]);
  });

  it("has a library once, with all paths and rules that lead to it", async () => {
    const file = await write("real/libllama.so.1");
    await mkdir(join(folder, "lib"));
    await symlink("../real/libllama.so.1", join(folder, "lib/libllama.so"));
    const environment = { LLAMA_CPP_DIR: folder, BITNET_CROSSVAL_LIBDIR: "real" };
    const { libraries } = await discoverLibraries({ environment, directory: folder });
    expect(libraries.filter(({ path }) => path.startsWith(folder))).toEqual([
      {
        path: file,
        paths: [file, join(folder, "lib/libllama.so")],
        bytes: 18,
        foundBy: ["BITNET_CROSSVAL_LIBDIR", "LLAMA_CPP_DIR"],
      },
    ]);
  });

  it("says which names lead nowhere", async () => {
    await symlink("nowhere.so", join(folder, "libllama.so"));
    const { locations } = await discoverLibraries({ environment: { BITNET_CROSSVAL_LIBDIR: folder }, directory: folder });
    const location = locations.find(({ rule }) => rule === "BITNET_CROSSVAL_LIBDIR");
    expect(location).toMatchObject({ outcome: "empty", libraries: 0, notes: [expect.stringContaining("ENOENT") as string] });
  });

  it("finds the libraries of npm packages, with the package's version", async () => {
    const library = "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/libllama.so";
    await write(library);
    await write("node_modules/@node-llama-cpp/linux-x64/package.json", '{"name":"@node-llama-cpp/linux-x64","version":"3.1.2"}');
    await write("node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1");
    await write("node_modules/onnxruntime-node/package.json", "no JSON");
    const found = await discoverLibraries({ environment: {}, directory: folder });
    expect(found.libraries.find(({ path }) => path === join(folder, library))?.package).toEqual({
      name: "@node-llama-cpp/linux-x64",
      version: "3.1.2",
    });
    expect(own(found, "").paths).toHaveLength(2);
  });

  it("finds the packages that this repository has installed", async () => {
    const { libraries } = await discoverLibraries({ environment: {}, directory: repository });
    const packages = new Set(libraries.map((library) => library.package?.name));
    expect(packages).toContain("onnxruntime-node");
    expect([...packages].some((name) => name?.startsWith("@node-llama-cpp/"))).toBe(true);
  });

  it.skipIf(process.platform !== "linux")("looks at the loader's cache and folders", async () => {
    const { locations } = await discoverLibraries({ environment: {}, directory: folder });
    expect(locations.map(({ rule }) => rule)).toEqual(
      expect.arrayContaining(["cache of the loader", "default folder of the loader", "npm package"]),
    );
  });

  it.skipIf(!hasCompiler)("follows the run paths of libraries, also of those found there", async () => {
    await write("deeper/libggml-base.so");
    const build = (target: string, runPath: string): void => {
      execFileSync("gcc", ["-shared", "-o", join(folder, target), "-x", "c", "/dev/null", `-Wl,-rpath,${runPath}`]);
    };
    await write("near/readme.txt");
    await write("start/readme.txt");
    build("near/libggml.so", join(folder, "deeper"));
    build("start/libllama.so", "$ORIGIN/../near:relative:$LIB/other");
    const discovery = await discoverLibraries({ environment: { BITNET_CROSSVAL_LIBDIR: "start" }, directory: folder });
    expect(own(discovery, "").paths).toEqual(["start/libllama.so", "near/libggml.so", "deeper/libggml-base.so"]);
    const rule = `run path of ${join(folder, "start/libllama.so")}`;
    expect(own(discovery, rule).locations).toEqual([["near", "found", 1]]);
  });

  it("looks at Python packages only when asked: of a folder, or of an interpreter", async () => {
    const library = "packages/nvidia/cublas/lib/libcublas.so.12";
    await write(library);
    const interpreter = await write("python", `#!/bin/sh\necho '["${join(folder, "packages")}"]'\n`);
    await chmod(interpreter, 0o755);
    const environment = {};
    expect(own(await discoverLibraries({ environment, directory: folder }), "").paths).toEqual([]);
    for (const python of ["packages", "python"])
      expect(own(await discoverLibraries({ environment, directory: folder, python }), "").paths).toEqual([library]);
    await symlink(interpreter, join(folder, "python3"));
    const onPath = await discoverLibraries({ environment: { PATH: folder }, directory: folder, python: true });
    expect(own(onPath, "").paths).toEqual([library]);
  });

  it("refuses a Python that is not there, fails or prints something else", async () => {
    const find = (python: string | true): Promise<Discovery> => discoverLibraries({ environment: {}, directory: folder, python });
    const failing = await write("failing", "#!/bin/sh\necho no such module >&2\nexit 3\n");
    const talking = await write("talking", "#!/bin/sh\necho hello\n");
    for (const program of [failing, talking]) await chmod(program, 0o755);
    const refused = (message: string): object => ({
      code: "INPUT_INVALID",
      message: expect.stringContaining(message) as string,
    });
    await expect(find("none")).rejects.toMatchObject(refused("no file or folder none"));
    await expect(find(true)).rejects.toMatchObject(refused("no python3 on the PATH"));
    await expect(find("failing")).rejects.toMatchObject(refused("no such module"));
    await expect(find("talking")).rejects.toMatchObject(refused("printed no list of folders"));
  });

  it.skipIf(!hasCompiler)("searches a folder once, and a limited number of folders that run paths name", async () => {
    const folders = Array.from({ length: 30 }, (_, index) => join(folder, `p${index}`));
    for (let index = 0; index < 8; index++) {
      const runPath = folders.map((path) => `${path}/${index}`).join(":");
      const file = join(folder, `libggml-${index}.so`);
      execFileSync("gcc", ["-shared", "-nostdlib", "-o", file, "-x", "c", "/dev/null", `-Wl,-rpath,${runPath}:$ORIGIN`]);
    }
    const { locations } = await discoverLibraries({ environment: { BITNET_CROSSVAL_LIBDIR: folder }, directory: folder });
    const named = locations.filter(({ rule }) => rule.startsWith("run path of "));
    expect(new Set(named.map(({ path }) => path)).size).toBe(named.length);
    expect(named.length).toBe(200);
    expect(named.some(({ path }) => path === folder)).toBe(false);
  });

  it("ends when it is aborted", async () => {
    await expect(discoverLibraries({ environment: {}, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
  });
});
