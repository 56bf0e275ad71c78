import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { digest, good, ownLibrary, verifiedAt as now } from "../../test/fixtures/good-receipt.ts";
import { outputDigest } from "./create-receipt.ts";
import { getComputePath } from "./kernel-class.ts";
import { toSha256 } from "../storage/sha256.ts";
import type { Receipt } from "./receipt.ts";
import { verifyReceipt } from "./verify-receipt.ts";

const reasons = async (receipt: unknown): Promise<string[]> =>
  (await verifyReceipt(receipt, { now })).refusals.map(({ code, reason }) => `${code}: ${reason}`);

const test = (index: number, changed: Partial<Receipt["tests"][number]>): Receipt => ({
  ...good,
  tests: good.tests.map((each, at) => (at === index ? { ...each, ...changed } : each)),
});
const ownDecision = (changed: Partial<Receipt["decision"]>): Receipt => ({
  ...ownLibrary,
  decision: { ...ownLibrary.decision, ...changed },
});
const { constraints, candidates, selected } = ownLibrary.decision;
const others = ownLibrary.library.files?.slice(0, 2);

describe("a receipt that contradicts itself is refused:", () => {
  it("not those of real runs", async () => {
    expect(await reasons(good)).toEqual([]);
    expect(await reasons(ownLibrary)).toEqual([]);
  });

  it.each<readonly [string, Receipt, string]>([
    ["a test was removed", { ...good, tests: good.tests.slice(0, 4) }, 'lacks the test "another prompt gives other logits"'],
    ["a test was added", { ...good, tests: [...good.tests, good.tests[4]!] }, "has other tests"],
    ["tests changed places", { ...good, tests: good.tests.toReversed() }, "has other tests"],
    ["positions are not those of its tokens", test(0, { detail: "5 positions" }), 'tokens make "6 positions"'],
    ["tokens of a test are not its own", test(1, { detail: "4 tokens" }), 'tokens make "3 tokens"'],
    ["a cosine that fails passed", test(2, { detail: "cosine 0.99800000, same token" }), "no detail of such a test"],
    ["a cosine is none", test(3, { detail: "fine" }), "no detail of such a test"],
    ["no difference passed", test(4, { detail: "largest difference 0.00" }), "no detail of such a test"],
    [
      "tokens are not those that were compared",
      { ...good, output: { ...good.output, tokens: [4, 5, 7], sha256: outputDigest([1, 2, 3], [4, 5, 7]) } },
      "the run that gave the same tokens says",
    ],
    ["a text was read, and none written", { ...good, output: { ...good.output, text: null } }, "its output has none"],
    [
      "the prompt has other tokens",
      { ...good, figures: { ...good.figures, promptTokens: 2, prefillTokensPerSecond: 20 / 6 } },
      "it claims 2 tokens of the prompt, and its input has 3",
    ],
    [
      "the model is another than that of the decision",
      { ...good, decision: { ...good.decision, model: { ...good.decision.model, digest: `sha256:${digest("b")}` } } },
      "which none of its files has",
    ],
    [
      "weights exceed the files",
      { ...good, model: { ...good.model, weightTypes: [{ type: "Q4_K", bytes: 6e9 }] } },
      "its files 5000000000",
    ],
    [
      "a token needs more than all weights",
      { ...good, model: { ...good.model, weightTypes: [{ type: "Q4_K", bytes: 4e9 }] } },
      "and all weights have 4000000000",
    ],
    [
      "the most frequent type is not the first",
      { ...good, model: { ...good.model, weightTypes: good.model.weightTypes.toReversed() } },
      "not in the order of their bytes",
    ],
    [
      "fewer calls than the runs make",
      { ...ownLibrary, kernels: [{ id: "Llama_CPU", calls: 13 }], computePath: { ...ownLibrary.computePath, fastCalls: 13 } },
      "its kernels were called 13 times, and its runs call the model 14 times",
    ],
    [
      "more calls than the runs have tokens",
      { ...ownLibrary, kernels: [{ id: "Llama_CPU", calls: 31 }], computePath: { ...ownLibrary.computePath, fastCalls: 31 } },
      "was called 31 times, and its runs have 30 tokens",
    ],
    [
      "another kernel than llama.cpp",
      { ...ownLibrary, kernels: [{ id: "Q4_K_Wasm", calls: 14 }] },
      "whose kernel is Llama_CPU, and lists Q4_K_Wasm",
    ],
    ["llama.cpp on our engine", { ...good, kernels: [...good.kernels, { id: "Llama_CPU", calls: 1 }] }, "which is llama.cpp"],
    [
      "a kernel for weights that the model lacks",
      { ...good, kernels: [...good.kernels, { id: "I2S_QK256_Wasm", calls: 1 }] },
      "for weights in I2_S, and its model has Q4_K, F32",
    ],
    [
      "more runs than are made",
      { ...good, determinism: { ...good.determinism, runs: [...good.determinism.runs, good.determinism.runs[0]!] } },
      "it has 3 runs, and every receipt has 2",
    ],
    ["a quota above the cores", { ...good, machine: { ...good.machine, quota: 9 } }, "and a quota of 9"],
    [
      "the memory of another process",
      { ...ownLibrary, figures: good.figures },
      'in the host "process", and its memory is that of the process',
    ],
    [
      "the engine of another version",
      { ...good, inferyardVersion: "0.2.0" },
      "ran on the engine of Inferyard 0.2.0, and names inferyard 0.1.0",
    ],
    [
      "a target that its decision lacks",
      ownDecision({ candidates: candidates.slice(0, 2) }),
      "which its decision did not consider",
    ],
    [
      "another candidate that was selected",
      ownDecision({ candidates: candidates.map((each) => ({ ...each, verdict: "selected" })) }),
      "of its candidates native:cpu was selected",
    ],
    [
      "a candidate that was passed over without a verdict",
      ownDecision({ candidates: [candidates[3]!, ...candidates.slice(0, 3)] }),
      'says "not-tried" of wasm:cpu',
    ],
    [
      "a target that was excluded",
      ownDecision({ constraints: { ...constraints, excluded: ["library"] } }),
      "library was excluded",
    ],
    [
      "a target that was not required",
      ownDecision({ constraints: { ...constraints, required: ["onnx"] } }),
      "and onnx was required",
    ],
    ["a target that is none", ownDecision({ constraints: { ...constraints, preferred: ["!"] } }), "a target that is none"],
    ["another device", ownDecision({ selected: { ...selected!, device: "cuda" } }), "selected library:cpu on cuda"],
    [
      "a load that took longer than its time",
      ownDecision({ candidates: candidates.map((each) => ({ ...each, milliseconds: 4000 })) }),
      "loading took 4000 ms, and it claims 2000 ms",
    ],
    ["a decision after the load", ownDecision({ at: "2026-11-26T07:00:09.000Z" }), "loading began at"],
    [
      "no files of a library of the user's own",
      { ...ownLibrary, library: { ...ownLibrary.library, path: undefined as never } },
      "does not name its file",
    ],
    [
      "other files than its decision",
      { ...ownLibrary, library: { ...ownLibrary.library, files: others! } },
      "names other files of the library",
    ],
    [
      "files that its version does not name",
      {
        ...ownLibrary,
        library: { ...ownLibrary.library, files: others! },
        decision: { ...ownLibrary.decision, selected: { ...selected!, library: { ...selected!.library, files: others! } } },
      },
      "the digest of its files begins with",
    ],
    [
      "another path than the evidence",
      { ...ownLibrary, library: { ...ownLibrary.library, path: "/other/libllama.v0.5.0.so" } },
      "no evidence that /other/libllama.v0.5.0.so",
    ],
    [
      "another digest than its files",
      { ...ownLibrary, library: { ...ownLibrary.library, sha256: digest("f") } },
      "and the first of the library's files",
    ],
  ])("%s", async (_what, receipt, reason) => {
    expect((await reasons(receipt)).filter((each) => each.startsWith("contradiction")).join("\n")).toContain(reason);
  });

  it("on llamacpp holds for a folder of the engine's files whose contents are those of the receipt alone", async () => {
    const [target, more] = ["llamacpp:cpu", "libggml-cuda.so"];
    const folder = mkdtempSync(join(tmpdir(), "inferyard-build-"));
    try {
      const sorted = ["libggml-base.so", "llama-addon.node"].map((name) => {
        writeFileSync(join(folder, name), name);
        return { name, sha256: toSha256(name) };
      });
      writeFileSync(join(folder, "build.json"), "{}");
      const library = { ...good.library, files: sorted };
      const built = {
        ...good,
        library,
        kernels: ownLibrary.kernels,
        computePath: getComputePath(target, ownLibrary.kernels),
        decision: {
          ...good.decision,
          candidates: good.decision.candidates.map((each) => ({ ...each, target })),
          selected: { ...good.decision.selected!, target, library },
        },
      };
      const verified = await verifyReceipt(built, { now, library: folder });
      expect([verified.refusals, verified.held]).toEqual([
        [],
        [`the 2 files of the engine in ${folder} have the digests of the receipt`],
      ]);
      expect((await verifyReceipt(built, { now })).unchecked.at(-1)).toContain(
        "names 2 files of the engine, and not where they are",
      );
      writeFileSync(join(folder, "libggml-base.so"), "patched");
      writeFileSync(join(folder, more), "");
      const given = join(folder, "libggml-base.so");
      const { refusals } = await verifyReceipt(built, { now, library: given });
      expect(refusals.map(({ code, reason }) => [code, reason.split(" ")[0]])).toEqual([
        ["library-digest", "libggml-base.so"],
        ["library-digest", given],
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("whatever field changes that another tells", async () => {
    const free: string[] = [];
    for (const path of pathsOf(ownLibrary)) {
      const copy = JSON.parse(JSON.stringify(ownLibrary)) as Receipt;
      change(copy, path);
      if ((await verifyReceipt(copy, { now })).accepted) free.push(path.join("."));
    }
    expect(free).toEqual(independentFields);
  });
});

/** Fields that no other field of a receipt determines. A change is detected only by a signature, or by comparison with the model's files. */
const independentFields: readonly string[] = [
  "id",
  "inferyardVersion",
  "machine.processor",
  "machine.cores",
  "machine.memoryBytes",
  "machine.platform",
  "machine.architecture",
  "machine.node",
  "machine.bandwidth.memory",
  "machine.bandwidth.cache",
  "model.reference",
  "model.name",
  "model.files.0.name",
  "model.files.0.bytes",
  "model.weightTypes.0.type",
  "model.weightTypes.0.bytes",
  "model.weightTypes.1.bytes",
  "model.weightBytesPerToken",
  "decision.id",
  "decision.model.reference",
  "decision.model.variant",
  "decision.constraints.preferred.0",
  "decision.constraints.excluded.0",
  "decision.candidates.0.target",
  "decision.candidates.0.reason",
  "decision.candidates.1.target",
  "decision.candidates.1.reason",
  "decision.candidates.2.reason",
  "decision.candidates.2.milliseconds",
  "decision.candidates.3.target",
  "decision.candidates.3.reason",
  "decision.selected.evidence.0",
  "decision.selected.evidence.1",
  "tests.4.detail",
  "figures.loadMs",
  "figures.timeToFirstTokenMs",
  "figures.totalMs",
  "figures.peakMemory.bytes",
  "input.prompt",
  "output.text",
];

function pathsOf(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [[...path]];
  return Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...path, name]));
}

/** Changes a value slightly, without changing its format. */
function change(root: object, path: readonly string[]): void {
  let parent = root as Record<string, unknown>;
  for (const step of path.slice(0, -1)) parent = parent[step] as Record<string, unknown>;
  const name = path.at(-1)!;
  const before = parent[name];
  if (typeof before === "number") parent[name] = before + 1;
  else if (typeof before === "boolean") parent[name] = !before;
  else if (typeof before === "string")
    parent[name] = before.replace(/[0-9a-z](?=[^0-9a-z]*$)/i, (last) => (last === "1" ? "2" : "1"));
}
