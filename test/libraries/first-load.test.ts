/** Files that are no library, or a library that ends its process: they never end the user's. */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const model = `${sharedData}tinyllm/tinyllm.gguf`;

/** The folder of llama.cpp's libraries in node-llama-cpp; undefined if that is not installed. */
function installedFolder(): string | undefined {
  try {
    const package_ = `@node-llama-cpp/${process.platform}-${process.arch}`;
    return join(dirname(createRequire(import.meta.url).resolve(package_)), "..", "bins", `${process.platform}-${process.arch}`);
  } catch {
    return undefined;
  }
}

/** The bytes with one name in place of another of the same length. */
function renamed(bytes: Buffer, from: string, to: string): Buffer {
  return Buffer.from(bytes.toString("latin1").replaceAll(from, to), "latin1");
}

const installed = installedFolder();
const [skip, title] = needsData("the first load of a library");

describe.skipIf(skip || installed === undefined || process.platform !== "linux")(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-first-load-"));
  const source = installed ?? "";
  const llama = readdirSync(source).find((name) => /^libllama\.(?:v[\d.]+\.)?so$/.test(name)) ?? "";
  const path = (name: string): string => join(folder, name, llama);
  const environment = process.env["INFERYARD_HOME"];

  /** A folder with the libraries of the package. */
  const copyLibraries = (name: string): void => {
    mkdirSync(join(folder, name));
    for (const file of readdirSync(source).filter((each) => each.endsWith(".so")))
      copyFileSync(join(source, file), join(folder, name, file));
  };

  const write = (name: string, bytes: Uint8Array | string): void => {
    mkdirSync(join(folder, name));
    writeFileSync(path(name), bytes);
  };

  beforeAll(() => {
    process.env["INFERYARD_HOME"] = join(folder, "home"); // nothing is remembered
    const bytes = readFileSync(join(source, llama));
    const foreign = Buffer.from(bytes);
    foreign.writeUInt16LE(process.arch === "x64" ? 183 : 62, 18); // e_machine
    write("cut", bytes.subarray(0, 2 ** 20));
    write("foreign", foreign);
    write("text", "#!/bin/sh\n");
    write("empty", "");
    write("sparse", bytes);
    truncateSync(path("sparse"), 2 ** 40);
    mkdirSync(path("folder"), { recursive: true });
    for (const name of ["pipe", "device", "terminal", "loop", "gone"]) mkdirSync(join(folder, name));
    execFileSync("mkfifo", [path("pipe")]);
    symlinkSync("/dev/zero", path("device"));
    symlinkSync("/dev/tty", path("terminal"));
    symlinkSync(path("loop"), path("loop"));
    symlinkSync(path("none"), path("gone"));
    // By another name, since the loader takes a library of the same name that is already in this process.
    write("mixed", renamed(bytes, "libggml-base.so", "libggml-mine.so"));
    for (const name of readdirSync(source).filter((each) => /^libggml\.[\w.]*so$/.test(each)))
      copyFileSync(join(source, name), join(folder, "mixed", name));
    const base = readFileSync(join(source, "libggml-base.so"));
    base.writeUInt16LE(process.arch === "x64" ? 183 : 62, 18);
    writeFileSync(join(folder, "mixed", "libggml-mine.so"), base);
  });
  afterAll(() => {
    if (environment === undefined) delete process.env["INFERYARD_HOME"];
    else process.env["INFERYARD_HOME"] = environment;
    rmSync(folder, { recursive: true });
  });

  /** The reason for which the library is refused by a runtime that would load it into this process; undefined if a model runs on it. */
  async function refusalOf(name: string): Promise<string | undefined> {
    const runtime = await createRuntime({ library: path(name), host: "inline", threads: 1 });
    try {
      await runtime.generate("Once", { model, target: "library:cpu", maxNewTokens: 1 });
      return undefined;
    } catch (error) {
      return String(error);
    } finally {
      await runtime.dispose();
    }
  }

  it.each([
    ["cut", /is not a whole ELF file/],
    ["foreign", /is for (?:arm64|x86-64), and this program runs on/],
    ["mixed", /it needs libggml-mine\.so, and \S+libggml-mine\.so is for (?:arm64|x86-64)/],
    ["text", /it is a text/],
    ["empty", /it is empty/],
    ["sparse", /has 1099511627776 bytes, and a library may have/],
    ["folder", /is a folder/],
    ["pipe", /no regular file/],
    ["device", /no regular file/],
    ["terminal", /cannot be read|no regular file/],
    ["loop", /cannot be read/],
    ["gone", /there is no such file/],
  ])("refuses a file that cannot be loaded: %s", async (name, reason) => expect(await refusalOf(name)).toMatch(reason));

  it("refuses a library beside it that ends the process, and says so, and loads it again once that is whole", async () => {
    copyLibraries("sound");
    const beside = readdirSync(join(folder, "sound")).find((name) => name.startsWith("libggml-cpu")) ?? "";
    const file = join(folder, "sound", beside);
    const bytes = readFileSync(file);
    // The loader maps pages behind the end of the file, and reads them: SIGBUS.
    writeFileSync(file, bytes.subarray(0, 8192));
    const refusal = await refusalOf("sound");
    expect(refusal).toMatch(new RegExp(`${beside} cannot be loaded: in a child process, it ended the process by SIG`));
    writeFileSync(file, bytes);
    expect(await refusalOf("sound")).toBeUndefined();
  });
});
