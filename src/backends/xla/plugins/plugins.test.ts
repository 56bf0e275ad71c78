import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { compile, needsFiles, needsPrograms, packaged } from "../../../../test/libraries/fixtures/native-libraries.ts";
import { emptyBinary } from "../../../libraries/binaries/binary-file.ts";
import type { BinaryFile } from "../../../libraries/binaries/index.ts";
import { scriptedMachine } from "../../../testing/scripted-backend.ts";
import { getCandidates } from "./candidates.ts";
import { findPlugins } from "./find-plugins.ts";
import { cudaMajor, kindByTables, kindByTexts } from "./plugin-kind.ts";
import { pluginDigest } from "./plugin-digest.ts";
import { PluginReader } from "./plugin-reader.ts";
import { XlaPlugins } from "./xla-plugins.ts";

let root = "";
let folder = "";
let cases = 0;
beforeAll(() => void (root = realpathSync(mkdtempSync(join(tmpdir(), "inferyard-plugins-")))));
beforeEach(() => mkdirSync((folder = join(root, String((cases += 1))))));
afterAll(() => rmSync(root, { recursive: true }));

function write(path: string, content = ""): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const search = (environment: Record<string, string>, configured?: string): ReturnType<typeof findPlugins> =>
  findPlugins({
    environment: { PATH: "", INFERYARD_HOME: join(folder, "data"), ...environment },
    configured,
    home: join(folder, "home"),
    platform: "linux",
  });
const ownPaths = async (environment: Record<string, string>, configured?: string): Promise<string[]> =>
  (await search(environment, configured)).files
    .map(({ path }) => path)
    .filter((path) => path.startsWith(folder))
    .map((path) => path.slice(folder.length + 1));

describe("findPlugins", () => {
  it("takes files, folders and lists of a variable first, whatever the names of the files, then Python packages, then usual folders", async () => {
    write("named/anything.so");
    write("named/notes.txt");
    write("root/lib/libpjrt_cpu.so");
    write("venv/lib/python3.9/site-packages/jax_plugins/xla_cuda12/xla_cuda_plugin.so");
    for (const path of [
      "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
      "jax_plugins/xla_cuda13/_triton.so",
      "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
      "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
      "lammps_jax_pjrt_cpu-0.11.2.dist-info/pjrt_c_api_cpu_plugin.so",
      "fastatomstruct_xla_cpu/libpjrt_cpu.so",
      "libtpu/libtpu.so",
      "numpy/libpjrt_cpu.so",
    ])
      write(`venv/lib/python3.12/site-packages/${path}`);
    write("loader/libpjrt_c_api_gpu.so");
    write("loader/libz.so");
    const environment = {
      PJRT_PLUGIN_LIBRARY_PATH: [join(folder, "missing.so"), join(folder, "named")].join(delimiter),
      PJRT_ROOT: join(folder, "root"),
      VIRTUAL_ENV: join(folder, "venv"),
      LD_LIBRARY_PATH: join(folder, "loader"),
    };
    const packages = "venv/lib/python3.12/site-packages";
    expect(await ownPaths(environment)).toEqual([
      "missing.so",
      "named/anything.so",
      "root/lib/libpjrt_cpu.so",
      `${packages}/fastatomstruct_xla_cpu/libpjrt_cpu.so`,
      `${packages}/jax_plugins/xla_cuda13/xla_cuda_plugin.so`,
      `${packages}/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so`,
      `${packages}/libtpu/libtpu.so`,
      `${packages}/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so`,
      "venv/lib/python3.9/site-packages/jax_plugins/xla_cuda12/xla_cuda_plugin.so",
      "loader/libpjrt_c_api_gpu.so",
    ]);
  });

  it("looks at nothing but what the setting names", async () => {
    write("one.so");
    write("two.so");
    const environment = { PJRT_PLUGIN_LIBRARY_PATH: join(folder, "one.so") };
    const { files, locations } = await search(environment, join(folder, "two.so"));
    expect(files).toEqual([{ path: join(folder, "two.so"), foundBy: "the setting xla.plugin", isNamed: true }]);
    expect(locations).toHaveLength(1);
  });

  it("tells the interpreter of the PATH by its links, that of a virtual environment and pyenv's, without running it", async () => {
    const library = "site-packages/xla_plugins/p/p_pjrt.so";
    write("base/bin/python3.12");
    write(`base/lib/python3.12/${library}`);
    mkdirSync(join(folder, "bin"));
    symlinkSync(join(folder, "base/bin/python3.12"), join(folder, "bin/python3"));
    expect(await ownPaths({ PATH: join(folder, "bin") })).toEqual([`base/lib/python3.12/${library}`]);
    write("pyenv/shims/python3", "#!/bin/sh\nexit 3\n");
    write("pyenv/version", "3.11.7\n");
    write(`pyenv/versions/3.11.7/lib/python3.11/${library}`);
    expect(await ownPaths({ PATH: join(folder, "pyenv/shims") })).toEqual([`pyenv/versions/3.11.7/lib/python3.11/${library}`]);
  });

  it("takes a file that several paths lead to once, and reports every location", async () => {
    const file = write("real/libpjrt_cpu.so");
    symlinkSync(file, join(folder, "link.so"));
    const { files, locations } = await search({
      PJRT_PLUGIN_LIBRARY_PATH: `${join(folder, "link.so")}:${join(folder, "real")}:${folder}/none`,
    });
    expect(files.map(({ path }) => path).filter((path) => path.startsWith(folder))).toEqual([
      join(folder, "link.so"),
      `${folder}/none`,
    ]);
    const outcome = (rule: string): unknown => locations.find((each) => each.rule === rule)?.outcome;
    expect(outcome("PJRT_ROOT")).toBe("absent");
    expect(outcome("installed by inferyard backends install")).toBe("absent");
    expect(locations.filter(({ rule }) => rule === "usual folder").length).toBeGreaterThan(2);
  });
});

