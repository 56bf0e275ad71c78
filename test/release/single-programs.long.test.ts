/** Single programs as `npm run dist` builds them: `inferyard` for linux x64 is run, and on request in a Debian root without Node.js; the others are checked as files. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ProgramBundle, bundleAssets } from "../../scripts/release/assets.ts";
import { buildProgram } from "../../scripts/release/build-program.ts";
import { makeDebianRoot } from "../../scripts/release/debian-root.ts";
import { checkSignature } from "../../scripts/release/sign-mach-o.ts";
import { targets } from "../../scripts/release/targets.ts";
import { readBinary } from "../../src/libraries/binaries/index.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { onRequest, runsAll } from "../fixtures/slow.ts";
import { BareRoot, canChangeRoot, copyLibraries } from "./fixtures/bare-root.ts";

const canBuild = process.platform === "linux" && process.arch === "x64";
const out = mkdtempSync(join(tmpdir(), "inferyard-single-"));
const target = targets[0]!;
const gguf = join(sharedData, "tinyllm/tinyllm.gguf");
const [isMissing, namedModel] = needsData("runs a model in the host %s");
let bundle: ProgramBundle;

/** The text of the first result that `generate --json` printed. */
function generatedText(json: string): string | undefined {
  return (JSON.parse(json) as { results: { text: string }[] }).results[0]?.text;
}

beforeAll(async () => {
  if (canBuild) bundle = await bundleAssets(join(out, "bundle"));
});
const roots: BareRoot[] = [];
afterAll(() => {
  for (const root of roots) root.unmount();
  rmSync(out, { recursive: true, force: true });
});

