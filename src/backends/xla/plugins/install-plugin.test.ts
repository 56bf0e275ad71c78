/** Plugins are installed from an index that a server on this machine has, and from files; hostile ones leave nothing. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ZipPart, wheelBytes, zipBytes } from "../../../../test/fixtures/zip-bytes.ts";
import { compile, needsPrograms } from "../../../../test/libraries/fixtures/native-libraries.ts";
import { type InstallOptions, type InstallReport, installPlugin, removePlugins } from "./install-plugin.ts";
import { installedPlugins } from "./installed-plugins.ts";

const [skips, name] = needsPrograms("plugins from an index of packages", "gcc");
const tag = "py3-none-manylinux_2_17_x86_64";
const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** What the server has: pages and files by path. */
type Pages = Map<string, { readonly type?: string; readonly body: Buffer | string; readonly location?: string }>;

describe.skipIf(skips || process.platform !== "linux" || process.arch !== "x64")(name, () => {
  let root = "";
  let folder = "";
  let server: Server;
  let url = "";
  let cases = 0;
  let cpu: Buffer;
  let cuda: Buffer;
  const pages: Pages = new Map();
  const requests: { readonly path: string; readonly authorization: string | undefined }[] = [];

  const answer = ({ url: path = "", headers }: IncomingMessage, response: ServerResponse): void => {
    requests.push({ path, authorization: headers.authorization });
    const page = pages.get(path);
    if (page === undefined) return void response.writeHead(404).end();
    if (page.location !== undefined) return void response.writeHead(302, { location: page.location }).end();
    response.writeHead(200, { "content-type": page.type ?? "application/octet-stream" }).end(page.body);
  };
  beforeAll(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "inferyard-install-")));
    const source = (text: string): string => `const char *text = "${text}"; const void *GetPjrtApi(void) { return text; }`;
    cpu = readFileSync(compile(root, "cpu.so", source("cpu_device_count"), "-shared", "-fPIC"));
    cuda = readFileSync(compile(root, "cuda.so", source(""), "-shared", "-fPIC", "-Wl,-rpath,$ORIGIN/../nvidia/cu13/lib"));
    server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    folder = join(root, String((cases += 1)));
    mkdirSync(folder);
    pages.clear();
    requests.length = 0;
  });
  afterAll(() => {
    server.close();
    rmSync(root, { recursive: true });
  });

  const environment = (more: Record<string, string> = {}): Record<string, string> => ({
    INFERYARD_HOME: join(folder, "home"),
    PIP_CONFIG_FILE: "/dev/null",
    PIP_INDEX_URL: `${url}/simple`,
    ...more,
  });
  const install = (options: Partial<InstallOptions> = {}): Promise<InstallReport> =>
    installPlugin({ offline: false, directory: folder, environment: environment(), ...options });
  const installed = async (): Promise<string[]> =>
    (await installedPlugins({ environment: environment() })).plugins.map(
      ({ accelerator, version }) => `${accelerator} ${version}`,
    );
  /** Files below the data folder. */
  const left = (): string[] => {
    const home = join(folder, "home");
    return existsSync(home)
      ? readdirSync(home, { recursive: true, withFileTypes: true })
          .filter((each) => each.isFile())
          .map((each) => each.name)
          .toSorted()
      : [];
  };
  const library = (content: Buffer, path = "p/plugin.so"): ZipPart => ({ name: path, content });
  const wheel = (version = "1.0", content = cpu): Buffer =>
    wheelBytes(
      "lammps-jax-pjrt-cpu",
      version,
      [library(content), { name: "p/__init__.py", content: "" }],
      "License-Expression: Apache-2.0\n",
    );
  const fileName = (version = "1.0", tags = tag): string => `lammps_jax_pjrt_cpu-${version}-${tags}.whl`;
  /** Puts files on the index in the JSON form. */
  function publish(
    files: readonly { readonly name: string; readonly bytes: Buffer; readonly yanked?: boolean; readonly sha256?: string }[],
    project = "lammps-jax-pjrt-cpu",
  ): void {
    for (const { name: file, bytes } of files) pages.set(`/files/${file}`, { body: bytes });
    const body = JSON.stringify({
      meta: { "api-version": "1.1" },
      files: files.map(({ name: file, bytes, yanked = false, ...stated }) => ({
        filename: file,
        url: `../../files/${file}`,
        hashes: { sha256: stated.sha256 ?? sha256(bytes) },
        size: bytes.length,
        yanked,
      })),
    });
    pages.set(`/simple/${project}/`, { type: "application/vnd.pypi.simple.v1+json", body });
  }
  const write = (file: string, bytes: Buffer): string => {
    writeFileSync(join(folder, file), bytes);
    return file;
  };

  it("are unpacked and recorded, and nothing else of the wheel; the same one is not fetched again", async () => {
    publish([{ name: fileName(), bytes: wheel() }]);
    const report = await install();
    expect(report).toMatchObject({
      backend: "xla",
      accelerator: "cpu",
      package: "lammps-jax-pjrt-cpu",
      version: "1.0",
      license: "Apache-2.0",
      sha256: sha256(cpu),
      bytes: cpu.length,
      isUnchanged: false,
    });
    expect(sha256(readFileSync(report.path))).toBe(report.sha256);
    expect(left()).toEqual(["cpu.json", "plugin.so"]);
    requests.length = 0;
    expect(await install()).toMatchObject({ isUnchanged: true, path: report.path });
    expect(requests.map(({ path }) => path)).toEqual(["/simple/lammps-jax-pjrt-cpu/"]);
    rmSync(report.path);
    expect(await install()).toMatchObject({ isUnchanged: false, path: report.path });
    expect(existsSync(report.path)).toBe(true);
  });

  it("come from a page in HTML of an index with a password, which other hosts are not sent", async () => {
    const bytes = wheel();
    const elsewhere = url.replace("127.0.0.1", "localhost");
    pages.set("/private/lammps-jax-pjrt-cpu/", {
      type: "text/html",
      body: `<!DOCTYPE html><html><body><a data-requires-python="&gt;=3" href="/moved/${fileName()}#sha256=${sha256(bytes)}">x</a></body></html>`,
    });
    pages.set(`/moved/${fileName()}`, { body: "", location: `${elsewhere}/files/${fileName()}` });
    pages.set(`/files/${fileName()}`, { body: bytes });
    await install({ environment: environment({ PIP_INDEX_URL: url.replace("//", "//user:pass%20word@").concat("/private/") }) });
    const basic = `Basic ${Buffer.from("user:pass word").toString("base64")}`;
    expect(requests.map(({ path, authorization }) => [path.split("/")[1], authorization])).toEqual([
      ["private", basic],
      ["moved", basic],
      ["files", undefined],
    ]);
  });

  it("are the newest release that fits this machine; other indexes and packages follow", async () => {
    publish([
      { name: fileName("1.9"), bytes: wheel("1.9") },
      { name: fileName("1.10"), bytes: wheel("1.10") },
      { name: fileName("1.11", "py3-none-manylinux_2_17_aarch64"), bytes: wheel("1.11") },
      { name: fileName("1.12", "py3-none-musllinux_1_2_x86_64"), bytes: wheel("1.12") },
      { name: fileName("1.13", "py3-none-manylinux_2_99_x86_64"), bytes: wheel("1.13") },
      { name: fileName("1.14"), bytes: wheel("1.14"), yanked: true },
      { name: fileName("1.15rc1"), bytes: wheel("1.15rc1") },
      { name: fileName("1.16", "py3-none-win_amd64"), bytes: wheel("1.16") },
    ]);
    expect(await install()).toMatchObject({ version: "1.10" });
    publish([{ name: fileName("9.0", "py3-none-macosx_11_0_arm64"), bytes: wheel() }]);
    publish(
      [{ name: `xla_cpu_pjrt-0.0.1-${tag}.whl`, bytes: wheelBytes("xla_cpu_pjrt", "0.0.1", [library(cpu)]) }],
      "xla-cpu-pjrt",
    );
    expect(await install()).toMatchObject({ package: "xla_cpu_pjrt", version: "0.0.1" });
    publish([], "xla-cpu-pjrt");
    await expect(install()).rejects.toMatchObject({
      code: "LIBRARY_INCOMPATIBLE",
      message: expect.stringContaining("it is for macosx_11_0_arm64, and this is linux") as string,
    });
    await expect(install({ accelerator: "tpu" })).rejects.toMatchObject({
      code: "DOWNLOAD_FAILED",
      message: expect.stringContaining("no wheels of the package libtpu") as string,
    });
    expect(await installed()).toEqual(["cpu 0.0.1"]);
  });

  it("come from a wheel, a folder, the URL of a wheel, and of an index", async () => {
    const file = write(fileName("2.0"), wheel("2.0"));
    expect(await install({ from: file, offline: true })).toMatchObject({ accelerator: "cpu", version: "2.0" });
    expect(await install({ from: ".", offline: true })).toMatchObject({ version: "2.0" });
    publish([{ name: fileName("3.0"), bytes: wheel("3.0") }]);
    expect(await install({ from: `${url}/files/${fileName("3.0")}#sha256=${sha256(wheel("3.0"))}` })).toMatchObject({
      version: "3.0",
    });
    expect(await install({ from: `${url}/simple`, environment: environment({ PIP_NO_INDEX: "1" }) })).toMatchObject({
      version: "3.0",
    });
    expect(
      await install({ from: write(`jax_cuda13_pjrt-1.0-${tag}.whl`, wheelBytes("jax-cuda13-pjrt", "1.0", [library(cuda)])) }),
    ).toMatchObject({ accelerator: "cuda13", companions: expect.arrayContaining(["nvidia-cublas"]) as string[] });
    expect(await installed()).toEqual(["cpu 3.0", "cuda13 1.0"]);
    await expect(install({ offline: true })).rejects.toMatchObject({ code: "DOWNLOAD_FAILED" });
    await expect(install({ from: "none.whl" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(install({ from: "http://127.0.0.1.example/simple" })).rejects.toMatchObject({
      message: expect.stringContaining("not protected by TLS") as string,
    });
  });

  it("replace those before them, are installed once by two at the same time, and are removed", async () => {
    const other = Buffer.concat([cpu, Buffer.from("more")]);
    await install({ from: write(fileName("1.0"), wheel("1.0")) });
    await install({ from: write(fileName("2.0"), wheel("2.0", other)) });
    expect(left()).toEqual(["cpu.json", "plugin.so"]);
    publish([{ name: fileName("4.0"), bytes: wheel("4.0") }]);
    const both = await Promise.all([install(), install()]);
    expect(both.map(({ isUnchanged }) => isUnchanged).toSorted()).toEqual([false, true]);
    expect(left()).toEqual(["cpu.json", "plugin.so"]);
    expect(await removePlugins("cpu", environment())).toMatchObject({ removed: [{ version: "4.0" }], freedBytes: cpu.length });
    expect(left()).toEqual([]);
    await expect(removePlugins(undefined, environment())).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("with another digest or size than the index states are refused, and what was installed stays", async () => {
    await install({ from: write(fileName("1.0"), wheel("1.0")) });
    const before = left();
    publish([{ name: fileName("2.0"), bytes: wheel("2.0"), sha256: "0".repeat(64) }]);
    await expect(install()).rejects.toMatchObject({
      code: "DOWNLOAD_FAILED",
      message: expect.stringContaining("the index states 0000") as string,
    });
    publish([{ name: fileName("2.0"), bytes: wheel("2.0") }]);
    pages.set(`/files/${fileName("2.0")}`, { body: Buffer.concat([wheel("2.0"), Buffer.from("x")]) });
    await expect(install()).rejects.toMatchObject({ code: "DOWNLOAD_FAILED" });
    pages.set("/simple/lammps-jax-pjrt-cpu/", { type: "application/json", body: "no JSON" });
    await expect(install()).rejects.toMatchObject({
      code: "DOWNLOAD_FAILED",
      message: expect.stringContaining("no page of an index") as string,
    });
    expect(left()).toEqual(before);
    expect(await installed()).toEqual(["cpu 1.0"]);
  });

  const zeros = Buffer.alloc(20 << 20);
  it.each<[string, string, () => Buffer, Partial<InstallOptions>?]>([
    [
      "a name that leads out of the folder",
      "INPUT_INVALID",
      () => wheelBytes("p", "1", [library(cpu), { name: "../../evil.so", content: cpu }]),
    ],
    ["an absolute name", "INPUT_INVALID", () => wheelBytes("p", "1", [library(cpu), { name: "/tmp/evil.so", content: cpu }])],
    ["a link", "INPUT_INVALID", () => wheelBytes("p", "1", [{ name: "p/plugin.so", content: "/etc/passwd", mode: 0o120777 }])],
    ["an entry twice", "INPUT_INVALID", () => wheelBytes("p", "1", [library(cpu), library(cuda)])],
    ["an encrypted entry", "INPUT_INVALID", () => wheelBytes("p", "1", [{ ...library(cpu), flags: 1 }])],
    ["an unknown compression", "INPUT_INVALID", () => wheelBytes("p", "1", [{ ...library(cpu), method: 14 }])],
    [
      "another name in the entry's own header",
      "INPUT_INVALID",
      () => wheelBytes("p", "1", [{ ...library(cpu), localName: "q/plugin.so" }]),
    ],
    ["a wrong checksum", "INPUT_INVALID", () => wheelBytes("p", "1", [{ ...library(cpu), crc: 1 }])],
    ["more bytes than stated", "INPUT_INVALID", () => wheelBytes("p", "1", [{ ...library(cpu), bytes: 5000 }])],
    ["fewer bytes than stated", "INPUT_INVALID", () => wheelBytes("p", "1", [{ ...library(cpu), bytes: cpu.length + 1 }])],
    ["a bomb", "LIMIT_EXCEEDED", () => wheelBytes("p", "1", [library(Buffer.concat([cpu, zeros]))])],
    ["a size beyond every library's", "LIMIT_EXCEEDED", () => wheelBytes("p", "1", [{ ...library(cpu), bytes: 0xf0000000 }])],
    [
      "zeros in the place of a library",
      "LIBRARY_INCOMPATIBLE",
      () => wheelBytes("p", "1", [library(zeros.subarray(0, 100_000))]),
    ],
    ["no library", "LIBRARY_INCOMPATIBLE", () => wheelBytes("p", "1", [{ name: "p/a.py", content: "" }])],
    [
      "a library that is no plugin",
      "LIBRARY_INCOMPATIBLE",
      () => wheelBytes("p", "1", [library(readFileSync(compile(folder, "x.so", "int x;", "-shared", "-fPIC")))]),
    ],
    ["a plugin of another class", "LIBRARY_INCOMPATIBLE", () => wheelBytes("p", "1", [library(cuda)]), { accelerator: "cpu" }],
    [
      "a library that its RECORD contradicts",
      "INPUT_INVALID",
      () =>
        zipBytes([
          library(cpu),
          { name: "p-1.dist-info/METADATA", content: "Name: p\nVersion: 1\n" },
          { name: "p-1.dist-info/RECORD", content: `p/plugin.so,sha256=${"A".repeat(43)},1\n` },
        ]),
    ],
    ["no METADATA", "INPUT_INVALID", () => zipBytes([library(cpu)])],
    ["a version that is a path", "INPUT_INVALID", () => wheelBytes("p", "../x", [library(cpu)])],
    ["a list that is cut off", "INPUT_INVALID", () => wheel().subarray(0, -300)],
    ["a text", "INPUT_INVALID", () => Buffer.from("no archive")],
    ["nothing", "INPUT_INVALID", () => Buffer.alloc(0)],
  ])("a wheel with %s is refused, and leaves nothing", async (_what, code, bytes, options = {}) => {
    await expect(install({ from: write("plugin.whl", bytes()), ...options })).rejects.toMatchObject({
      name: "InferyardError",
      code,
    });
    expect(left()).toEqual([]);
    expect(existsSync("/tmp/evil.so") || existsSync(join(folder, "evil.so"))).toBe(false);
  });

  it("that another user could have replaced are not used", async () => {
    const before = process.umask(0o002);
    const report = await install({ from: write("plugin.whl", wheel()) }).finally(() => process.umask(before));
    expect(await installed()).toEqual(["cpu 1.0"]);
    chmodSync(report.path, 0o666);
    expect(await installedPlugins({ environment: environment() })).toMatchObject({
      plugins: [],
      damaged: [{ problem: `another user can write ${report.path}` }],
    });
  });

  it("of a wheel that is cut anywhere are refused, or whole", async () => {
    const bytes = wheel();
    for (let index = 1; index < 12; index += 1) {
      const from = write("plugin.whl", bytes.subarray(0, Math.floor((bytes.length * index) / 12)));
      await expect(install({ from })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    }
    expect(left()).toEqual([]);
  });
});

describe("records", () => {
  it.each<[string, object | string]>([
    ["is no JSON", "{"],
    ["lacks a field", { accelerator: "cpu" }],
    [
      "is of another accelerator",
      { accelerator: "tpu", package: "p", version: "1", path: "cpu/x/p.so", sha256: "0".repeat(64), bytes: 1 },
    ],
    [
      "names a library elsewhere",
      { accelerator: "cpu", package: "p", version: "1", path: "../../p.so", sha256: "0".repeat(64), bytes: 1 },
    ],
    [
      "names a library at the root",
      { accelerator: "cpu", package: "p", version: "1", path: "/lib/p.so", sha256: "0".repeat(64), bytes: 1 },
    ],
  ])("that %s is told as damaged", async (_what, content) => {
    const home = mkdtempSync(join(tmpdir(), "inferyard-records-"));
    try {
      mkdirSync(join(home, "plugins/xla"), { recursive: true });
      writeFileSync(join(home, "plugins/xla/cpu.json"), typeof content === "string" ? content : JSON.stringify(content));
      const { plugins, damaged } = await installedPlugins({ environment: { INFERYARD_HOME: home } });
      expect([plugins.length, damaged.length]).toEqual([0, 1]);
    } finally {
      rmSync(home, { recursive: true });
    }
  });
});