describe("the kind of a plugin", () => {
  const binary = (facts: Partial<BinaryFile>): BinaryFile => ({
    ...emptyBinary,
    format: "elf",
    kind: "shared object",
    architecture: "x86-64",
    bits: 64,
    byteOrder: "little",
    bytes: 1,
    ...facts,
  });
  const symbol = {
    version: undefined,
    isDefaultVersion: false,
    binding: "global",
    type: "function",
    isImported: false,
    isExported: true,
    library: undefined,
  } as const;
  it.each<[string, Partial<BinaryFile>, string | undefined]>([
    ["device code of CUDA", { sections: [".text", ".nv_fatbin"] }, "cuda"],
    ["a run path to NVIDIA's packages", { rpath: ["$ORIGIN/../nvidia/cu13/lib"] }, "cuda"],
    ["CUDA's libraries", { needed: ["libc.so.6", "libcudart.so.12"] }, "cuda"],
    ["device code of ROCm", { sections: [".hip_fatbin"] }, "rocm"],
    ["ROCm's libraries", { needed: ["libamdhip64.so.7"] }, "rocm"],
    ["functions of libtpu", { symbols: [{ ...symbol, name: "TfTpu_Initialize" }] }, "tpu"],
    ["Level Zero", { needed: ["libze_loader.so.1"] }, "oneapi"],
    ["nothing", { needed: ["libc.so.6"], sections: [".text"] }, undefined],
  ])("%s", (_what, facts, deviceType) => expect(kindByTables(binary(facts))?.deviceType).toBe(deviceType));

  it("is told by texts where tables do not", () => {
    expect(kindByTexts(Buffer.from("x\0cpu_device_count\0"))?.deviceType).toBe("cpu");
    expect(kindByTexts(Buffer.from("x\0libcuda.so.1\0"))?.deviceType).toBe("cuda");
    expect(kindByTexts(Buffer.from("x"))).toBeUndefined();
  });

  it("has CUDA's version by the folders of the run path", () => {
    expect(cudaMajor(binary({ rpath: ["$ORIGIN/../../nvidia/cu13/lib"] }))).toBe(13);
    expect(cudaMajor(binary({ runpath: ["$ORIGIN/../nvidia/cublas/lib"] }))).toBe(12);
    expect(cudaMajor(binary({}))).toBeUndefined();
  });
});

const [skipsCompiled, compiledName] = needsPrograms("plugins that gcc builds", "gcc");
const plugin = (text: string): string => `const char *text = "${text}"; const void *GetPjrtApi(void) { return text; }`;

