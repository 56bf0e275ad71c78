import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type PipSettings, parseIni, readPipSettings } from "./pip-settings.ts";
import { parseIndexPage } from "./simple-index.ts";
import { type WheelMachine, compareWheelVersions, isPreRelease, parseWheelName, wheelMisfit } from "./wheel-name.ts";

const linux: WheelMachine = { platform: "linux", architecture: "x64", libc: { name: "glibc", version: "2.36" } };

describe("the name of a wheel", () => {
  it("has package, version and platforms", () => {
    expect(parseWheelName("jax_rocm7_pjrt-0.9.2b1-py3-none-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl")).toEqual({
      package: "jax-rocm7-pjrt",
      version: "0.9.2b1",
      platforms: ["manylinux_2_27_x86_64", "manylinux_2_28_x86_64"],
    });
    expect(parseWheelName("a-1-1-py3-none-any.whl")?.platforms).toEqual(["any"]);
    for (const other of ["a.whl", "a-1-py3-none.whl", "a-1-py3-none-any.zip", "a-b-py3-none-any.whl"])
      expect(parseWheelName(other)).toBeUndefined();
  });

  it.each<[string, WheelMachine, string | undefined]>([
    ["any", linux, undefined],
    ["manylinux_2_27_x86_64", linux, undefined],
    ["manylinux2014_x86_64", linux, undefined],
    ["manylinux1_x86_64", linux, undefined],
    ["linux_x86_64", linux, undefined],
    ["manylinux_2_40_x86_64.manylinux_2_17_x86_64", linux, undefined],
    ["manylinux_2_40_x86_64", linux, "it needs glibc 2.40, and this machine has 2.36"],
    ["manylinux_2_17_aarch64", linux, "it is for aarch64, and this is x64"],
    ["musllinux_1_2_x86_64", linux, "it is for musl, and this program uses glibc"],
    ["win_amd64", linux, "it is for win_amd64, and this is linux"],
    ["macosx_11_0_arm64", { platform: "darwin", architecture: "arm64" }, undefined],
    ["macosx_10_9_universal2", { platform: "darwin", architecture: "x64" }, undefined],
    ["win_amd64", { platform: "win32", architecture: "x64" }, undefined],
    ["manylinux_2_17_aarch64", { ...linux, architecture: "arm64" }, undefined],
  ])("%s", (tags, machine, reason) => {
    expect(wheelMisfit({ package: "p", version: "1", platforms: tags.split(".") }, machine)).toBe(reason);
  });

  it("orders versions as PEP 440 does", () => {
    const ordered = [
      "0.9",
      "0.9.2.dev1",
      "0.9.2a1",
      "0.9.2b1",
      "0.9.2rc1",
      "0.9.2",
      "0.9.2.post1",
      "0.10",
      "0.11.2",
      "2026.6.23",
      "1!0.1",
    ];
    expect(ordered.toReversed().toSorted(compareWheelVersions)).toEqual(ordered);
    expect(compareWheelVersions("1.0", "1.0.0+local")).toBe(0);
    expect(ordered.filter(isPreRelease)).toEqual(["0.9.2.dev1", "0.9.2a1", "0.9.2b1", "0.9.2rc1"]);
  });
});

describe("pip's settings", () => {
  let home = "";
  beforeEach(() => void (home = mkdtempSync(join(tmpdir(), "inferyard-pip-"))));
  afterEach(() => rmSync(home, { recursive: true }));
  const write = (path: string, text: string): string => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
    return join(home, path);
  };
  const read = (environment: Record<string, string> = {}): Promise<PipSettings> =>
    readPipSettings({ environment: { XDG_CONFIG_DIRS: join(home, "none"), ...environment }, platform: "linux", home });

  it("are those of files, the more specific ones first, and of variables before all", async () => {
    write(".pip/pip.conf", "[global]\nindex-url = https://old.example/simple\ncert = /old.pem\n");
    write(
      ".config/pip/pip.conf",
      "# comment\n[global]\nindex_url: https://user.example/simple\nextra-index-url =\n    https://one.example\n    https://two.example\n[install]\nno-index = false\ntrusted-host = a:80 b\n",
    );
    expect(await read()).toMatchObject({
      indexes: ["https://user.example/simple", "https://one.example", "https://two.example"],
      certificates: "/old.pem",
      trustedHosts: ["a:80", "b"],
    });
    write("venv/pip.conf", "[install]\nindex-url = https://venv.example/simple\n");
    const virtual = { VIRTUAL_ENV: join(home, "venv") };
    expect((await read(virtual)).indexes[0]).toBe("https://venv.example/simple");
    const named = write("named.conf", "[global]\nextra-index-url = https://named.example\n[install]\nproxy = http://proxy:1\n");
    expect(await read({ ...virtual, PIP_CONFIG_FILE: named })).toMatchObject({
      indexes: ["https://venv.example/simple", "https://named.example"],
      proxy: "http://proxy:1",
    });
    expect((await read({ ...virtual, PIP_INDEX_URL: "https://variable.example" })).indexes[0]).toBe("https://variable.example");
    expect((await read({ PIP_NO_INDEX: "1", PIP_FIND_LINKS: "/wheels https://x.example" })).findLinks).toEqual([
      "/wheels",
      "https://x.example",
    ]);
    expect((await read({ PIP_NO_INDEX: "true" })).indexes).toEqual([]);
    expect((await read({ PIP_CONFIG_FILE: "/dev/null" })).indexes).toEqual(["https://pypi.org/simple"]);
  });

  it("without a section or a value are none", () => {
    expect([...parseIni("name = value\n[a]\nflag\n; x\n b = 1\n").get("a")!]).toEqual([["b", "1"]]);
  });
});

describe("a page of an index", () => {
  const digest = "a".repeat(64);
  it("in JSON has files with the strongest digest, and leaves out what is malformed", () => {
    const files = [
      {
        filename: "a-1-py3-none-any.whl",
        url: "../f/a.whl",
        hashes: { md5: "b".repeat(32), sha256: digest.toUpperCase() },
        size: 3,
        yanked: "broken",
      },
      { filename: "b", url: "http://[", hashes: {} },
      null,
      { filename: 1 },
    ];
    expect(
      parseIndexPage(JSON.stringify({ files }), "https://x.example/simple/a/", "application/vnd.pypi.simple.v1+json"),
    ).toEqual([
      {
        name: "a-1-py3-none-any.whl",
        url: "https://x.example/simple/f/a.whl",
        digest: { algorithm: "sha256", value: digest },
        size: 3,
        isYanked: true,
      },
    ]);
    expect(() => parseIndexPage("[]", "https://x.example/", "application/json")).toThrow(/no list of files/);
  });

  it("in HTML has the links of anchors, with entities and a base", () => {
    const text = `<base href="https://files.example/p/"><A class=x HREF='a%2B1-1-py3-none-any.whl?x=1&amp;y=2#sha256=${digest}'>text</A><a href="b.whl" data-yanked>b</a><a>c</a>`;
    expect(parseIndexPage(text, "https://x.example/simple/a/", "text/html; charset=utf-8")).toEqual([
      {
        name: "a+1-1-py3-none-any.whl",
        url: "https://files.example/p/a%2B1-1-py3-none-any.whl?x=1&y=2",
        digest: { algorithm: "sha256", value: digest },
        size: undefined,
        isYanked: false,
      },
      { name: "b.whl", url: "https://files.example/p/b.whl", digest: undefined, size: undefined, isYanked: true },
    ]);
  });
});