describe.skipIf(!canBuild)("the single program for linux x64", () => {
  let program = "";
  let sizes = { size: 0, gzip: 0 };
  const run = (args: readonly string[], environment: Readonly<Record<string, string>> = {}): string =>
    execFileSync(program, args, {
      encoding: "utf8",
      env: { PATH: "/nowhere", HOME: out, INFERYARD_HOME: join(out, "data"), ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });

  beforeAll(async () => {
    const built = await buildProgram({ target, flavor: "inferyard", bundle, out });
    program = built.path;
    sizes = built;
  }, 300_000);

  it("is within its budgets", () => {
    expect(sizes.size).toBeLessThanOrEqual(target.budget!.inferyard.size * 1e6);
    expect(sizes.gzip).toBeLessThanOrEqual(target.budget!.inferyard.gzip * 1e6);
  });

  it("has the version and the built-in model of the package, and unpacks nothing", () => {
    const embedded = JSON.parse(run(["embed", "hello", "--json"])) as { embeddings: number[][] };
    const packaged = execFileSync(process.execPath, ["bin/inferyard.js", "embed", "hello", "--json"], { encoding: "utf8" });
    expect(embedded.embeddings).toEqual((JSON.parse(packaged) as { embeddings: number[][] }).embeddings);
  });

  it.skipIf(isMissing).each(["inline", "worker", "process"])(namedModel, (host) => {
    const flags = ["--model", gguf, "--max-new-tokens", "4", "--threads", "2", "--host", host, "--json"];
    expect(generatedText(run(["generate", "Once upon a time", ...flags]))).toBe(", there was a");
  });

  it.each(["jsonl", "parquet", "arrow"])("runs jobs with worker processes of its own, and writes %s", (format) => {
    const [rows, output] = [join(out, `${format}-rows.jsonl`), join(out, `results.${format}`)];
    writeFileSync(rows, Array.from({ length: 60 }, (_, row) => `{"id":${row},"input":"text ${row}"}\n`).join(""));
    const flags = ["--workers", "2", "--chunk-rows", "10", "--json"];
    const ran = JSON.parse(run(["jobs", "run", "embed", "--input", rows, "--output", output, ...flags])) as unknown;
    expect(ran).toMatchObject({ status: "done", chunks: 6, rows: 60, done: 60, failed: 0 });
    const start = { jsonl: '{"id":0,"result":[', parquet: "PAR1", arrow: "ARROW1" }[format]!;
    expect(readFileSync(output).toString("latin1", 0, start.length)).toBe(start);
  });

  /** What npm itself reads of this machine: .npmrc, proxies, certificates. */
  const registryAccess = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && /^(HOME|NODE_EXTRA_CA_CERTS|npm_config_.*|https?_proxy|no_proxy)$/i.test(name)
        ? [[name, value]]
        : [],
    ),
  );

  it("gains an engine without npm", () => {
    expect(run(["backends"])).toContain("inferyard backends install onnx");
    const installed = JSON.parse(run(["backends", "install", "koffi", "--json"], registryAccess)) as {
      package: string;
      path: string;
    };
    expect(installed).toMatchObject({ package: "koffi", path: join(out, "data", "engines", "koffi") });
    expect(run(["backends", "list", "--installed"])).toContain("koffi 3.3.4");
    expect(run(["backends"])).not.toContain("koffi, which calls libraries, is not installed");
    expect(run(["backends", "remove", "koffi"])).toContain("koffi 3.3.4 removed");
  });

  it.skipIf(!runsAll || isMissing)(
    onRequest("runs models on the engines that it installed", "it fetches 200 MB")[1],
    () => {
      for (const engine of ["onnx", "llamacpp", "xla"]) run(["backends", "install", engine], registryAccess);
      const miniLm = join(sharedData, "all-MiniLM-L6-v2");
      const embed = (target: string): number[] =>
        (JSON.parse(run(["embed", "hello", "--model", miniLm, "--target", target, "--json"])) as { embeddings: number[][] })
          .embeddings[0]!;
      const [onnx, xla] = [embed("onnx:cpu"), embed("xla:cpu")];
      expect(Math.max(...onnx.map((value, index) => Math.abs(value - xla[index]!)))).toBeLessThan(1e-5);
      for (const target of ["llamacpp:cpu", "xla:cpu"]) {
        const flags = ["--model", gguf, "--max-new-tokens", "4", "--target", target, "--json"];
        expect(generatedText(run(["generate", "Once upon a time", ...flags]))).toBe(", there was a");
      }
    },
    600_000,
  );

  describe.skipIf(isMissing || !canChangeRoot).each([
    { where: "libraries of this machine", fill: copyLibraries, reason: undefined },
    { where: "packages of Debian", fill: (root: string) => makeDebianRoot(root), reason: "they are fetched" },
  ])("where there is nothing but the C and C++ libraries: $where", ({ where, fill, reason }) => {
    const [skip, name] = reason === undefined ? [false, ""] : onRequest("", reason);

    it.skipIf(skip)(`embeds, chats with a GGUF file, and serves it${name}`, async () => {
      const folder = join(out, where);
      fill(folder, program);
      const root = new BareRoot(folder, program);
      roots.push(root);
      root.addModel(gguf, "tinyllm.gguf");
      writeFileSync(join(folder, "models/chat_template.jinja"), "{% for message in messages %}{{ message.content }}{% endfor %}");
      expect((root.run("embed", "hello") as { embeddings: number[][] }).embeddings[0]).toHaveLength(256);
      const answer = { role: "assistant", content: ", there was a" };
      const flags = ["--max-new-tokens", "4"];
      expect(root.run("chat", "/models/tinyllm.gguf", "Once upon a time", ...flags)).toMatchObject({
        results: [{ message: answer }],
      });
      const code = await root.serve(["--model", "/models/tinyllm.gguf"], async (url) => {
        const messages = [{ role: "user", content: "Once upon a time" }];
        const response = await fetch(`${url}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ model: "/models/tinyllm.gguf", max_tokens: 4, messages }),
        });
        expect(await response.json()).toMatchObject({ choices: [{ message: answer }] });
        expect(await (await fetch(`${url}/metrics`)).text()).toContain(
          'inferyard_requests_total{route="post_v1_chat_completions"',
        );
      });
      expect(code).toBe(0);
    });
  });
});

const emulator = "qemu-aarch64-static";
const noEmulator =
  spawnSync(emulator, ["--version"]).status === 0 ? undefined : `${emulator} is not installed (apt-get install qemu-user-static)`;

describe.skipIf(!canBuild || noEmulator !== undefined || !runsAll)(
  noEmulator === undefined
    ? onRequest("the single program for linux arm64 under qemu", "it fetches 57 MB")[1]
    : `the single program for linux arm64 under qemu (skipped: ${noEmulator})`,
  () => {
    let run: (...args: string[]) => string = () => "";
    beforeAll(async () => {
      const { path } = await buildProgram({ target: targets[1]!, flavor: "inferyard", bundle, out });
      const root = join(out, "arm64");
      makeDebianRoot(root, ["libc6-arm64-cross", "libgcc-s1-arm64-cross", "libstdc++6-arm64-cross", "libatomic1-arm64-cross"]);
      run = (...args) =>
        execFileSync(emulator, ["-L", join(root, "usr/aarch64-linux-gnu"), path, ...args], {
          encoding: "utf8",
          env: { HOME: out, INFERYARD_HOME: join(out, "data-arm64"), PATH: process.env["PATH"] },
          stdio: ["ignore", "pipe", "pipe"],
        });
    }, 600_000);

    it("shows its help", () => {
      expect(run("--help")).toMatch(/^Usage: inferyard/);
    });

    it("embeds as the package does on x64", () => {
      const vector = (printed: string): number[] => (JSON.parse(printed) as { embeddings: number[][] }).embeddings[0]!;
      const here = vector(execFileSync(process.execPath, ["bin/inferyard.js", "embed", "hello", "--json"], { encoding: "utf8" }));
      const there = vector(run("embed", "hello", "--json"));
      expect(Math.max(...there.map((value, index) => Math.abs(value - here[index]!)))).toBeLessThan(1e-6);
    });

    it("passes its doctor", () => {
      expect(run("doctor")).toMatch(/native:cpu +PASS .*this is linux arm64/);
    }, 600_000);
  },
);

describe.skipIf(!canBuild || onRequest("")[0])(
  onRequest("the single programs for other machines", "55 MB are fetched for each")[1],
  () => {
    it.each(targets.slice(1))(
      "$name is a program for that machine",
      async (other) => {
        const { path, size } = await buildProgram({ target: other, flavor: "inferyard", bundle, out });
        expect(statSync(path).size).toBe(size);
        const { format, kind, architecture } = await readBinary(path, { symbols: false });
        expect({ format, kind, architecture }).toEqual({
          format: { linux: "elf", darwin: "mach-o", win32: "pe" }[other.platform],
          kind: "executable",
          architecture: other.architecture === "x64" ? "x86-64" : "arm64",
        });
        const problem = other.platform === "darwin" ? checkSignature(readFileSync(path)) : undefined;
        expect(problem).toBeUndefined();
        expect(readFileSync(path).includes("NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1")).toBe(true);
      },
      600_000,
    );
  },
);
