import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bytes,
  compile,
  dll,
  machoLibrary,
  mutate,
  needsFiles,
  needsPrograms,
  packaged,
  universalLibrary,
} from "../../../test/libraries/fixtures/native-libraries.ts";
import { InferyardError } from "../../contract/errors.ts";
import { type BinaryFile, readBinary } from "./index.ts";

let directory = "";
beforeAll(() => void (directory = mkdtempSync(join(tmpdir(), "inferyard-binaries-"))));
afterAll(() => rmSync(directory, { recursive: true }));

async function readBytes(content: Uint8Array | string, architecture?: string): Promise<BinaryFile> {
  const path = join(directory, "bytes");
  writeFileSync(path, content);
  return await readBinary(path, { displayName: "libx.so", ...(architecture === undefined ? {} : { architecture }) });
}

const exportsOf = ({ symbols }: BinaryFile): string[] => symbols.filter(({ isExported }) => isExported).map(({ name }) => name);
const importsOf = ({ symbols }: BinaryFile): string[] => symbols.filter(({ isImported }) => isImported).map(({ name }) => name);

describe("files that are no whole library", () => {
  it.each([
    ["a text", "GROUP ( /lib/libc.so.6 )\n", /^libx\.so is not a native library: it is a text$/],
    ["nothing", "", /^libx\.so is not a native library: it is empty$/],
    ["other bytes", Buffer.from([0, 1, 2, 3, 4]), /is not a native library: it begins with the bytes 00010203$/],
    ["a class file of Java", Buffer.from("cafebabe0000003400", "hex"), /is not a native library/],
    ["a thin archive", "!<thin>\n", /thin archive/],
    [
      "an ELF header alone",
      bytes(16, true, [[0, "\u007FELF\u0002\u0001"]]),
      /is not a whole ELF file: the ELF header would be 64 bytes at 0, and there are 16/,
    ],
    ["an ELF file of no class", bytes(64, true, [[0, "\u007FELF\u0007\u0001"]]), /its class is 7/],
    ["an MS-DOS program", bytes(64, true, [[0, "MZ"]]), /is not a whole PE file/],
    ["an archive without objects", "!<arch>\n", /none of its 0 members/],
    ["an archive that is cut off", `!<arch>\n${"a.o/".padEnd(48)}${"99".padEnd(10)}\`\n`, /a member would be 99 bytes/],
  ])("%s", async (_name, content, message) => {
    const error = await readBytes(content).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InferyardError);
    expect(error).toMatchObject({ code: "INPUT_INVALID", message: expect.stringMatching(message) as string });
  });

  it("a missing file and a folder", async () => {
    await expect(readBinary(join(directory, "none"), { displayName: "./none" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: "there is no file ./none",
    });
    await expect(readBinary(directory)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

describe("formats of other systems", () => {
  it("Mach-O: name, libraries, rpath, UUID, and symbols without their underscore", async () => {
    const binary = await readBytes(machoLibrary(0x0100000c));
    expect(binary).toMatchObject({
      format: "mach-o",
      kind: "shared object",
      architecture: "arm64",
      bits: 64,
      name: "@rpath/libx.dyl",
      needed: ["/usr/lib/libSystem.B.d"],
      rpath: ["@loader_path"],
      buildId: "4142434445464748494a4b4c4d4e4f50",
    });
    expect(exportsOf(binary)).toEqual(["answer"]);
    expect(binary.symbols.find(({ isImported }) => isImported)).toMatchObject({
      name: "malloc",
      library: "/usr/lib/libSystem.B.d",
    });
  });

  it("universal Mach-O: the architecture that is asked for", async () => {
    const binary = await readBytes(universalLibrary(), "arm64");
    expect(binary).toMatchObject({ architecture: "arm64", bytes: 1536 });
    expect(binary.slices.map(({ architecture, offset }) => [architecture, offset])).toEqual([
      ["x86-64", 512],
      ["arm64", 1024],
    ]);
    expect((await readBytes(universalLibrary(), "ppc")).architecture).toBe("x86-64");
  });

  it("PE: name, libraries, exports and imports", async () => {
    const binary = await readBytes(dll());
    expect(binary).toMatchObject({
      format: "pe",
      kind: "shared object",
      architecture: "x86-64",
      name: "own.dll",
      needed: ["needed.dll"],
    });
    expect(binary.symbols).toMatchObject([
      { name: "answer", type: "function", isExported: true },
      { name: "malloc", isImported: true, library: "needed.dll" },
    ]);
  });

  it("ELF of 32 bits, big-endian", async () => {
    const header: Parameters<typeof bytes>[2] = [
      [0, "\u007FELF\u0001\u0002\u0001"],
      [16, 2, 3],
      [18, 2, 20],
      [40, 2, 52],
    ];
    expect(await readBytes(bytes(52, false, header))).toMatchObject({
      architecture: "ppc",
      bits: 32,
      byteOrder: "big",
      symbols: [],
    });
  });
});

const [skipGcc, gccName] = needsPrograms("what gcc builds", "gcc", "ar");

describe.skipIf(skipGcc)(gccName, () => {
  const source = `
    extern void *malloc(unsigned long);
    extern int needed_function(void);
    __attribute__((visibility("hidden"))) int hidden(void) { return 1; }
    __attribute__((weak)) int weak_function(void) { return 2; }
    int counter;
    __thread int of_thread;
    int exported(void) { return hidden() + needed_function() + (malloc(1) != 0); }`;

  it.each(["gnu", "sysv", "both"])("symbols with and without section headers, hash style %s", async (style) => {
    const path = compile(
      directory,
      `lib${style}.so`,
      source,
      "-shared",
      "-fPIC",
      `-Wl,--hash-style=${style}`,
      "-Wl,-soname,libx.so.1",
    );
    const binary = await readBinary(path);
    expect(binary).toMatchObject({ kind: "shared object", name: "libx.so.1", needed: ["libc.so.6"], libc: "glibc" });
    expect(exportsOf(binary).sort()).toEqual(["counter", "exported", "of_thread", "weak_function"]);
    expect(importsOf(binary)).toEqual(expect.arrayContaining(["needed_function", "malloc"]));
    expect(binary.symbols).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: "weak_function", binding: "weak", type: "function" }),
        expect.objectContaining({ name: "counter", type: "object" }),
        expect.objectContaining({ name: "of_thread", type: "tls" }),
        expect.objectContaining({ name: "malloc", library: "libc.so.6", isDefaultVersion: false }),
      ]),
    );
    const { sections, ...stripped } = await readBytes(withoutSections(path));
    const { sections: _sections, ...whole } = binary;
    expect(sections).toEqual([]);
    expect(stripped).toEqual(whole);
  });

  it("imports of a library that exports nothing, without section headers", async () => {
    const flags = ["-shared", "-fPIC", "-nostdlib", "-fvisibility=hidden", "-Wl,--hash-style=gnu"];
    const path = compile(
      directory,
      "libimports.so",
      "extern int f(void); __attribute__((constructor)) static void c(void) { f(); }",
      ...flags,
    );
    expect(importsOf(await readBytes(withoutSections(path)))).toEqual(["f"]);
  });

  it("versions that a library defines, the default one marked", async () => {
    const map = join(directory, "versions.map");
    writeFileSync(map, "V_1.0 { global: f; local: *; };\nV_2.0 { global: g; } V_1.0;\n");
    const path = compile(
      directory,
      "libversions.so",
      "int f(void) { return 1; } int g(void) { return 2; }",
      "-shared",
      "-fPIC",
      `-Wl,--version-script=${map}`,
    );
    const binary = await readBinary(path);
    expect(binary.definedVersions).toEqual(["V_1.0", "V_2.0"]);
    expect(binary.symbols).toContainEqual(expect.objectContaining({ name: "g", version: "V_2.0", isDefaultVersion: true }));
  });

  it("an executable, an object, and an archive whose members use one another", async () => {
    const program = await readBinary(compile(directory, "program", "int main(void) { return 0; }"));
    expect(program.kind).toBe("executable");
    expect(program.interpreter).toMatch(/ld-linux/);
    const { path: archive, first } = archiveOfTwo();
    expect(await readBinary(first)).toMatchObject({ kind: "object", format: "elf" });
    const binary = await readBinary(archive);
    expect(binary).toMatchObject({ kind: "archive", format: "archive", members: { objects: 2, others: 0 } });
    expect(exportsOf(binary).sort()).toEqual(["first", "second"]);
    expect(importsOf(binary)).toEqual(["outside"]);
  });

  it("an archive with names in the form of BSD", async () => {
    const object = readFileSync(compile(directory, "bsd.o", "int in_bsd(void) { return 1; }", "-c"));
    const name = "a long name.o\0\0\0";
    const header = `${`#1/${name.length}`.padEnd(48)}${String(object.length + name.length).padEnd(10)}\`\n`;
    expect(exportsOf(await readBytes(Buffer.concat([Buffer.from(`!<arch>\n${header}${name}`), object])))).toEqual(["in_bsd"]);
  });

  it("musl, by the name of its library", async () => {
    const libc = compile(
      directory,
      "libc.musl-x86_64.so.1",
      "int outside(void) { return 0; }",
      "-shared",
      "-fPIC",
      "-nostdlib",
      "-Wl,-soname,libc.musl-x86_64.so.1",
    );
    const path = compile(
      directory,
      "libmusl.so",
      "int outside(void); int f(void) { return outside(); }",
      "-shared",
      "-fPIC",
      "-nostdlib",
      libc,
    );
    expect((await readBinary(path)).libc).toBe("musl");
  });

  it("mutated libraries end in an answer or a typed error", async () => {
    const originals = [
      readFileSync(compile(directory, "original.so", source, "-shared", "-fPIC")),
      machoLibrary(0x01000007),
      universalLibrary(),
      dll(),
      readFileSync(archiveOfTwo().path),
    ];
    const refused = new Set<string>();
    for (let seed = 0; seed < 300; seed += 1) {
      const error = await readBytes(mutate(originals[seed % originals.length]!, seed)).catch((thrown: unknown) => thrown);
      if (error instanceof Error) refused.add(error instanceof InferyardError ? error.code : String(error.stack));
    }
    expect([...refused].filter((code) => !["INPUT_INVALID", "LIMIT_EXCEEDED"].includes(code))).toEqual([]);
    expect(refused.has("INPUT_INVALID")).toBe(true);
  });
});

