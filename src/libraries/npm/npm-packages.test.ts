import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "tar";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { enginePackagesModule } from "../../../scripts/generate/engine-packages.ts";
import type { EnginePackage } from "./engine-package.ts";
import { packageName, packagesFor } from "./engine-packages.ts";
import { fetchTarball, registrySource, tarballName, unpackTarball } from "./fetch-package.ts";
import { installEngine, installedEngines } from "./install-engine.ts";
import { readNpmSettings } from "./npm-settings.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-npm-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the packages of engines", () => {
  it("are those of package-lock.json", async () => {
    const written = readFileSync("src/libraries/npm/generated-engine-packages.ts", "utf8");
    expect(await enginePackagesModule(readFileSync("package-lock.json", "utf8"))).toBe(written);
  });

  it("are the ones for a machine and an accelerator", () => {
    const natives = (accelerator?: "cuda"): string[] =>
      packagesFor("llamacpp", { platform: "linux", architecture: "x64" }, accelerator)
        .map(packageName)
        .filter((name) => name.startsWith("@node-llama-cpp/"));
    expect(natives()).toEqual(["@node-llama-cpp/linux-x64"]);
    expect(natives("cuda")).toEqual(
      ["linux-x64", "linux-x64-cuda", "linux-x64-cuda-ext"].map((name) => `@node-llama-cpp/${name}`),
    );
    const koffi = packagesFor("koffi", { platform: "win32", architecture: "x64" });
    expect(koffi.map(packageName)).toEqual(["@koromix/koffi-win32-x64", "koffi"]);
    expect(() => packagesFor("llamacpp", { platform: "linux", architecture: "arm64" }, "vulkan")).toThrow(
      "llama.cpp has no build for vulkan on linux arm64",
    );
    expect(() => packagesFor("llamacpp", { platform: "sunos", architecture: "x64" })).toThrow(
      "no build of llama.cpp for sunos x64",
    );
  });
});

describe("npm's settings", () => {
  const read = (environment: Readonly<Record<string, string>> = {}): ReturnType<typeof readNpmSettings> =>
    readNpmSettings({ environment, platform: "linux", home: join(folder, "home") }, join(folder, "project"));

  beforeAll(() => {
    for (const name of ["home", "project"]) mkdirSync(join(folder, name), { recursive: true });
    const user = ["registry=https://user.example/npm/", "//user.example/npm/:_authToken=${TOKEN}", "proxy = http://proxy:3128"];
    writeFileSync(join(folder, "home", ".npmrc"), `; a comment\n${user.join("\n")}\n`);
    writeFileSync(join(folder, "project", ".npmrc"), "@scope:registry=https://scope.example\n//scope.example/:_auth=YTpi\n");
  });

  it("name the registry of a package and what it asks for", async () => {
    const settings = await read({ TOKEN: "secret" });
    expect(settings.registryOf("koffi")).toBe("https://user.example/npm");
    expect(settings.registryOf("@scope/name")).toBe("https://scope.example");
    expect(settings.authorizationOf("https://user.example/npm/koffi/-/koffi-1.0.0.tgz")).toBe("Bearer secret");
    expect(settings.authorizationOf("https://scope.example/x")).toBe("Basic YTpi");
    expect(settings.authorizationOf("https://user.example/other/x")).toBeUndefined();
    expect(settings.proxy).toBe("http://proxy:3128");
  });

  it("take variables first", async () => {
    const settings = await read({
      TOKEN: "secret",
      npm_config_registry: "https://variable.example",
      npm_config_https_proxy: "http://p",
    });
    expect(settings.registryOf("koffi")).toBe("https://variable.example");
    expect(settings.proxy).toBe("http://p");
  });

  it("may not name a variable that is not set", async () => {
    await expect(read()).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("TOKEN") });
  });
});

describe("tarballs", () => {
  let entry: EnginePackage;
  let tarball: Buffer;
  const requests: { url: string; authorization: string | undefined }[] = [];
  let answer = (): Buffer => tarball;
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? "", authorization: request.headers.authorization });
    response.end(answer());
  });

  beforeAll(async () => {
    const made = join(folder, "made");
    const other = process.platform === "win32" ? "linux" : "win32";
    for (const platform of [process.platform, other]) {
      mkdirSync(join(made, "package", "bin", "napi-v6", platform, process.arch), { recursive: true });
      writeFileSync(join(made, "package", "bin", "napi-v6", platform, process.arch, "library"), platform);
    }
    writeFileSync(
      join(made, "package", "package.json"),
      '{"name":"@scope/name","version":"1.2.3","scripts":{"install":"exit 1"}}',
    );
    await create({ file: join(folder, "made.tgz"), cwd: made, gzip: true }, ["package"]);
    tarball = readFileSync(join(folder, "made.tgz"));
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    entry = { path: "node_modules/@scope/name", version: "1.2.3", integrity };
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterEach(() => {
    requests.length = 0;
    answer = () => tarball;
  });
  afterAll(() => server.close());

  const fetchTo = async (target: string): Promise<void> => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/npm`;
    const environment = { npm_config_registry: url, [`npm_config_//${new URL(url).host}/npm/:_authToken`]: "secret" };
    const settings = await readNpmSettings({ environment, platform: "linux", home: folder }, folder);
    await fetchTarball(entry, await registrySource(settings, {}), target, { onBytes: () => undefined });
  };

  it("come from the registry with its token, and once", async () => {
    const target = join(folder, tarballName(entry));
    await fetchTo(target);
    await fetchTo(target);
    expect(requests).toEqual([{ url: "/npm/@scope/name/-/name-1.2.3.tgz", authorization: "Bearer secret" }]);
    await unpackTarball(entry, target, join(folder, "unpacked"), { platform: process.platform, architecture: process.arch });
    const unpacked = join(folder, "unpacked", "node_modules", "@scope", "name");
    expect(readFileSync(join(unpacked, "bin", "napi-v6", process.platform, process.arch, "library"), "utf8")).toBe(
      process.platform,
    );
    const other = process.platform === "win32" ? "linux" : "win32";
    expect(() => readFileSync(join(unpacked, "bin", "napi-v6", other, process.arch, "library"))).toThrow("ENOENT");
  });

  it("with another digest are refused and not kept", async () => {
    answer = () => Buffer.from("something else");
    const target = join(folder, "wrong.tgz");
    await expect(fetchTo(target)).rejects.toMatchObject({
      code: "DOWNLOAD_FAILED",
      message: expect.stringContaining("its digest is not"),
    });
    expect(() => readFileSync(target)).toThrow("ENOENT");
  });

  it("come from a folder, and a missing one is named with the command that makes it", async () => {
    const environment = { INFERYARD_HOME: join(folder, "data") };
    const installing = installEngine({ engine: "onnx", from: folder, offline: true, directory: folder, environment });
    await expect(installing).rejects.toMatchObject({
      code: "DOWNLOAD_FAILED",
      message: expect.stringMatching(/^there is no onnxruntime-(?:common|node)-.*\.tgz in /),
      remedy: expect.stringMatching(/^npm pack onnxruntime-/),
    });
    expect(await installedEngines(environment)).toEqual([]);
  });
});