describe.skipIf(skipsCompiled || process.platform !== "linux")(compiledName, () => {
  const build = (name: string, source: string, ...flags: string[]): string =>
    compile(folder, name, source, "-shared", "-fPIC", ...flags);

  it("are told apart by their contents, whatever their names", async () => {
    const reader = new PluginReader();
    const kind = async (path: string): Promise<unknown> => {
      const reading = await reader.read(path);
      return reading.ok ? reading.kind?.deviceType : reading.reason;
    };
    expect(await kind(build("xla_cuda_plugin.so", plugin("cpu_device_count")))).toBe("cpu");
    expect(await kind(build("libpjrt_cpu.so", plugin(""), "-Wl,-rpath,$ORIGIN/../nvidia/cu13/lib"))).toBe("cuda");
    expect(await kind(build("libtpu.so", plugin("nothing")))).toBeUndefined();
    expect(await kind(build("pjrt.so", "int x;"))).toBe("it is no PJRT plugin: it does not export GetPjrtApi");
  });

  it("are read again after a change", async () => {
    const reader = new PluginReader();
    const path = build("p.so", plugin("cpu_device_count"));
    expect(await reader.read(path)).toMatchObject({ ok: true });
    const first = reader.read(path);
    expect(await first).toBe(await reader.read(path));
    truncateSync(path, 1000);
    utimesSync(path, 1, 1);
    expect(await reader.read(path)).toMatchObject({ ok: false });
  });

  it("of the wanted class come first, a refused one is told, and the devices are those of the machine", async () => {
    build("a_cuda.so", plugin(""), "-Wl,-rpath,$ORIGIN/../nvidia/cu13/lib");
    build("b_cpu.so", plugin("cpu_device_count"));
    writeFileSync(join(folder, "c.so"), "a text");
    const plugins = new XlaPlugins(folder);
    const probe = (gpus: number): ReturnType<XlaPlugins["probe"]> => {
      const accelerators = Array.from({ length: gpus }, (_gpu, index) => ({
        device: { type: "cuda", index },
        name: "GPU",
        source: "",
      }));
      const machine = scriptedMachine({ accelerators, absent: gpus === 0 ? { cuda: "no NVIDIA driver" } : {} });
      return plugins.probe({ run: false, machine });
    };
    const summary = async (gpus: number): Promise<unknown> => {
      const found = await probe(gpus);
      return found.present ? found.devices.map(({ device, state }) => `${device.type}:${device.index} ${state}`) : found.reason;
    };
    expect(await summary(0)).toEqual(["cuda:0 absent", "cpu:0 present"]);
    expect(await summary(2)).toEqual(["cuda:0 present", "cuda:1 present", "cpu:0 present"]);
    const found = await probe(0);
    expect(found).toMatchObject({
      devices: [
        { reason: "no NVIDIA driver" },
        { warning: expect.stringContaining("c.so: it is not a native library: it is a text") as string },
      ],
    });
  });
});

describe("a file that is no plugin for this machine", () => {
  const read = async (path: string): Promise<string> => {
    const reading = await new PluginReader().read(path);
    return reading.ok ? "" : reading.reason;
  };
  it("is refused with the reason: missing, a folder, empty, a text", async () => {
    expect(await read(join(folder, "none.so"))).toBe("there is no such file");
    expect(await read(folder)).toContain("is a folder");
    expect(await read(write("empty.so"))).toContain("it is empty");
    expect(await read(write("text.so", "#!/bin/sh\n"))).toContain("it is a text");
  });

  const [skip, name] = needsFiles(
    "is refused with the reason: another architecture, another system, cut off",
    packaged.onnxRuntimeArm64,
    packaged.onnxRuntimeWindows,
  );
  it.skipIf(skip || process.platform !== "linux" || process.arch !== "x64")(name, async () => {
    expect(await read(packaged.onnxRuntimeArm64)).toContain("it is for arm64");
    expect(await read(packaged.onnxRuntimeWindows)).toContain("it is for Windows");
    const cut = join(folder, "cut.so");
    copyFileSync(packaged.onnxRuntime, cut);
    truncateSync(cut, 100_000);
    expect(await read(cut)).toContain("not a whole ELF file");
  });
});

it("the digest of a plugin is computed again only after a change of the file", async () => {
  const path = write("plugin.so", "one");
  const environment = { INFERYARD_HOME: join(folder, "data") };
  const digests = join(folder, "data/plugins/xla/digests");
  const digest = (): Promise<string> => pluginDigest(path, { environment });
  const first = await digest();
  expect(first).toBe(createHash("sha256").update("one").digest("hex"));
  const known = join(digests, readdirSync(digests)[0]!);
  const remembered = readFileSync(known, "utf8");
  writeFileSync(known, remembered.replace(first, "0".repeat(64)));
  expect(await digest()).toBe("0".repeat(64)); // not computed again
  writeFileSync(path, "two");
  utimesSync(path, 1, 1);
  expect(await digest()).toBe(createHash("sha256").update("two").digest("hex"));
  writeFileSync(known, "{");
  expect(await digest()).toBe(createHash("sha256").update("two").digest("hex"));
});

it("candidates of a class are those whose contents tell it", () => {
  const candidate = (deviceType: string | undefined): Parameters<typeof getCandidates>[1][number] => ({
    path: `/${deviceType}`,
    foundBy: "",
    isNamed: false,
    contents: { ok: true, kind: deviceType === undefined ? undefined : { deviceType, evidence: "" }, cudaMajor: undefined },
  });
  const all = [candidate("cuda"), candidate(undefined), candidate("cpu")];
  expect(getCandidates("cpu", all).map(({ path }) => path)).toEqual(["/cpu"]);
});