/** An archive whose members use one another, and the first of them. */
function archiveOfTwo(): { readonly path: string; readonly first: string } {
  const first = compile(directory, "first.o", "int second(void); int first(void) { return second(); }", "-c");
  const second = compile(
    directory,
    "a_member_with_a_long_name.o",
    "int outside(void); int second(void) { return outside(); }",
    "-c",
  );
  const path = join(directory, "libx.a");
  execFileSync("ar", ["rcs", path, first, second]);
  return { path, first };
}

/** The file with its section headers struck from the header, as some strippers leave it. */
function withoutSections(path: string): Buffer {
  const content = readFileSync(path);
  content.writeBigUInt64LE(0n, 40);
  content.fill(0, 60, 64);
  return content;
}

const { onnxRuntimeArm64, onnxRuntimeMac, onnxRuntimeWindows } = packaged;
const [skip, name] = needsFiles("released libraries of other systems", onnxRuntimeArm64, onnxRuntimeMac, onnxRuntimeWindows);

describe.skipIf(skip)(name, () => {
  it.each([
    [onnxRuntimeArm64, { format: "elf", architecture: "arm64", bits: 64, libc: "glibc" }],
    [onnxRuntimeMac, { format: "mach-o", architecture: "arm64", bits: 64 }],
    [onnxRuntimeWindows, { format: "pe", architecture: "x86-64", bits: 64, name: "onnxruntime.dll" }],
  ])("%s", async (path, facts) => {
    const binary = await readBinary(path);
    expect(binary).toMatchObject(facts);
    expect(exportsOf(binary).length).toBeGreaterThan(2);
  });
});
